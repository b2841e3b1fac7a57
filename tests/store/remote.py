"""A store that is somewhere else, for what asks stores by coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

from scrapy_simhash.store import Header, MemoryStore, Posting

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def remote(
    ask: Callable[Concatenate[MemoryStore, Arguments], Answer],
) -> Callable[Concatenate[RemoteStore, Arguments], Coroutine[Any, Any, Answer]]:
    """Return a method of the store in memory as a coroutine that waits once."""

    async def asked(self: RemoteStore, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        await self.travel()
        return ask(self.store, *args, **kwargs)

    return asked


class RemoteStore:
    """A store in memory behind coroutines, each of which waits once; *most* counts those that waited together."""

    def __init__(self, header: Header) -> None:
        self.store = MemoryStore(header)
        self.waiting = 0
        self.most = 0

    @property
    def header(self) -> Header:
        return self.store.header

    @property
    def index_size(self) -> int:
        return self.store.index_size

    def __len__(self) -> int:
        return len(self.store)

    claim = remote(MemoryStore.claim)
    look = remote(MemoryStore.look)
    unsettle = remote(MemoryStore.unsettle)
    get = remote(MemoryStore.get)
    remove = remote(MemoryStore.remove)
    runs = remote(MemoryStore.runs)
    close = remote(MemoryStore.close)
    abandon = remote(MemoryStore.abandon)

    async def __aiter__(self) -> AsyncIterator[Posting]:
        for one in self.store:
            await self.travel()
            yield one

    async def travel(self) -> None:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await asyncio.sleep(0)
        self.waiting -= 1
