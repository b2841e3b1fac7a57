"""Measure processor time and memory, and call functions in separate processes."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import resource
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from time import process_time_ns
from typing import TypeVar

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
_STATM = Path("/proc/self/statm")


def timed(function: Callable[[], _Result]) -> tuple[_Result, int]:
    """Return the result of *function* and the nanoseconds of processor time it took."""
    start = process_time_ns()
    result = function()
    return result, process_time_ns() - start


def alone(function: Callable[..., _Result], *arguments: object) -> _Result:
    """Call *function* in a new process, because memory that this process has freed would hide growth."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def spread(
    function: Callable[[_Task], _Result], tasks: Iterable[_Task], jobs: int, chunk: int = 16
) -> Iterator[_Result]:
    """Yield the result of *function* for each task, in any order, from *jobs* processes (for 1, this one).

    *chunk* tasks are sent to a process at a time; the default is for pages of about 50 kB.
    """
    if jobs == 1:
        yield from map(function, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(function, tasks, chunk)


def resident_bytes() -> int:
    """Return the memory of this process now (Linux), or its peak so far (elsewhere)."""
    if _STATM.exists():
        return int(_STATM.read_text("ascii").split()[1]) * resource.getpagesize()
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def settled_bytes() -> int:
    """Release free memory to the system, and return the result of `resident_bytes`."""
    gc.collect()
    with suppress(AttributeError, OSError):  # glibc only
        ctypes.CDLL(None).malloc_trim(0)
    return resident_bytes()
