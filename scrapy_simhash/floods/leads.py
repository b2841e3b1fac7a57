"""Leads: whether the pages of a flood still lead anywhere.

Page after page of a long list may have the same text around other links, and to stop them would lose all that is
behind. So a pattern is stopped only when some of its pages in a row had no link that was new. Links to more of the
same do not count: those to the same path, to the same pattern, and those that carry the page's own URL, such as
"sign in and come back here".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from scrapy_simhash.floods.pattern import patterns
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import scope_of

#: Pages in a row without a new link, after which a pattern leads nowhere.
BARREN = 5
#: Links that are known again, and patterns whose pages are counted; the oldest goes.
MOST_LINKS = 20_000


class Leads:
    """Remembers the links on the pages of floods."""

    def __init__(self) -> None:
        self._known: Recent[int, None] = Recent(MOST_LINKS)
        self._barren: Recent[tuple[str, str], int] = Recent(MOST_LINKS)

    def nowhere(self, pattern: str, asked: str, url: str, root: Any) -> bool:
        """Take note of the page at *url*; tell whether *pattern*, that of the URL *asked* for, leads nowhere new.

        The two URLs differ where there was a redirect. *root* is the lxml tree of the page, which is only read.
        O(links).
        """
        key = scope_of(asked, "host"), pattern
        has_new = False
        for link in _links(pattern, asked, url, root):
            if hash(link) not in self._known:
                self._known[hash(link)] = None
                has_new = True
        self._barren[key] = 0 if has_new else self._barren.get(key, 0) + 1
        return self._barren[key] >= BARREN


def _links(pattern: str, asked: str, url: str, root: Any) -> Iterator[str]:
    """Yield where the page at *url* leads, more of the same left out."""
    host, own, come_to = scope_of(asked, "host"), urlsplit(asked).path, urlsplit(url).path
    for element in root.iter("a", "area"):
        try:
            link = urldefrag(urljoin(url, element.get("href") or "")).url
            parts = urlsplit(link)
        except ValueError:  # "http://[broken"
            continue
        if parts.scheme not in ("http", "https") or (len(own) > 1 and own in unquote(link)):
            continue
        if scope_of(link, "host") != host or (parts.path != come_to and pattern not in patterns(link)):
            yield link
