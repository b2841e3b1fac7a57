"""Waiting: a store answers at once or with an awaitable. Here is the one place that asks which of them it is.

What asks a store is a coroutine. Where it can be awaited it is; elsewhere `finished` runs it to its end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from inspect import isawaitable
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
#: What comes at once, or is to be awaited.
Answer: TypeAlias = T | Awaitable[T]


async def awaited(answer: T | Awaitable[T]) -> T:
    """Return an answer, which is waited for if it did not come at once."""
    if isawaitable(answer):
        return await answer
    return answer


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns that has nothing to wait for: no event loop is needed.

    Raises TypeError if it has to wait.
    """
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise TypeError("a store that does not answer at once must have is_remote = True")
