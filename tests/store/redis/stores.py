"""Stores for as long as a ``with`` block lasts, in tests that are coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from redis import Redis

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.store import Header
from scrapy_simhash.store.redis import RedisStore, Server
from tests.store.cases import SECOND_LOOK, header

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

HEADER = header(SECOND_LOOK)
#: Seconds after which what did not come back never will.
PATIENCE = 30


def waits(test: Callable[Arguments, Coroutine[Any, Any, None]]) -> Callable[Arguments, None]:
    """Let a coroutine be a test."""

    @wraps(test)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


@asynccontextmanager
async def opened(
    server: str | Server, prefix: str, header: Header | None = HEADER, **options: Any
) -> AsyncIterator[RedisStore]:
    """Yield a store that is let go of at the end, without a word to the server: its run does not end."""
    store = RedisStore(server, prefix, header, **options)
    try:
        yield store
    finally:
        await store._link.close()


async def eventually(ask: Callable[[], Awaitable[Result]]) -> Result:
    """Return the first answer that is no StoreUnavailable."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while True:
        try:
            return await ask()
        except StoreUnavailable:
            if asyncio.get_running_loop().time() > end:
                raise
            await asyncio.sleep(0.01)


def admin(url: str) -> Any:
    """Return a client that does what no store does."""
    return Redis.from_url(url, protocol=2)
