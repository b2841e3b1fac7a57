"""Workers: processes that end when this process ends. Each has a separate queue, so that it can keep state."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import get_context, parent_process
from typing import Any

from scrapy_simhash.exceptions import SimhashError

#: Max pending tasks per worker, enough that no worker is idle while this process handles results.
AHEAD = 2


class WorkerDied(SimhashError, RuntimeError):
    """A worker process ended before it had returned its results."""


class Workers:
    """The processes that `workers` has started."""

    def __init__(self, pools: Sequence[ProcessPoolExecutor]) -> None:
        self._pools = pools

    def __len__(self) -> int:
        return len(self._pools)

    def submit(self, worker: int, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Call *function* in the process number *worker*, after its earlier tasks. Raises WorkerDied."""
        with _dying():
            return self._pools[worker].submit(function, *arguments)

    def in_order(self, items: Iterable[Any], function: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield the result of *function* for each of *items*, in order. Raises WorkerDied."""
        pending: deque[Future[Any]] = deque()
        for number, item in enumerate(items):
            pending.append(self.submit(number % len(self), function, item))
            if len(pending) > len(self) * AHEAD:
                yield result_of(pending.popleft())
        yield from map(result_of, pending)


def result_of(future: Future[Any]) -> Any:
    """Wait for a result. Raises WorkerDied."""
    with _dying():
        return future.result()


@contextmanager
def _dying() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool:
        raise WorkerDied(
            "a process that reads pages ended too early, possibly out of memory: use fewer processes"
        ) from None


@contextmanager
def workers(processes: int, begin: Callable[..., object] = int, *arguments: object) -> Iterator[Workers]:
    """Start processes without forking, on every platform. Each process first calls *begin* with *arguments*."""
    started = partial(_begin, begin, *arguments)
    pools = [ProcessPoolExecutor(1, get_context("spawn"), started) for _ in range(processes)]
    try:
        with _without_interrupts():
            for pool in pools:
                pool.submit(int)
        yield Workers(pools)
    finally:
        for pool in pools:
            # If a worker died, Python before 3.11.5 writes to a pipe that nothing reads, and does not end (gh-94777).
            broken: Any = pool
            if sys.version_info < (3, 11, 5) and broken._broken:
                broken._call_queue._reader.close()
            pool.shutdown(cancel_futures=True)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C while processes start, so that they ignore it from the beginning; only in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        with suppress(TypeError):  # for a handler that was not set by Python
            signal.signal(signal.SIGINT, handler)


def _begin(begin: Callable[..., object], *arguments: object) -> None:
    # Ctrl-C is handled by the process that started this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    begin(*arguments)


def _end_with_parent() -> None:
    """End this process when its parent process has ended."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
