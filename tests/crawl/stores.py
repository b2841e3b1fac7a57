"""Stores of somebody's own, as a project would name them in ``SIMHASH_STORE``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_simhash import StoreUnavailable
from scrapy_simhash.store import MemoryStore

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_simhash.store import Claim, Header, Posting


class Named(MemoryStore):
    """Built from the crawler, as Scrapy's components are; knows whose it is."""

    def __init__(self, header: Header, spider: str) -> None:
        super().__init__(header)
        self.spider = spider

    @classmethod
    def from_crawler(cls, crawler: Crawler, header: Header) -> Named:
        return cls(header, crawler.spidercls.name)

    def close(self, reason: str = "finished") -> None:
        """Say in the log that it was closed, and why."""
        super().close(reason)
        raise StoreUnavailable(f"the store of {self.spider} was closed: {reason}")


class Moody(MemoryStore):
    """Answers three times, then fails twice, and so on."""

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self.asked = 0

    def claim(self, posting: Posting) -> Claim:
        self.asked += 1
        if (self.asked - 1) % 5 > 2:
            raise StoreUnavailable("not now")
        return super().claim(posting)


class Remote:
    """The same somewhere else: its methods are coroutines."""

    def __init__(self, header: Header) -> None:
        self.store = Moody(header)

    @property
    def header(self) -> Header:
        return self.store.header

    @property
    def index_size(self) -> int:
        return self.store.index_size

    def __len__(self) -> int:
        return len(self.store)

    async def claim(self, posting: Posting) -> Claim:
        return self.store.claim(posting)

    async def look(self, posting: Posting) -> Claim:
        return self.store.look(posting)

    async def get(self, key: bytes) -> Any:
        return self.store.get(key)

    async def remove(self, key: bytes) -> bool:
        return self.store.remove(key)

    async def __aiter__(self) -> Any:
        for posting in self.store:
            yield posting

    async def runs(self) -> Any:
        return self.store.runs()

    async def close(self, reason: str = "finished") -> None:
        self.store.close(reason)


class NoStore:
    """Has nothing that a store has."""

    def __init__(self, header: Header) -> None:
        pass
