"""PageReader: what is done to one page of a batch, in this process or in another one."""

from __future__ import annotations

from typing import NamedTuple

from lxml import etree

from scrapy_simhash.action import Action
from scrapy_simhash.config import Config
from scrapy_simhash.files.records import Record
from scrapy_simhash.fingerprinter import KnownSite, PageFingerprinter, Reading
from scrapy_simhash.judge.hints import evidence, protections, read_canonical, read_hints
from scrapy_simhash.judge.policy import Case, Policy, RequestedAction
from scrapy_simhash.page.text import parse
from scrapy_simhash.verdict import Verdict

#: What is asked for a page that repeats another one. A record has no links that could be followed.
_DROP = RequestedAction(Action.DROP_ITEMS)


class Page(NamedTuple):
    """What is needed of a record to read it."""

    url: str
    page: str | bytes
    is_text: bool
    content_type: str | None
    content_language: str | None

    @classmethod
    def of(cls, record: Record) -> Page:
        """Return the page of *record*."""
        return cls(
            record.url, record.page, record.is_text, record.content_type, record.content_language or None
        )


class GivenSite(NamedTuple):
    """A `KnownSite` of which only the answer for one page is known; None if the site is not known."""

    answer: bytes | None

    @property
    def is_known(self) -> bool:
        """See `KnownSite`."""
        return self.answer is not None

    def flags(self, keys: bytes) -> bytes | None:
        """See `KnownSite`."""
        return self.answer or None


def answer_of(site: KnownSite, keys: bytes) -> bytes | None:
    """Return all that *site* says about the pieces *keys*: None if it is not known, else a flag for each, or empty.

    Pages are read alike by sites that answer alike.
    """
    return site.flags(keys) or b"" if site.is_known else None


class Read(NamedTuple):
    """A page that was read."""

    reading: Reading | None
    """None for a page that is too large, and for one with a fault."""
    answer: bytes | None = None
    """What the site said by which it was read; see `answer_of`."""
    canonical: str | None = None
    """The URL that it names as its own, if that was asked for."""
    fault: str = ""
    """Why it could not be read: a fault of ours, since bad markup is none."""


class Ruling(NamedTuple):
    """Whether a copy is kept all the same."""

    is_kept: bool
    exemption: str = ""
    """Why it was spared: a value of `Exemption`; empty if it was not."""
    fault: str = ""
    """What went wrong: the page is kept then, as in a crawl."""


class PageReader:
    """Reads pages, and rules on copies, by the settings of a batch. Can be pickled."""

    def __init__(self, config: Config, *, with_canonical: bool = False) -> None:
        """*with_canonical* is for those who ask which URL of a cluster is to be preferred."""
        self.config = config
        self._fingerprinter = PageFingerprinter(config)
        self._with_canonical = with_canonical
        self._policy = Policy(config)

    def read(self, page: Page, site: KnownSite | None) -> Read:
        """Return what is needed to compare *page*; never raises."""
        try:
            return self._read(page, site)
        except Exception as error:  # a page that cannot be read is kept, as in a crawl
            return Read(None, fault=_told(error))

    def _read(self, page: Page, site: KnownSite | None) -> Read:
        maxsize = self.config.maxsize
        if maxsize and len(page.page) > maxsize:
            return Read(None)
        if page.is_text:
            return Read(self._fingerprinter.read_text(_text(page.page)))
        root = parse(page.page, page.content_type)
        reading = self._fingerprinter.read(
            root, content_language=page.content_language, site=site, url=page.url
        )
        answer = None if site is None or not reading.pieces else answer_of(site, reading.pieces)
        canonical = read_canonical(root, page.url) if self._with_canonical else None
        return Read(reading, answer, canonical)

    def rule_on(self, page: Page, verdict: Verdict) -> Ruling:
        """Return what a crawl with ``SIMHASH_ACTION = "drop_items"`` does about *page*; never raises."""
        try:
            return self._rule_on(page, verdict)
        except Exception as error:
            return Ruling(True, fault=_told(error))

    def _rule_on(self, page: Page, verdict: Verdict) -> Ruling:
        original = verdict.duplicate_of or page.url
        if page.is_text:
            decision = self._policy.decide(Case(verdict, page.url, None, lambda wanted: (), _DROP))
        else:
            root: etree._Element = parse(page.page, page.content_type)
            hints = read_hints(root, page.url)
            found = evidence(hints, page.url, original, ())
            document = None if verdict.is_exact else lambda: self._fingerprinter.extract(root)
            decision = self._policy.decide(
                Case(
                    verdict,
                    page.url,
                    None,
                    lambda wanted: protections(root, page.url, original, hints, found, wanted, document),
                    _DROP,
                )
            )
        exemption = decision.exemption
        return Ruling(not decision.loses_items, "" if exemption is None else exemption.value)


def _text(page: str | bytes) -> str:
    return page if isinstance(page, str) else page.decode("utf-8", "replace")


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
