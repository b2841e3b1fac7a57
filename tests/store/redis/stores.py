"""Redis stores as context managers, for tests that are coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from itertools import count
from typing import Any, ParamSpec, TypeVar, cast

import pytest

from scrapy_simhash.cli.stores import SyncStore
from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.store import Header, Store
from scrapy_simhash.store.redis import RedisStore, Server
from tests.store.cases import SECOND_LOOK, header

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

HEADER = header(SECOND_LOOK)
#: Max seconds to wait for a server to come back.
PATIENCE = 30


def waits(test: Callable[Arguments, Coroutine[Any, Any, None]]) -> Callable[Arguments, None]:
    """Run a coroutine as a test."""

    @wraps(test)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


@asynccontextmanager
async def opened(
    server: str | Server, prefix: str, header: Header | None = HEADER, **options: Any
) -> AsyncIterator[RedisStore]:
    """Yield a store that is abandoned at the end: its run does not end."""
    store = RedisStore(server, prefix, header, **options)
    try:
        yield store
    finally:
        await abandon(store)


async def abandon(store: RedisStore) -> None:
    """Disconnect *store* without closing it, as a kill does: its run does not end."""
    store._session.run = 0
    await store.close()


def lose_patience(store: RedisStore, seconds: float = 0.2) -> None:
    """Limit the time that *store* waits on existing connections; connecting may take longer."""
    client = store._client
    for connection in client._client.connection_pool._available_connections:
        connection.socket_timeout = connection.socket_connect_timeout = seconds
    client.timeout = seconds


def after_each_command(store: RedisStore, patch: pytest.MonkeyPatch, call: Callable[[str], object]) -> None:
    """Call *call* with the name of each command and script to which the server has replied."""
    shard = store._shard(0)

    def wrapped(send: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def sent(name: str, *arguments: Any) -> Any:
            reply = await send(name, *arguments)
            call(name)
            return reply

        return sent

    for method in ("ask", "script"):
        patch.setattr(shard, method, wrapped(getattr(shard, method)))


async def eventually(ask: Callable[[], Awaitable[Result]]) -> Result:
    """Return the first result that is not StoreUnavailable."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while True:
        try:
            return await ask()
        except StoreUnavailable:
            if asyncio.get_running_loop().time() > end:
                raise
            await asyncio.sleep(0.01)


def admin(url: str) -> Any:
    """Return a client for commands that no store sends."""
    from redis import Redis  # files that import this module are collected without redis

    return Redis.from_url(url, protocol=2)


_prefixes = count()


class Opener:
    """Opens stores on one server, and closes the remaining stores at the end."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.loop = asyncio.new_event_loop()
        self._stores: dict[int, tuple[Store, RedisStore, str]] = {}

    def make(self, header: Header, **options: Any) -> Store:
        return self._open(f"contract-{next(_prefixes)}", header, **options)

    def join(self, store: Store, **options: Any) -> Store:
        """Open *store* a second time while it is open."""
        _, other, prefix = self._stores[id(store)]
        return self._open(prefix, other.header, **options)

    def reopen(self, store: Store, in_order: bool, header: Header | None = None, **options: Any) -> Store:
        _, former, prefix = self._stores[id(store)]
        self._end(former, in_order)
        return self._open(prefix, header or former.header, **options)

    def close(self) -> None:
        for _, store, _ in self._stores.values():
            self._end(store, in_order=False)
        self.loop.close()

    def _open(self, prefix: str, header: Header, **options: Any) -> Store:
        store = RedisStore(self.url, prefix, header, blocks=header.rule.reach + 2, **options)
        store.check()
        self.loop.run_until_complete(store.runs())
        opened = cast(Store, SyncStore(store, self.loop))
        self._stores[id(opened)] = opened, store, prefix
        return opened

    def _end(self, store: RedisStore, in_order: bool) -> None:
        # After a kill the connection is closed and the run has not ended.
        self.loop.run_until_complete(store.close() if in_order else abandon(store))
