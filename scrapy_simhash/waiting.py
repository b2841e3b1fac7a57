"""Calls to stores, whose methods may return values or awaitables.

Code that calls a store is a coroutine. Asynchronous code awaits the coroutine; synchronous code runs it with
`run_sync`, and for a remote store with `run_in` in its own event loop.
"""

from __future__ import annotations

import signal
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Coroutine
from inspect import isawaitable
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
#: A value, or an awaitable that returns it.
MaybeAwaitable: TypeAlias = T | Awaitable[T]


async def maybe_await(answer: T | Awaitable[T]) -> T:
    """Return *answer*; if it is an awaitable, await it."""
    if isawaitable(answer):
        return await answer
    return answer


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that never waits, without an event loop.

    Raises TypeError if the coroutine has to wait.
    """
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise TypeError("a store whose methods return awaitables must have is_remote = True")


def run_in(loop: AbstractEventLoop, coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine, run in *loop*. Signals are handled afterwards.

    An exception in a signal handler could stop the loop between two steps of a task, which would then never end.
    Windows cannot delay signals.
    """
    if not hasattr(signal, "pthread_sigmask"):
        return loop.run_until_complete(coroutine)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        return loop.run_until_complete(coroutine)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
