"""The worker processes of a batch always end with it, and the work queued for them is bounded."""

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
from scrapy_simhash.files.batch.readers import BLOCK_BYTES, BLOCK_RECORDS, BLOCKS, ONLY, Readers
from scrapy_simhash.files.records import Record
from tests.cli.test_main import posix_only
from tests.files.batch.pages import records_of


def test_no_process_is_left_if_iteration_stops() -> None:
    steps = Run(lambda: iter(records_of(300)), Options(processes=2)).steps()
    next(steps)
    assert len(multiprocessing.active_children()) == 2
    steps.close()
    assert multiprocessing.active_children() == []


@posix_only
def test_a_process_that_dies_ends_the_batch_with_an_error() -> None:
    steps = Run(lambda: iter(records_of(2_000)), Options(processes=2)).steps()
    next(steps)
    pid = multiprocessing.active_children()[0].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(WorkerDied, match=r"ended too early.* use fewer processes"):
        list(steps)
    assert multiprocessing.active_children() == []


#: Prints the processes that it has started, and waits.
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
def test_no_worker_process_outlives_a_killed_parent() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        workers = process.stdout.readline().split()
        assert len(workers) == 2
        process.kill()
        # The worker processes share its standard output, which is closed when the last of them ends.
        assert process.stdout.read() == b""


class Counting:
    """Replaces the processes: returns each result at once, and records the worker of each page."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self.chunks: list[tuple[int, list[str]]] = []

    def __len__(self) -> int:
        return self._processes

    def submit(self, worker: int, function: Any, pages: list[Any], turn: Any) -> Future[list[Read]]:
        self.chunks.append((worker, [page.url for page, _ in pages]))
        future: Future[list[Read]] = Future()
        future.set_result([Read(None, canonical=page.url) for page, _ in pages])
        return future


@pytest.mark.parametrize("size", [1, 100_000])
@pytest.mark.parametrize("hosts", [1, 2, 50])
def test_each_host_is_read_by_one_process_and_pending_pages_are_bounded(size: int, hosts: int) -> None:
    counting: Any = Counting(3)
    given = 0

    def steps() -> Iterator[Step]:
        nonlocal given
        for number in range(3_000):
            given += 1
            yield Step(Record(f"https://{number * hosts // 3_000}.example/{number}", "x" * size, str(number)))

    taken = 0
    for step in Readers(PageReader(Config()), None, counting).read(steps(), ONLY):
        taken += 1
        assert given - taken <= BLOCKS * min(BLOCK_RECORDS, BLOCK_BYTES // size + 1)
        assert step.page is not None
        assert step.read == Read(None, canonical=step.page.url)
    assert taken == given == 3_000
    workers_of: dict[str, set[int]] = {}
    for worker, urls in counting.chunks:
        assert len(urls) <= BLOCK_RECORDS
        for url in urls:
            workers_of.setdefault(url.partition(".")[0], set()).add(worker)
    assert all(len(workers) == 1 for workers in workers_of.values())
    assert len(workers_of) == hosts
    # The first hosts are assigned to the processes in turn.
    assert len(set.union(*workers_of.values())) == min(hosts, 3)
