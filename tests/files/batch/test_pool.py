"""The processes of a batch end with it, however it ends; and what is sent to them, batch by batch."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Iterator
from multiprocessing import Pipe
from types import SimpleNamespace
from typing import Any

import pytest

from scrapy_simhash import Config
from scrapy_simhash.files.batch import Options, Run, WorkerDied
from scrapy_simhash.files.batch import pool as pool_module
from scrapy_simhash.files.batch.page import GivenSite, Page, PageReader, Read, Step
from scrapy_simhash.files.batch.pool import (
    BATCH_BYTES,
    BATCH_TASKS,
    BATCHES_AHEAD,
    Batch,
    ForgetNews,
    PageNews,
    Pool,
    ReadTask,
    SiteNews,
)
from scrapy_simhash.files.batch.readers import BYTES_AHEAD, PAGES_AHEAD, PooledReaders
from scrapy_simhash.files.records import Broken, Record
from tests.files.batch.pages import records_of


def test_no_process_is_left_when_nobody_reads_on() -> None:
    steps = Run(lambda: iter(records_of(300)), Options(processes=2)).steps()
    next(steps)
    assert len(multiprocessing.active_children()) == 1
    steps.close()
    assert multiprocessing.active_children() == []


@pytest.mark.slow("starts processes, as the test before it does")
def test_no_process_is_left_when_the_records_fail() -> None:
    def failing() -> Iterator[Record | Broken]:
        yield from records_of(100)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(Run(failing, Options(processes=2)).steps())
    assert multiprocessing.active_children() == []


@pytest.mark.skipif(sys.platform == "win32", reason="it has no SIGKILL")
def test_a_process_that_dies_ends_the_batch_with_an_error() -> None:
    steps = Run(lambda: iter(records_of(2_000)), Options(processes=2)).steps()
    next(steps)
    pid = multiprocessing.active_children()[0].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(WorkerDied, match=r"has ended \(exit status -9\).* use fewer processes"):
        list(steps)
    assert multiprocessing.active_children() == []


def test_a_pool_starts_when_the_first_page_is_read() -> None:
    steps = Run(lambda: iter([]), Options(processes=2)).steps()
    assert list(steps) == []


# --- What is sent to a process, by one that is played: it keeps its batches, and answers when it is told to.


class Played:
    """In the place of a process and what is noted of it."""

    def __init__(self, reader: PageReader) -> None:
        self.connection, self._theirs = Pipe()
        self.process = SimpleNamespace(join=lambda timeout: None, is_alive=lambda: False)
        self.tickets: list[list[int]] = [[]]
        self.has_started = False
        self.sites: set[str] = set()
        self.news: list[object] = []
        self._theirs.send_bytes(pickle.dumps([]))

    def batches(self) -> list[Batch]:
        """Return what came since this was asked."""
        found = []
        while self._theirs.poll():
            found.append(pickle.loads(self._theirs.recv_bytes()))
        return found

    def answer(self, batch: Batch) -> None:
        self._theirs.send_bytes(pickle.dumps([f"there: {task.page.url}" for task in batch.tasks]))


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    """A pool of this process and a played one."""
    monkeypatch.setattr(pool_module, "_Worker", Played)
    reader = PageReader(Config())
    pool = Pool(2, reader, lambda url: b"known of " + url.encode(), lambda task: f"here: {task.page.url}")  # type: ignore[arg-type, return-value]
    yield pool
    pool.close()


def played(pool: Pool) -> Played:
    (worker,) = pool._workers
    assert isinstance(worker, Played)
    return worker


def task(number: int, *, size: int = 1, host: str = "a.example", with_site: bool = False) -> ReadTask:
    return ReadTask(Page(f"https://{host}/{number}", "x" * size, False, None, None), with_site)


def submit(pool: Pool, count: int, **options: Any) -> list[int]:
    return [pool.submit(task(number, **options)) for number in range(count)]


def test_a_process_has_two_full_batches_and_this_one_does_what_nobody_has_begun(pool: Pool) -> None:
    tickets = submit(pool, 4 * BATCH_TASKS)
    first, second = played(pool).batches()
    assert [len(batch.tasks) for batch in (first, second)] == [BATCH_TASKS] * BATCHES_AHEAD
    ahead = BATCHES_AHEAD * BATCH_TASKS
    assert pool.result(tickets[ahead]) == f"here: https://a.example/{ahead}"
    # As many as a batch has, the oldest first, and no more.
    assert [pool.is_done(ticket) for ticket in tickets[ahead + 1 :]] == [True] * 15 + [False] * 16
    played(pool).answer(first)
    assert pool.result(tickets[0]) == "there: https://a.example/0"
    assert not pool.is_done(tickets[0]), "each answer is there once"
    (third,) = played(pool).batches()
    assert [page.url for page, *_ in third.tasks] == [f"https://a.example/{at}" for at in range(48, 64)]


def test_a_batch_of_large_pages_is_sent_before_it_is_full(pool: Pool) -> None:
    submit(pool, 3, size=BATCH_BYTES // 2)
    (batch,) = played(pool).batches()
    assert len(batch.tasks) == 2
    submit(pool, 1, size=BATCH_BYTES)
    # One that waits goes with the next.
    assert [len(batch.tasks) for batch in played(pool).batches()] == [2]


def test_a_process_is_told_of_a_site_once_and_of_what_it_learns_then(pool: Pool) -> None:
    submit(pool, BATCH_TASKS, with_site=True)
    (batch,) = played(pool).batches()
    assert batch.news == [SiteNews("a.example", b"known of https://a.example/0")]
    pool.learned("https://a.example/9", b"keys", b"sketch")
    pool.learned("https://unknown.example/", b"keys", b"sketch")
    submit(pool, BATCH_TASKS, with_site=True)
    (batch,) = played(pool).batches()
    assert batch.news == [PageNews("a.example", b"keys", b"sketch")]


@pytest.mark.parametrize(
    "change",
    [
        {"is_with_site": False},
        {"site": GivenSite(b"")},
        {"page": Page("https://a.example/", "text", True, None, None)},
    ],
    ids=["read without a site", "with what the site says", "plain text"],
)
def test_who_needs_no_site_is_told_of_none(pool: Pool, change: dict[str, Any]) -> None:
    for number in range(BATCH_TASKS):
        pool.submit(task(number, with_site=True)._replace(**change))
    (batch,) = played(pool).batches()
    assert batch.news == []


def test_a_process_forgets_the_sites_when_they_are_too_many(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "MOST_SITES", BATCH_TASKS)
    submit(pool, BATCH_TASKS, with_site=True)
    pool.learned("https://a.example/9", b"keys", b"sketch")
    submit(pool, BATCH_TASKS, with_site=True)
    first, second = played(pool).batches()
    assert first.news == [SiteNews("a.example", b"known of https://a.example/0")]
    assert second.news == [ForgetNews(), SiteNews("a.example", b"known of https://a.example/0")]


class Counting:
    """In the place of a pool: counts the tasks whose answers nobody has taken."""

    def __init__(self) -> None:
        self.open: set[int] = set()
        self.most = self._tickets = 0

    def submit(self, task: ReadTask) -> int:
        self._tickets += 1
        self.open.add(self._tickets)
        self.most = max(self.most, len(self.open))
        return self._tickets

    def is_done(self, ticket: int) -> bool:
        return False

    def result(self, ticket: int) -> Read:
        self.open.remove(ticket)
        return Read(None)


@pytest.mark.parametrize(("size", "most"), [(1, PAGES_AHEAD), (BYTES_AHEAD // 4, 4)])
@pytest.mark.parametrize("processes", [1, 3])
def test_pages_on_their_way_are_bounded_by_number_and_size(size: int, most: int, processes: int) -> None:
    counting: Any = Counting()
    pages = (Record(f"https://a.example/{number}", "x" * size, str(number)) for number in range(600))
    steps = [Step.of(page) for page in pages]
    landed = list(PooledReaders(counting, processes).read(iter(steps), None))
    assert landed == steps
    assert all(step.read == Read(None) for step in landed)
    assert counting.most == processes * most + 1
    assert not counting.open
