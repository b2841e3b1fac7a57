"""Runs a function beside the event loop, whichever loop Scrapy runs on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

__all__ = ["run_in_thread"]

P = ParamSpec("P")
T = TypeVar("T")

try:
    from scrapy.utils.asyncio import run_in_thread
except ImportError:  # Scrapy 2.13 and 2.14
    from twisted.internet.threads import deferToThread

    async def run_in_thread(func: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what *func* returns, called in a thread of the loop's own pool; raises what it raises."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # a reactor other than asyncio's: there, coroutines await Deferreds
            return await deferToThread(func, *args, **kwargs)
        return await asyncio.to_thread(func, *args, **kwargs)
