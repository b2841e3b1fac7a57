"""A remote store, whose methods are coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from scrapy_simhash.store import Header, Store
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.waiting import MaybeAwaitable, maybe_await

T = TypeVar("T")


def remote(method: Callable[..., MaybeAwaitable[T]]) -> Callable[..., Coroutine[Any, Any, T]]:
    """Return a coroutine that waits once, and then calls *method* of the store in memory."""

    async def call(self: RemoteStore, *arguments: Any, **named: Any) -> T:
        await asyncio.sleep(0)
        answer: MaybeAwaitable[T] = getattr(self.store, method.__name__)(*arguments, **named)
        return await maybe_await(answer)

    return call


class RemoteStore(Store):
    """A store in memory with coroutines as methods."""

    is_remote = True

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self.store = SqliteStore(header=header)

    @property
    def index_size(self) -> int:
        return self.store.index_size

    def __len__(self) -> int:
        return len(self.store)

    claim = remote(SqliteStore.claim)
    look = remote(SqliteStore.look)
    get = remote(SqliteStore.get)
    touch = remote(SqliteStore.touch)
    runs = remote(SqliteStore.runs)
    close = remote(SqliteStore.close)
