"""Custom stores for ``SIMHASH_STORE``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_simhash import StoreUnavailable
from scrapy_simhash.store.sqlite import SqliteStore
from tests.store.remote import RemoteStore

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_simhash.store import Claim, Header, Posting


class Named(SqliteStore):
    """Built from the crawler, as Scrapy's components are; knows whose it is."""

    def __init__(self, header: Header, spider: str) -> None:
        super().__init__(header=header)
        self.spider = spider

    @classmethod
    def from_crawler(cls, crawler: Crawler, header: Header) -> Named:
        return cls(header, crawler.spidercls.name)

    def close(self, reason: str = "finished") -> None:
        """Log the reason of the close."""
        super().close(reason)
        raise StoreUnavailable(f"the store of {self.spider} was closed: {reason}")


class Moody(SqliteStore):
    """Answers three times, then fails twice, and so on."""

    def __init__(self, header: Header) -> None:
        super().__init__(header=header)
        self.asked = 0

    def claim(self, posting: Posting) -> Claim:
        self._ask()
        return super().claim(posting)

    def look(self, posting: Posting) -> Claim:
        self._ask()
        return super().look(posting)

    def _ask(self) -> None:
        self.asked += 1
        if (self.asked - 1) % 5 > 2:
            raise StoreUnavailable("not now")


class Remote(RemoteStore):
    """The same as a remote store, whose methods are coroutines."""

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self.store = Moody(header)


class NoStore:
    """Has nothing that a store has."""

    def __init__(self, header: Header) -> None:
        pass
