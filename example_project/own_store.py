"""An example of a custom store, see docs/how-to/stores.rst."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

from scrapy.crawler import Crawler

from scrapy_simhash import StoreUnavailable
from scrapy_simhash.store import Claim, Header, Posting, Row, Store
from scrapy_simhash.store.sqlite import SqliteStore


class PickleStore(Store):
    """Stores pages in memory during a crawl, and in one file between crawls."""

    def __init__(self, header: Header, path: str | Path) -> None:
        super().__init__(header)
        self._path, self._pages = Path(path), SqliteStore(header=header)
        if self._path.exists():
            former, postings = pickle.loads(self._path.read_bytes())
            Header.from_dict(former).check(header, str(self))
            for posting in postings:
                self.claim(posting)

    @classmethod
    def from_crawler(cls, crawler: Crawler, header: Header) -> PickleStore:
        """Create the store for the file that the setting PAGES_FILE names."""
        return cls(header, crawler.settings.get("PAGES_FILE", "pages.pickle"))

    def __str__(self) -> str:
        return f"the file {self._path}"

    def __len__(self) -> int:
        return len(self._pages)

    def __iter__(self) -> Iterator[Posting]:
        return iter(self._pages)

    def claim(self, posting: Posting) -> Claim:
        """Store a page, and return the claim with its original."""
        return self._pages.claim(posting)

    def get(self, key: bytes) -> Row | None:
        """Return the page with *key*; None if it is unknown."""
        return self._pages.get(key)

    def close(self, reason: str = "finished") -> None:
        """Write the file."""
        try:
            new = self._path.with_suffix(".new")
            new.write_bytes(pickle.dumps((self.header.to_dict(), list(self))))
            new.replace(self._path)
        except OSError as error:
            raise StoreUnavailable(f"{self}: {error}") from error
