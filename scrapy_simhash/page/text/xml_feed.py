"""Which answers of servers are sitemaps or feeds in XML, whatever their servers call them."""

from __future__ import annotations

import re

#: How they begin. Their URLs are no text to compare. (What comes before has one reading only, or a page of nothing
#: else could hold up the crawl.)
_FEED = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:(?:<\?(?:(?!\?>).)*\?>|<!--(?:(?!-->).)*-->)\s*)*<(?:urlset|sitemapindex|rss|feed|rdf:RDF)[\s>]",
    re.DOTALL | re.IGNORECASE,
)
_HEAD = 2_000


def is_xml_feed(body: bytes) -> bool:
    """Tell whether *body* is a sitemap or a feed.

    >>> is_xml_feed(b'<?xml version="1.0"?><rss version="2.0">'), is_xml_feed(b"<p>A page")
    (True, False)
    """
    return _FEED.match(body, 0, _HEAD) is not None
