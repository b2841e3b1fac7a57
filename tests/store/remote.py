"""A remote store, whose methods are coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection

from scrapy_simhash.store import Claim, Header, Posting, Row, Run, Store, Touch
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.waiting import maybe_await


class RemoteStore(Store):
    """A store in memory with coroutines as methods, each of which waits once; *most* is the largest number of
    concurrent calls.
    """

    is_remote = True

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self.store = SqliteStore(header=header)
        self.waiting = 0
        self.most = 0

    @property
    def index_size(self) -> int:
        return self.store.index_size

    def __len__(self) -> int:
        return len(self.store)

    async def claim(self, posting: Posting) -> Claim:
        await self._travel()
        return self.store.claim(posting)

    async def look(self, posting: Posting) -> Claim:
        await self._travel()
        return self.store.look(posting)

    async def get(self, key: bytes) -> Row | None:
        await self._travel()
        return self.store.get(key)

    async def remove(self, key: bytes) -> bool:
        await self._travel()
        return self.store.remove(key)

    async def remove_host(self, host: str) -> int:
        await self._travel()
        return await maybe_await(self.store.remove_host(host))

    async def touch(self, visits: Collection[tuple[bytes, int]], touch: Touch = Touch.VISITED) -> None:
        await self._travel()
        self.store.touch(visits, touch)

    async def __aiter__(self) -> AsyncIterator[Posting]:
        for one in self.store:
            await self._travel()
            yield one

    async def runs(self) -> list[Run]:
        await self._travel()
        return self.store.runs()

    async def close(self, reason: str = "finished") -> None:
        await self._travel()
        self.store.close(reason)

    async def _travel(self) -> None:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await asyncio.sleep(0)
        self.waiting -= 1
