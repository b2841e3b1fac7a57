"""The spiders of the crawl tests; ``urls`` are the pages they start from."""

from __future__ import annotations

import logging
import os
import signal
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from zlib import crc32

import scrapy
from scrapy import signals
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import CloseSpider, NotSupported
from scrapy.http import HtmlResponse, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.logformatter import LogFormatter
from scrapy.spiders import CrawlSpider, Rule, SitemapSpider

from scrapy_simhash import SimhashDownloaderMiddleware
from scrapy_simhash.crawl import reader
from scrapy_simhash.crawl.reader import run_in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


class InThreads:
    """An extension that makes every page of a crawl be read in a thread."""

    def __init__(self, crawler: Crawler) -> None:
        self.size, reader.THREAD_SIZE = reader.THREAD_SIZE, 0
        crawler.signals.connect(self.closed, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> InThreads:
        return cls(crawler)

    def closed(self) -> None:
        reader.THREAD_SIZE = self.size


class Visitor(scrapy.Spider):
    """Requests *urls* in this order, with *meta* or ``metas[path]``; yields one item per page."""

    name = "visitor"
    #: Names of methods, each with the signal that it handles.
    handlers: Sequence[tuple[str, object]] = ()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *arguments: Any, **keywords: Any) -> Self:
        spider = super().from_crawler(crawler, *arguments, **keywords)
        for name, sent in spider.handlers:
            crawler.signals.connect(getattr(spider, name), signal=sent)
        return spider

    def __init__(
        self,
        urls: Iterable[str] = (),
        meta: dict[str, Any] | None = None,
        metas: dict[str, dict[str, Any]] | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__(**arguments)
        self.urls = list(urls)
        self.metas = metas or {}
        self.meta = meta or {}
        self.notes: list[Any] = []

    def request(self, url: str, **arguments: Any) -> scrapy.Request:
        meta = {**self.meta, **self.metas.get(path_of(url), {})}
        return scrapy.Request(url, meta=meta, dont_filter=True, **arguments)

    async def start(self) -> Any:
        for number, url in enumerate(self.urls):
            yield self.request(url, priority=-number)

    def parse(self, response: Response) -> Any:
        yield {"path": path_of(response.url)}


class Follower(Visitor):
    """Also follows all links. The callback raises at the path *failing*, and kills the process at *kill*."""

    name = "follower"
    #: Whether links have an errback, which records its calls.
    has_errback = False

    def __init__(self, failing: str = "", kill: str = "", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.failing, self.kill = failing, kill

    def parse(self, response: Response) -> Iterator[Any]:
        path = path_of(response.url)
        if path == self.kill:
            os.kill(os.getpid(), signal.SIGKILL)
        if path == self.failing:
            raise NotSupported(path)
        yield {"path": path}
        if isinstance(response, TextResponse):
            errback = self.failed if self.has_errback else None
            for request in response.follow_all(css="a", callback=self.parse, errback=errback):
                yield self.link(request, response)

    def link(self, request: scrapy.Request, response: Response) -> scrapy.Request:
        """Return the request for a link of *response*."""
        return request

    def failed(self, failure: Any) -> None:
        self.notes.append(f"errback {path_of(failure.request.url)} {type(failure.value).__name__}")


class Stylist(Visitor):
    """Yields an item per page and follows its links, from a callback of the given *style*."""

    name = "stylist"

    def __init__(self, style: str = "generator", has_errback: bool = False, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.style = style
        self.has_errback = has_errback

    def request(self, url: str, **arguments: Any) -> scrapy.Request:
        callback = getattr(self, f"parse_{self.style}")
        errback = self.failed if self.has_errback else None
        return super().request(url, callback=callback, errback=errback, **arguments)

    def parse_generator(self, response: TextResponse) -> Iterator[Any]:
        self.notes.append(path_of(response.url))
        yield {"path": path_of(response.url)}
        yield None
        for link in response.css("a::attr(href)").getall():
            yield self.request(response.urljoin(link))

    async def parse_async_generator(self, response: TextResponse) -> AsyncIterator[Any]:
        for output in self.parse_generator(response):
            yield output

    def parse_list(self, response: TextResponse) -> list[Any]:
        return list(self.parse_generator(response))

    async def parse_coroutine(self, response: TextResponse) -> list[Any]:
        return list(self.parse_generator(response))

    def failed(self, failure: Any) -> Iterator[Any]:
        yield {"path": f"failed: {path_of(failure.request.url)}"}


class Ruled(CrawlSpider):
    """A CrawlSpider: its rules have errbacks, and links and items come from one callback."""

    name = "ruled"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def __init__(self, urls: Iterable[str] = (), **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = list(urls)
        self.notes: list[Any] = []

    def parse_page(self, response: Response) -> Iterator[Any]:
        self.notes.append(path_of(response.url))
        yield {"path": path_of(response.url)}


class Retrier(Visitor):
    """Requests each page again, once, in the given *way*, from its callback."""

    name = "retrier"

    def __init__(self, way: str = "helper", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.way = way

    def parse(self, response: Response) -> Iterator[Any]:
        request = response.request
        if request is None or request.url in self.notes:
            yield {"path": path_of(response.url)}
            return
        self.notes.append(request.url)
        if self.way == "helper":
            yield get_retry_request(request, spider=self, reason="again")
        elif self.way == "replace":
            yield request.replace(dont_filter=True)
        else:
            yield request
        # The results of this visit can still be read.
        self.notes.append(response.meta["simhash_result"]["status"])


class Failing:
    """An item pipeline that fails before the crawl starts."""

    # Scrapy 2.13 passes the spider.
    def open_spider(self, spider: scrapy.Spider | None = None) -> None:
        raise ValueError("it cannot be opened")

    def process_item(self, item: Any, spider: scrapy.Spider | None = None) -> Any:
        return item


#: Max seconds that the reading of a page waits; reached if the reading blocks the reactor.
PATIENCE = 20


class SlowReader(Visitor):
    """Keeps reading the first page until the page at *late*, requested meanwhile, was parsed; with *closes*, until
    the crawl is closing. Without *late*, simulates Ctrl-C while the page is being read.
    """

    name = "slow-reader"
    handlers = (("opened", signals.spider_opened),)

    def __init__(self, late: str = "", closes: bool = False, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.late, self.closes = late, closes
        self.is_reading, self.may_read_on = threading.Event(), threading.Event()

    def opened(self) -> None:
        middleware: Any = self.crawler.get_downloader_middleware(SimhashDownloaderMiddleware)
        fingerprinter = middleware.detector.fingerprinter
        self.really_read = fingerprinter.read
        fingerprinter.read = self.read
        logging.getLogger("scrapy.core.engine").addFilter(self.logged)

    async def start(self) -> Any:
        async for request in super().start():
            yield request
        if self.late:
            await run_in_thread(self.is_reading.wait, PATIENCE)
            self.notes.append("meanwhile")
            yield self.request(self.late)

    def read(self, root: Any, **arguments: Any) -> Any:
        # The base URL of a tree is the URL of its page.
        if root.base != self.late:
            self.is_reading.set()
            if not self.late:
                os.kill(os.getpid(), signal.SIGINT)
            if not self.may_read_on.wait(PATIENCE):
                raise TimeoutError("nothing happened meanwhile")
        self.notes.append(path_of(root.base))
        return self.really_read(root, **arguments)

    def parse(self, response: Response) -> Iterator[Any]:
        yield from super().parse(response)
        if self.closes and response.url == self.late:
            raise CloseSpider("enough")
        if not self.closes:
            self.may_read_on.set()

    def logged(self, record: logging.LogRecord) -> bool:
        if record.getMessage().startswith("Closing spider"):
            self.may_read_on.set()
        return True

    def closed(self, reason: str) -> None:
        logging.getLogger("scrapy.core.engine").removeFilter(self.logged)


class Magazine(Visitor):
    """Crawls the example site, without its other ports."""

    name = "magazine"

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        if isinstance(response, HtmlResponse):
            port = urlsplit(self.urls[0]).port
            for link in LinkExtractor().extract_links(response):
                if urlsplit(link.url).port == port:
                    yield response.follow(link)


# --- Marks in items, and drops.


class FailingLogFormatter(LogFormatter):
    """Raises for each dropped item."""

    def dropped(self, *arguments: Any) -> Any:
        raise KeyError("url")


class DropListener(Follower):
    """Records Scrapy's signal ``item_dropped``."""

    name = "drop-listener"
    handlers = (("record", signals.item_dropped),)

    def record(
        self, item: Any, response: Response, exception: scrapy.exceptions.DropItem, spider: scrapy.Spider
    ) -> None:
        self.notes.append(
            {
                "item": item,
                "page": path_of(response.url),
                "reason": type(exception).__name__,
                "attributes": {name: value for name, value in vars(exception).items() if name != "log_level"},
                "spider": spider.name,
            }
        )


# --- Traps.


class Bearer(Follower):
    """Passes the meta of each response to its requests, including the URLs that redirected to the page."""

    name = "bearer"

    def link(self, request: scrapy.Request, response: Response) -> scrapy.Request:
        return request.replace(meta=dict(response.meta))


class Excluding(Follower):
    """Excludes pages whose URL contains *part* from comparison: with a POST request if *way* is ``POST``, otherwise
    by ``simhash: False`` in the meta.
    """

    name = "excluding"
    part, way = "", ""

    def link(self, request: scrapy.Request, response: Response) -> scrapy.Request:
        if self.part not in request.url:
            return request
        return request.replace(method="POST") if self.way else request.replace(meta={"simhash": False})


# --- Made-up sites.


class Ranked(Follower):
    """Gives each request a different priority."""

    name = "ranked"

    def link(self, request: scrapy.Request, response: Response) -> scrapy.Request:
        return request.replace(priority=crc32(request.url.encode()) % 7 - 3)


class Mapped(SitemapSpider):
    """Starts with sitemaps, and follows links."""

    name = "mapped"

    def __init__(self, urls: Iterable[str] = (), **arguments: Any) -> None:
        super().__init__(**arguments)
        self.sitemap_urls = list(urls)
        self.notes: list[Any] = []

    def parse(self, response: Any) -> Iterator[Any]:
        yield {"path": path_of(response.url)}
        yield from response.follow_all(css="a")
