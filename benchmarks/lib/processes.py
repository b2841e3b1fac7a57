"""Functions in processes of their own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def alone(function: Callable[..., _Result], *arguments: object) -> _Result:
    """Return what *function* returns in a new process: memory that was freed before would hide growth."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def spread(
    function: Callable[[_Task], _Result], tasks: Iterable[_Task], jobs: int, chunk: int = 16
) -> Iterator[_Result]:
    """Yield what *function* makes of each task, in any order, from *jobs* processes; with one job from this one.

    *chunk* tasks travel to a process at once; the default is for pages, some 50 kB each.
    """
    if jobs == 1:
        yield from map(function, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(function, tasks, chunk)
