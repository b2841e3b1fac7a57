"""The processes of a batch end with it, however it ends; and how much is on its way to them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from scrapy_simhash import Config
from scrapy_simhash.files.batch import Options, Run, WorkerDied
from scrapy_simhash.files.batch.page import PageReader, Read, Step
from scrapy_simhash.files.batch.readers import CHUNK_BYTES, CHUNK_RECORDS, PooledReaders
from scrapy_simhash.files.records import Broken, Record
from scrapy_simhash.files.workers import AHEAD, Workers
from tests.cli.test_main import posix_only
from tests.files.batch.pages import records_of


def test_no_process_is_left_when_nobody_reads_on() -> None:
    steps = Run(lambda: iter(records_of(300)), Options(processes=2)).steps()
    next(steps)
    assert len(multiprocessing.active_children()) == 2
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


@posix_only
def test_a_process_that_dies_ends_the_batch_with_an_error() -> None:
    steps = Run(lambda: iter(records_of(2_000)), Options(processes=2)).steps()
    next(steps)
    pid = multiprocessing.active_children()[0].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(WorkerDied, match=r"has ended before its work was done.* use fewer processes"):
        list(steps)
    assert multiprocessing.active_children() == []


#: Says which processes it has started, and waits.
WAITING = """
import multiprocessing
from scrapy_simhash.files.batch import Options, Run
from scrapy_simhash.files.records import Record

if __name__ == "__main__":
    pages = (Record(f"https://a.example/{number}", "<p>The sea.", str(number)) for number in range(300))
    steps = Run(lambda: pages, Options(processes=2)).steps()
    next(steps)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    input()
"""


@posix_only
def test_no_process_outlives_one_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        workers = process.stdout.readline().split()
        assert len(workers) == 2
        process.kill()
        # They have its standard output, which ends with the last of them.
        assert process.stdout.read() == b""


def test_a_pool_starts_when_the_first_page_is_read() -> None:
    steps = Run(lambda: iter([]), Options(processes=2)).steps()
    assert list(steps) == []


class Counting:
    """In the place of a pool: has each answer at once, and counts the records that nobody has taken yet."""

    def __init__(self) -> None:
        self.open = self.most = 0

    def submit(self, function: Any, pages: list[Any], sites: Any) -> Future[list[Read]]:
        self.open += len(pages)
        self.most = max(self.most, self.open)
        future: Future[list[Read]] = Future()
        future.set_result([Read(None)] * len(pages))
        return future


@pytest.mark.parametrize(("size", "most"), [(1, CHUNK_RECORDS), (CHUNK_BYTES // 4, 4)])
@pytest.mark.parametrize("processes", [1, 3])
def test_pages_on_their_way_are_bounded_by_number_and_size(size: int, most: int, processes: int) -> None:
    counting: Any = Counting()
    steps = [Step(Record(f"https://a.example/{number}", "x" * size, str(number))) for number in range(600)]
    readers = PooledReaders(PageReader(Config()), Workers(counting, processes))
    landed = []
    for step in readers.read(iter(steps), None):
        landed.append(step)
        counting.open -= 1
    assert landed == steps
    assert all(step.read == Read(None) for step in landed)
    assert counting.most == (processes * AHEAD + 1) * most
    assert not counting.open
