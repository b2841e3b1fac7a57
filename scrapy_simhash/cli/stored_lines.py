"""The pages of a store as lines of a report, as far as a store knows what such a line says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scrapy_simhash.cli.walk import walk
from scrapy_simhash.store import ListsPages, Page, Store


def stored_lines(store: Store, tell: Callable[[int], None]) -> Iterator[dict[str, Any]]:
    """Yield a line for each page, by its latest visit; *tell* hears how many pages were read so far.

    The time is in seconds of Unix time.
    """
    for number, page in enumerate(_pages(store), 1):
        tell(number)
        yield {
            "url": page.posting.url,
            "status": "new" if page.original is None else "near_duplicate",
            "duplicate_of": page.original,
            "cluster": page.cluster,
            "time": page.posting.seen,
        }


def _pages(store: Store) -> Iterator[Page]:
    if isinstance(store, ListsPages):
        return store.pages()
    return (entry.page for entry in walk(store) if entry.page is not None)
