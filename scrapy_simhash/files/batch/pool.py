"""Pool: processes that read pages. Started anew, not forked: the same on every system.

    this process                         worker 1, worker 2, ...
    submit(task)  --> ticket    batches --->  read, read, rule, ...
    result(ticket) <-- answer   <--- answers

This process is one of them: where it would wait for an answer, it does the next task that no worker has. What is on
its way is bounded by whoever submits. A worker that dies ends the batch, with an error that says so. Workers are told
what their sites have learned so far, and learn along with this process, some pages behind.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeAlias, cast

from scrapy_simhash.exceptions import SimhashError
from scrapy_simhash.files.batch.page import GivenSite, Page, PageReader, Read, Ruling
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


#: Tasks that are sent at once, and bytes of pages after which a batch is sent before it has so many.
BATCH_TASKS = 16
BATCH_BYTES = 1 << 17
#: Batches that a worker has at a time: enough to be busy while this process reads a page. What it does not have yet
#: is read by newer knowledge of its site, and needs less often to be read again.
BATCHES_AHEAD = 2
#: Sites that a worker knows: at most 64 MiB.
MOST_SITES = 1_000
#: Seconds that a worker has to end after its last page.
PATIENCE = 10


class WorkerDied(SimhashError, RuntimeError):
    """A process that read pages has ended before its work was done."""


class _Worker:
    """One process, and what it was told."""

    def __init__(self, reader: PageReader) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self.connection: Connection = ours
        self.process = context.Process(target=work, args=(theirs, reader), daemon=True)
        with _without_interrupts():
            self.process.start()
        theirs.close()
        #: Tickets of the batches that it works on, the oldest first; its first answer only says that it has started.
        self.tickets: list[list[int]] = [[]]
        self.has_started = False
        self.sites: set[str] = set()
        self.news: list[News] = []

    def died(self) -> WorkerDied:
        """Return the error that says how it ended."""
        self.process.join(PATIENCE)
        return WorkerDied(
            f"a process that reads pages has ended (exit status {self.process.exitcode}), for lack of memory perhaps:"
            " use fewer processes"
        )


class Pool:
    """Some processes that answer tasks, this one among them. Close it at the end, whatever happens."""

    def __init__(
        self,
        processes: int,
        reader: PageReader,
        profile_of: Callable[[str], bytes],
        answer_here: Callable[[Task], Answer],
    ) -> None:
        """*profile_of* returns what is known of the site of a URL, as ``SiteProfile.to_bytes()`` does.

        *answer_here* does a task in this process.
        """
        self._profile_of = profile_of
        self._answer_here = answer_here
        self._answers: dict[int, Answer] = {}
        self._tickets = 0
        #: Tasks that nobody has begun, with their tickets; how many came since the workers were last looked after.
        self._tasks: deque[tuple[int, Task]] = deque()
        self._new_tasks = 0
        self._new_bytes = 0
        self._workers: list[_Worker] = []
        try:
            for _ in range(processes - 1):
                self._workers.append(_Worker(reader))
        except BaseException:
            self.close()
            raise

    def submit(self, task: Task) -> int:
        """Hand *task* over, and return the ticket by which the answer is got, each once."""
        ticket = self._tickets
        self._tickets += 1
        self._tasks.append((ticket, task))
        self._new_tasks += 1
        self._new_bytes += len(task.page.page)
        if self._new_tasks >= BATCH_TASKS or self._new_bytes >= BATCH_BYTES:
            self._receive(0)
            self._send()
        return ticket

    def is_done(self, ticket: int) -> bool:
        """Tell whether there is an answer already, without waiting for it."""
        return ticket in self._answers

    def result(self, ticket: int) -> Any:
        """Return the answer, as soon as it is there. Raises WorkerDied."""
        while ticket not in self._answers:
            self._receive(0)
            self._send()
            if ticket in self._answers:
                break
            if self._tasks:
                self._work()
            else:
                self._receive(None)
        return self._answers.pop(ticket)

    def learned(self, url: str, keys: bytes, sketch: bytes) -> None:
        """Tell the workers that know the site of *url* what it has learned from a page."""
        host = host_of(url)
        for worker in self._workers:
            if host in worker.sites:
                worker.news.append(PageNews(host, keys, sketch))

    def close(self) -> None:
        """End the processes, each after the page that it reads."""
        for worker in self._workers:
            worker.connection.close()
        for worker in self._workers:
            worker.process.join(PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()

    def _work(self) -> None:
        """Do some of what nobody has begun, less than a worker has at a time: to look after them is not free."""
        size = done = 0
        while self._tasks and done < BATCH_TASKS and size < BATCH_BYTES // 2:
            ticket, task = self._tasks.popleft()
            self._answers[ticket] = self._answer_here(task)
            size += len(task.page.page)
            done += 1

    def _send(self) -> None:
        """Send what nobody has begun to the workers that have little to do, those with the least first."""
        self._new_tasks = self._new_bytes = 0
        started = [worker for worker in self._workers if worker.has_started]
        while started and self._tasks:
            worker = min(started, key=lambda each: len(each.tickets))
            if len(worker.tickets) >= BATCHES_AHEAD:
                return
            self._send_batch(worker)

    def _send_batch(self, worker: _Worker) -> None:
        tickets: list[int] = []
        tasks: list[Task] = []
        size = 0
        while self._tasks and len(tasks) < BATCH_TASKS and size < BATCH_BYTES:
            ticket, task = self._tasks.popleft()
            tickets.append(ticket)
            tasks.append(task)
            size += len(task.page.page)
        if len(worker.sites) + len(tasks) > MOST_SITES:
            worker.sites.clear()
            worker.news = [ForgetNews()]
        for task in tasks:
            self._acquaint(worker, task)
        news, worker.news = worker.news, []
        message = pickle.dumps(Batch(news, tasks), pickle.HIGHEST_PROTOCOL)
        try:
            worker.connection.send_bytes(message)
        except OSError:
            raise worker.died() from None
        worker.tickets.append(tickets)

    def _acquaint(self, worker: _Worker, task: Task) -> None:
        """Let *worker* know the site of a page, if it does not."""
        if isinstance(task, RuleTask) or not task.is_with_site or task.page.is_text or task.site is not None:
            return
        host = host_of(task.page.url)
        if host not in worker.sites:
            worker.sites.add(host)
            worker.news.append(SiteNews(host, self._profile_of(task.page.url)))

    def _receive(self, timeout: float | None) -> None:
        """Take the answers that there are, or wait for some."""
        connections = {worker.connection: worker for worker in self._workers}
        for connection in wait(list(connections), timeout):
            worker = connections[cast(Connection, connection)]
            try:
                answers = pickle.loads(worker.connection.recv_bytes())
            except (EOFError, OSError):
                raise worker.died() from None
            worker.has_started = True
            self._answers.update(zip(worker.tickets.pop(0), answers, strict=True))


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let a process be started that ignores Ctrl-C from its first moment on; only the main thread can see to that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        with suppress(TypeError):  # a handler that Python did not set
            signal.signal(signal.SIGINT, handler)
