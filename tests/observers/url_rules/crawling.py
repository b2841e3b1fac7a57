"""Crawls of made-up sites in memory, through the URL rules: what is skipped, and what is lost."""

from __future__ import annotations

from collections import Counter, deque
from random import Random
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch

from scrapy import Request
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse

from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.crawl.marks import note_parent
from scrapy_simhash.crawling import Page
from scrapy_simhash.observers.url_rules.listener import RequestSkipped, UrlRuleListener
from scrapy_simhash.observers.url_rules.urls import CutUrl, cut
from tests.observers.url_rules.awkward_sites import AwkwardSite
from tests.stand_in import stand_in

ROOT = "http://site.example"
CONFIG = Config(url_rules="skip")


def cut_url(rest: str) -> CutUrl:
    found = cut(ROOT + rest)
    assert found is not None
    return found


class Crawl:
    """A crawl without a network: the site answers a request, and the listener gets the page.

    As in Scrapy, several requests run at once, and each URL is requested once.
    """

    def __init__(self, site: AwkwardSite, seed: int, most: int = 6_000) -> None:
        self.site, self.random, self.most = site, Random(seed), most
        self.is_stack = self.random.random() < 0.7
        self.concurrency = self.random.choice((1, 4, 16))
        self.queue: deque[Request] = deque()
        self.delayed: deque[Request] = deque()
        self.crawler = cast("Any", stand_in())
        self.crawler.engine = SimpleNamespace(crawl=self.queue.append)
        self.listener = UrlRuleListener(self.crawler, CONFIG)
        self.detector = NearDuplicateDetector(CONFIG)
        self.seen = {"/"}
        #: Number of times each page was fetched, and URLs that were skipped and not sent later.
        self.pages: Counter[str] = Counter()
        self.skipped: set[str] = set()
        self.now = 0.0

    def run(self) -> Crawl:
        """Crawl until no request is left or the max number of pages was fetched, and return this crawl."""
        self.queue.append(Request(f"{ROOT}/", meta={"is_start_request": True}))
        under_way: list[Request] = []
        with patch("time.monotonic", lambda: self.now):
            while sum(self.pages.values()) < self.most:
                while (self.queue or self.delayed) and len(under_way) < self.concurrency:
                    queue = self.queue or self.delayed
                    self._send(queue.pop() if self.is_stack else queue.popleft(), under_way)
                if under_way:
                    self._receive(under_way.pop(self.random.randrange(len(under_way))))
                elif not self.queue and not self.delayed:
                    self.now += 5.0
                    try:
                        self.listener.spider_idle()
                    except DontCloseSpider:
                        continue
                    break
        return self

    def _send(self, request: Request, under_way: list[Request]) -> None:
        try:
            later = self.listener.request_sent(request)
        except RequestSkipped:
            self.skipped.add(request.url)
        else:
            (under_way if later is None else self.delayed).append(later or request)

    def _receive(self, request: Request) -> None:
        self.now += 0.01
        self.skipped.discard(request.url)
        found = self.site.answer(request.url.removeprefix(ROOT))
        assert found is not None, request.url
        key, html = found
        self.pages[key] += 1
        self.crawler.stats.inc_value("response_received_count")
        response = HtmlResponse(request.url, body=html.encode(), encoding="utf-8", request=request)
        detector, root = self.detector, response.selector.root
        reading = detector.read(root, request.url)
        verdict = detector.conclude(reading, request.url)
        self.listener.page_compared(Page(request, response, detector.fingerprinter, verdict, reading))
        for link in response.css("a::attr(href)").getall():
            path, _, query = link.partition("?")
            link = f"{path}?{'&'.join(sorted(query.split('&')))}" if query else path
            if link not in self.seen:
                self.seen.add(link)
                further = Request(f"{ROOT}{link}", meta={"depth": 1})
                note_parent(further, response)
                self.queue.append(further)

    @property
    def lost(self) -> set[str]:
        """The keys of the pages that were not fetched."""
        return self.site.keys() - self.pages.keys()

    def superfluous(self) -> tuple[int, int]:
        """Return the number of redundant URLs (all URLs of a page except one), and how many of them were skipped."""
        skipped = len(self.skipped)
        return sum(self.pages.values()) - len(self.pages) + skipped, skipped
