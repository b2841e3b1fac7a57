"""Custom stores for ``SIMHASH_STORE``, and older pages in stores in files."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from scrapy_simhash import StoreUnavailable
from scrapy_simhash.store.sqlite import SqliteStore
from tests.store.remote import RemoteStore

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy.crawler import Crawler

    from scrapy_simhash.store import Claim, Header, Posting


class Named(SqliteStore):
    """Built from the crawler, as Scrapy's components are; keeps the spider's name."""

    def __init__(self, header: Header, spider: str) -> None:
        super().__init__(header=header)
        self.spider = spider

    @classmethod
    def from_crawler(cls, crawler: Crawler, header: Header) -> Named:
        return cls(header, crawler.spidercls.name)

    def close(self, reason: str = "finished") -> None:
        """Log the reason for closing."""
        super().close(reason)
        raise StoreUnavailable(f"the store of {self.spider} was closed: {reason}")


class Moody(SqliteStore):
    """Answers three times, then fails twice, and so on."""

    def __init__(self, header: Header) -> None:
        super().__init__(header=header)
        self.calls = 0

    def claim(self, posting: Posting) -> Claim:
        self._ask()
        return super().claim(posting)

    def look(self, posting: Posting) -> Claim:
        self._ask()
        return super().look(posting)

    def _ask(self) -> None:
        self.calls += 1
        if (self.calls - 1) % 5 > 2:
            raise StoreUnavailable("not now")


class Remote(RemoteStore):
    """A remote store whose methods are coroutines."""

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self.store = Moody(header)


class Late(RemoteStore):
    """Returns the result of the second ``look`` only after a claim has stored a page."""

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self.looks = 0
        self.stored = asyncio.Event()

    async def claim(self, posting: Posting) -> Claim:
        try:
            return await super().claim(posting)
        finally:
            self.stored.set()

    async def look(self, posting: Posting) -> Claim:
        self.looks += 1
        is_second = self.looks == 2
        claim = await super().look(posting)
        if is_second:
            await asyncio.wait_for(self.stored.wait(), 10)
            # Let the claim return to its caller first.
            await asyncio.sleep(0.05)
        return claim


def age(folder: Path, seconds: int, url: str = "%") -> None:
    """Subtract *seconds* from the times of the pages in the stores in *folder* whose URL matches *url*."""
    times = ", ".join(f"{name} = {name} - :by" for name in ("first_seen", "last_visit", "last_seen"))
    for file in folder.glob("*.sqlite"):
        with closing(sqlite3.connect(file)) as store, store:
            store.execute(f"UPDATE pages SET {times} WHERE url LIKE :url", {"by": seconds, "url": url})
