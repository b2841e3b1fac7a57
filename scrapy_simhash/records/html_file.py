"""A file that is one page."""

from __future__ import annotations

from typing import NamedTuple

from scrapy_simhash.page.text import is_xml_feed
from scrapy_simhash.records.mirror import url_of
from scrapy_simhash.records.record import NOT_HTML, Broken, PassedOver, Record
from scrapy_simhash.records.source import LIMIT, TOO_LARGE, Source


class PageFile(NamedTuple):
    """Where a page lay in a folder or an archive, for a writer."""

    path: str
    """With slashes, from the input on."""


def html_file(source: Source) -> Record | Broken | PassedOver:
    """Return the page that *source* is."""
    if is_xml_feed(source.head):
        return PassedOver(source.name, NOT_HTML)
    page = source.stream.read(LIMIT + 1)
    if len(page) > LIMIT:
        return Broken(source.name, TOO_LARGE)
    return Record(url_of(source.origin), page, source.name, source=PageFile("/".join(source.origin.parts)))
