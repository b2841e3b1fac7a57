"""SitemapDates: when the pages of a sitemap were changed, by the sitemap, for requests that a spider makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.gz import gunzip, gzip_magic_number
from scrapy.utils.sitemap import Sitemap

from scrapy_simhash import names
from scrapy_simhash.page.text import is_xml_feed

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class SitemapDates:
    """The dates of one sitemap."""

    def __init__(self, body: bytes) -> None:
        self._dates = {entry["loc"]: entry["lastmod"] for entry in Sitemap(body) if entry.get("lastmod")}

    @classmethod
    def of(cls, response: Response, max_size: int) -> SitemapDates | None:
        """Return those of *response*, None if it is no sitemap with dates, or unpacked larger than *max_size*."""
        body = response.body
        try:
            if gzip_magic_number(response):
                body = gunzip(body, max_size=response.meta.get("download_maxsize", max_size))
            return cls(body) if is_xml_feed(body) and b"lastmod" in body else None
        except (
            Exception
        ):  # what a spider loads may be damaged in many ways, and the spider may want it nevertheless
            return None

    def write(self, request: Request) -> None:
        """Put its date into the meta of a request for a page of the sitemap, unless there is one."""
        date = self._dates.get(request.url)
        if date is not None:
            request.meta.setdefault(names.META_LASTMOD, date)
