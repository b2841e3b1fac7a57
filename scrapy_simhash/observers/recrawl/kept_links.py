"""KeptLinks: the requests that a callback yields as dictionaries, made again from them; dates of a sitemap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.gz import gunzip, gzip_magic_number
from scrapy.utils.request import request_from_dict
from scrapy.utils.sitemap import Sitemap

from scrapy_simhash import names
from scrapy_simhash.observers.recrawl import unpacked
from scrapy_simhash.page.text import is_xml_feed

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.http import Response


#: What a page is read for: what may decide which requests its callback yields.
Purpose = dict[str, Any]

#: Keys in the meta that are none of the spider's, or say only how a page is fetched; and how such keys begin.
_OF_OTHERS = frozenset(("depth", "is_start_request", "link_text", "proxy", "_auth_proxy"))
_OF_OTHERS_BEGIN = ("download_", "redirect_", "retry_", "simhash_", "playwright")
#: What browsers send of a form. It may hold a password, or a token that the next crawl cannot use.
_FORMS = (b"application/x-www-form-urlencoded", b"multipart/form-data")


class KeptLinks:
    """Knows the methods of a spider by their names, and takes down requests."""

    def __init__(self, spider: Spider) -> None:
        self._spider = spider
        self._names: dict[Any, str | None] = {}

    def name_of(self, method: Any) -> str | None:
        """Return the name by which the spider has *method*, ``parse`` for none; None for what is no method of it."""
        if method is None:
            return "parse"
        if getattr(method, "__self__", None) is not self._spider:
            return None
        # Scrapy's own way looks at all attributes of the spider, for every request.
        function = method.__func__
        if function not in self._names:
            name = function.__name__
            found = getattr(getattr(self._spider, name, None), "__func__", None)
            self._names[function] = name if found is function else None
        return self._names[function]

    def purpose_of(self, request: Request) -> Purpose | None:
        """Return what the page of *request* is read for; None if its callback is no method of the spider."""
        name = self.name_of(request.callback)
        if name is None:
            return None
        meta = {
            key: value
            for key, value in request.meta.items()
            if key not in _OF_OTHERS and not str(key).startswith(_OF_OTHERS_BEGIN)
        }
        # A store in Redis may be shared by several spiders. The arguments are no copy: what other components add
        # before the callback is called, such as page objects, is to be seen when the page is there.
        return {
            "spider": self._spider.name,
            "callback": name,
            "arguments": request.cb_kwargs,
            "meta": meta,
            "cookies": request.cookies,
        }

    def taken_down(self, request: Request) -> dict[str, Any] | None:
        """Return *request* as it is now; None if it sends a form, or calls what is no method of the spider."""
        if (request.headers.get(b"Content-Type") or b"").lower().startswith(_FORMS):
            return None
        # As Request.to_dict() does, which would look for the methods in its own way.
        taken = {name: getattr(request, name) for name in request.attributes}
        if type(request) is not Request:
            taken["_class"] = f"{type(request).__module__}.{type(request).__name__}"
        for kind in ("callback", "errback"):
            if taken[kind] is not None:
                taken[kind] = self.name_of(taken[kind])
                if taken[kind] is None:
                    return None
        taken["headers"] = dict(request.headers)
        taken["meta"] = {name: value for name, value in request.meta.items() if name not in names.META_OUT}
        if "link_text" in taken["meta"]:
            # What link extractors put there is a string of lxml's own type.
            taken["meta"]["link_text"] = str(taken["meta"]["link_text"])
        return taken

    def made_again(self, data: bytes) -> list[Request]:
        """Return the requests in what a store has kept. Raises for what cannot be made: a method that is gone."""
        return [request_from_dict(taken, spider=self._spider) for taken in unpacked(data)]


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
