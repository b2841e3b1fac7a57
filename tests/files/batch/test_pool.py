"""The processes of a batch end with it, however it ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator

import pytest

from scrapy_simhash.files.batch import Options, Run, WorkerDied
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
