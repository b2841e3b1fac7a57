"""Scrapy crawls of pages in memory, with the plugin: which pages were kept, and why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.http import HtmlResponse, Response
from twisted.internet.defer import Deferred

from benchmarks.lib.report import progress
from scrapy_simhash import Status


class MemoryHandler:
    """A download handler that returns the pages of the spider. Needs Scrapy 2.14 or later."""

    lazy = False

    def __init__(self, crawler: Any) -> None:
        self._spider: Any = crawler.spider

    @classmethod
    def from_crawler(cls, crawler: Any) -> MemoryHandler:
        """Return the handler of *crawler*."""
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """Return the page at the URL of *request*."""
        body = self._spider.pages[request.url]
        return HtmlResponse(request.url, headers={"Content-Type": "text/html"}, body=body, request=request)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


class Crawled(NamedTuple):
    """A page of a crawl, with the result that the spider received."""

    url: str
    is_kept: bool
    """Whether the item of the page was kept."""
    is_near: bool
    """Whether it is a near-duplicate."""
    protected: str | None
    original: str | None
    """The URL of the page of which it is a near-duplicate."""
    cluster: int | None
    also_near: tuple[int, ...]
    """Other clusters that the page connects with its cluster."""


class PagesSpider(Spider):
    """Requests all pages one after another, and yields one item for each."""

    name = "pages"
    pages: Mapping[str, bytes]

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.results: dict[str, dict[str, Any]] = {}
        self.kept: set[str] = set()

    async def start(self) -> AsyncIterator[Request]:
        """Yield a request for each page, with one slot for all hosts, because each slot has its own order."""
        self.crawler.signals.connect(self.keep, signal=signals.item_scraped)
        for number, url in enumerate(self.pages):
            yield Request(url, priority=-number, meta={"download_slot": "all"})

    def parse(self, response: Response) -> Iterator[dict[str, str]]:
        """Yield the item."""
        self.results[response.url] = response.meta["simhash_result"]
        if len(self.results) % 50 == 0:
            progress(f"{len(self.results):,} of {len(self.pages):,} pages ...")
        yield {"url": response.url}

    def keep(self, item: dict[str, str]) -> None:
        """Record an item that was not dropped."""
        self.kept.add(item["url"])


def crawl_each(sites: Iterable[Mapping[str, bytes]], settings: Mapping[str, Any]) -> list[list[Crawled]]:
    """Crawl one site after another with ``drop_items``, and return the pages of each, in the order of the requests.

    A site is a mapping of URLs, quoted as in requests, to pages. Call it in a separate process. Raises RuntimeError
    if a page was not received, was received out of order, or if anything failed.
    """
    process = CrawlerProcess(
        {
            "ADDONS": {"scrapy_simhash.Addon": 500},
            "SIMHASH_ACTION": "drop_items",
            "CONCURRENT_REQUESTS": 1,
            "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), MemoryHandler),
            "METAREFRESH_ENABLED": False,
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
            **settings,
        }
    )
    found: list[list[Crawled]] = []

    async def crawl_all() -> None:
        for pages in sites:
            progress(f"site {len(found) + 1} ...")
            crawler = process.create_crawler(PagesSpider)
            await process.crawl(crawler, pages=pages)
            found.append(_crawled(crawler))

    failures: list[Any] = []
    Deferred.fromCoroutine(crawl_all()).addErrback(failures.append)
    process.start(install_signal_handlers=False)
    for failure in failures:
        failure.raiseException()
    return found


def _crawled(crawler: Crawler) -> list[Crawled]:
    spider, stats = crawler.spider, crawler.stats.get_stats() if crawler.stats else {}
    assert isinstance(spider, PagesSpider)
    if "log_count/ERROR" in stats or list(spider.results) != list(spider.pages):
        raise RuntimeError(
            f"the crawl failed, {len(spider.results)} pages of {len(spider.pages)} came: {stats}"
        )
    return [
        Crawled(
            url,
            url in spider.kept,
            result["status"] == Status.NEAR_DUPLICATE.value,
            result["protected"],
            result["duplicate_of"],
            result["cluster"],
            tuple(result["also_near"]),
        )
        for url, result in spider.results.items()
    ]
