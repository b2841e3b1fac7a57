"""AcrossScopes: which pages repeat a page of another scope, for ``SIMHASH_ACROSS_SCOPES``."""

from __future__ import annotations

from collections.abc import Callable

from scrapy_simhash.store import MemoryStore, Posting

#: Pages after which another store is begun.
MOST_PAGES = 100_000


class AcrossScopes:
    """The latest pages of this crawl once more, whatever their scopes: the last 100,000 to 200,000 of them.

    Two stores, of which the older one is thrown away when the other is full.
    """

    def __init__(self, new_store: Callable[[], MemoryStore]) -> None:
        """*new_store* makes an empty store."""
        self._new_store = new_store
        self._older, self._recent = new_store(), new_store()

    def original(self, posting: Posting) -> str | None:
        """Return the URL of the page that *posting* repeats, None if it repeats none; and remember it."""
        posting = posting._replace(scope="")
        older = self._older.look(posting).original
        recent = self._recent.claim(posting).original
        if len(self._recent) >= MOST_PAGES:
            self._older, self._recent = self._recent, self._new_store()
        return older or recent
