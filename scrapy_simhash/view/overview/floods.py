"""Floods: one page that came under many URLs of a host, found after the fact."""

from __future__ import annotations

from collections import Counter
from heapq import nlargest
from typing import Any

#: URLs of a host that return the same page before that is called a flood.
FLOOD_SIZE = 100
#: URLs that are kept of each.
_URLS = 5
#: URL patterns that are counted of each.
_PATTERNS = 20


class _Count:
    __slots__ = ("pages", "patterns", "urls")

    def __init__(self) -> None:
        self.pages = 1
        self.urls: list[str] = []
        self.patterns: Counter[str] = Counter()


class Floods:
    """Counts the pages of a cluster by host; when there are too many to count, the smaller half goes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: dict[tuple[str, str], _Count] = {}

    def add(self, host: str, pattern: str, url: str, first: str) -> None:
        """Count the page at *url*, of *host*, which repeats the page at *first*, and was not counted before."""
        count = self._counts.get((first, host))
        if count is None:
            count = self._counts[first, host] = _Count()
        count.pages += 1
        if len(count.urls) < _URLS:
            count.urls.append(url)
        if pattern in count.patterns or len(count.patterns) < _PATTERNS:
            count.patterns[pattern] += 1
        if len(self._counts) > self._most:
            self._counts = dict(
                nlargest(self._most // 2, self._counts.items(), key=lambda item: item[1].pages)
            )

    def as_list(self, most: int) -> list[dict[str, Any]]:
        """Return the largest, as JSON has them, each with the pattern that most of its URLs have."""
        found = ((key, count) for key, count in self._counts.items() if count.pages >= FLOOD_SIZE)
        return [
            {
                "host": host,
                "pages": count.pages,
                "first": first,
                "pattern": count.patterns.most_common(1)[0][0],
                "urls": count.urls,
            }
            for (first, host), count in nlargest(most, found, key=lambda item: item[1].pages)
        ]
