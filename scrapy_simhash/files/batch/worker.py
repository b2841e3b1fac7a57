"""What another process does: it reads pages, and rules on copies, until nobody is left who asks.

It is told what its sites have learned so far, and learns along with the process that asks, some pages behind.
"""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeAlias

from scrapy_simhash.files.batch.page_reader import GivenSite, Page, PageReader, Read, Ruling
from scrapy_simhash.fingerprinter import KnownSite
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.scope import host_of
from scrapy_simhash.verdict import Verdict


class ReadTask(NamedTuple):
    """Read a page."""

    page: Page
    is_with_site: bool
    site: GivenSite | None = None
    """By what the site says of this very page, if that is known; else by what the worker knows of the site."""


class RuleTask(NamedTuple):
    """Rule on a page that repeats another one."""

    page: Page
    verdict: Verdict


Task: TypeAlias = "ReadTask | RuleTask"
Answer: TypeAlias = "Read | Ruling"


class SiteNews(NamedTuple):
    """What is known of a site by now."""

    host: str
    profile: bytes


class PageNews(NamedTuple):
    """A page that a site has learned from."""

    host: str
    keys: bytes
    sketch: bytes


class ForgetNews(NamedTuple):
    """There are too many sites: begin anew."""


News: TypeAlias = "SiteNews | PageNews | ForgetNews"


class Batch(NamedTuple):
    """What is sent to a worker at once. The answers come back in one message, in the order of the tasks."""

    news: list[News]
    tasks: list[Task]


def work(connection: Connection, reader: PageReader) -> None:
    """Answer one batch after another, until the other end is closed, as it also is when the other process dies."""
    # Ctrl-C is for the process that asks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox: SimpleQueue[bytes | None] = SimpleQueue()
    # So that nobody who sends has to wait until a page is read: he may be waiting to be read himself.
    Thread(target=_receive, args=(connection, inbox), daemon=True).start()
    sites: dict[str, SiteProfile] = {}

    def site_of(page: Page) -> SiteProfile:
        return sites[host_of(page.url)]

    # None yet: whoever asks knows now that somebody is here.
    answers: list[Answer] = []
    with suppress(OSError):  # nobody asks any more
        while True:
            connection.send_bytes(pickle.dumps(answers, pickle.HIGHEST_PROTOCOL))
            message = inbox.get()
            if message is None:
                return
            batch: Batch = pickle.loads(message)
            for news in batch.news:
                _learn(sites, news)
            answers = [answer(reader, task, site_of) for task in batch.tasks]


def _receive(connection: Connection, inbox: SimpleQueue[Any]) -> None:
    try:
        while True:
            inbox.put(connection.recv_bytes())
    except (EOFError, OSError):
        inbox.put(None)


def _learn(sites: dict[str, SiteProfile], news: News) -> None:
    if isinstance(news, SiteNews):
        sites[news.host] = SiteProfile.from_bytes(news.profile)
    elif isinstance(news, PageNews):
        sites[news.host].learn(news.keys, news.sketch)
    else:
        sites.clear()


def answer(reader: PageReader, task: Task, site_of: Callable[[Page], KnownSite | None]) -> Answer:
    """Do *task* by what *site_of* knows of a page's site."""
    if isinstance(task, RuleTask):
        return reader.rule_on(task.page, task.verdict)
    if not task.is_with_site or task.page.is_text:
        return reader.read(task.page, None)
    return reader.read(task.page, task.site or site_of(task.page))
