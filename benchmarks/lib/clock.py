"""The processor time of a call."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time_ns
from typing import TypeVar

_T = TypeVar("_T")


def timed(function: Callable[[], _T]) -> tuple[_T, int]:
    """Return the result of *function* and the nanoseconds of processor time it took."""
    start = process_time_ns()
    result = function()
    return result, process_time_ns() - start
