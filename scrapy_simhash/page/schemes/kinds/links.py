"""Links: where a page leads, whatever it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urldefrag, urljoin

from scrapy_simhash.page.schemes.kinds.feature_kind import Page


@dataclass(frozen=True)
class Links:
    """The URL of every link, without its fragment: ``link https://example.com/fog``."""

    def __call__(self, page: Page) -> Iterator[str]:
        """Yield the links, in order; absolute ones if the page's URL is known. Plain text has none."""
        if page.root is None:
            return
        for link in page.root.iter("a", "area"):
            if url := absolute(link.get("href"), page.url):
                yield f"link {url}"


def absolute(href: str | None, base: str) -> str:
    """Return the URL that *href* means on a page at *base*, without its fragment; empty for none.

    >>> absolute("/fog#top", "https://example.com/"), absolute("#top", ""), absolute("//[", "https://example.com/")
    ('https://example.com/fog', '', '')
    """
    if not href:
        return ""
    try:
        return urldefrag(urljoin(base, href.strip())).url
    except ValueError:
        # A URL that cannot be read leads nowhere.
        return ""
