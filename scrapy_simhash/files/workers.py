"""Workers: processes that end with this one, and what they return, in the order in which it was asked for."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import get_context, parent_process
from typing import Any, TypeVar

from scrapy_simhash.exceptions import SimhashError

#: What is on its way for each worker: enough to be busy while this process looks at what has come.
AHEAD = 2

T = TypeVar("T")


class WorkerDied(SimhashError, RuntimeError):
    """A worker has ended before its work was done."""


class Workers:
    """Those that `workers` has started."""

    def __init__(self, pool: ProcessPoolExecutor, processes: int) -> None:
        self._pool = pool
        self._ahead = processes * AHEAD

    def in_order(self, items: Iterable[T], task: Callable[[T], tuple[Any, ...]]) -> Iterator[tuple[T, Any]]:
        """Yield *items*, each with what a worker returns for it: *task* makes a function and its arguments of one.

        Raises WorkerDied.
        """
        flights: deque[tuple[T, Future[Any]]] = deque()
        rest = iter(items)
        try:
            while True:
                for item in rest:
                    flights.append((item, self._pool.submit(*task(item))))
                    if len(flights) > self._ahead:
                        break
                if not flights:
                    return
                item, future = flights.popleft()
                yield item, future.result()
        except BrokenProcessPool:
            raise WorkerDied(
                "a process that reads pages has ended before its work was done, for lack of memory perhaps: use fewer"
                " processes"
            ) from None


@contextmanager
def workers(processes: int, begin: Callable[..., object] = int, *arguments: object) -> Iterator[Workers]:
    """Start so many processes, anew and not forked: the same on every system. Each calls *begin* with *arguments*."""
    pool = ProcessPoolExecutor(processes, get_context("spawn"), partial(_begin, begin, *arguments))
    try:
        with _without_interrupts():
            for _ in range(processes):
                pool.submit(int)
        yield Workers(pool, processes)
    finally:
        # If a worker died, Python before 3.11.5 writes to a pipe that nothing reads, and does not end (gh-94777).
        broken: Any = pool
        if sys.version_info < (3, 11, 5) and broken._broken:
            broken._call_queue._reader.close()
        pool.shutdown(cancel_futures=True)


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


def _begin(begin: Callable[..., object], *arguments: object) -> None:
    # Ctrl-C is for the process that asks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    begin(*arguments)


def _end_with_parent() -> None:
    """End when the process that asks has ended, however that was."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
