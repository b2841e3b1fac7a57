"""The pages of a store as lines of a report, as far as a store knows what such a line says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scrapy_simhash.cli.walk import walk
from scrapy_simhash.crawl.times import written
from scrapy_simhash.store import Store


def stored_lines(store: Store, tell: Callable[[int], None]) -> Iterator[dict[str, Any]]:
    """Yield a line for each page, by its latest visit; *tell* hears how many records were read so far."""
    for number, (posting, page) in enumerate(walk(store), 1):
        tell(number)
        if page is None:
            continue
        yield {
            "url": posting.url,
            "status": "new" if page.original is None else "near_duplicate",
            "duplicate_of": page.original,
            "cluster": page.cluster,
            "time": written(posting.seen),
        }
