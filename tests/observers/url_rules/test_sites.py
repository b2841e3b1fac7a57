"""Generated sites, crawled in memory in any order: skipped requests must not lose a page."""

from __future__ import annotations

from collections import Counter, deque
from random import Random
from typing import Any, cast
from unittest.mock import patch

import pytest
from scrapy import Request
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse

from scrapy_simhash import Config, PageFingerprinter, Status, Verdict
from scrapy_simhash.crawl.marks import note_parent
from scrapy_simhash.crawling import Page
from scrapy_simhash.observers.url_rules.host import PAIRS
from scrapy_simhash.observers.url_rules.listener import RequestSkipped, UrlRuleListener
from scrapy_simhash.page.fingerprint import Fingerprint, number
from scrapy_simhash.page.reading import Reading
from tests.observers.url_rules.made_sites import Description, Site, random_description
from tests.stand_in import stand_in

ROOT = "http://site.example"
FOUND = Verdict(Status.NEW)
FINGERPRINTER = PageFingerprinter(Config())


class Crawl:
    """A crawl without a network: the site answers a request, and the listener gets the page.

    As in Scrapy, several requests run at once, and each URL is requested once.
    """

    def __init__(self, about: Description, seed: int, most: int = 6_000) -> None:
        self.site, self.random, self.most = Site(about), Random(seed), most
        self.is_stack = self.random.random() < 0.7
        self.concurrency = self.random.choice((1, 4, 16))
        self.crawler = stand_in(url_rules="skip")
        self.crawler.engine = cast("Any", self)
        self.listener = UrlRuleListener(self.crawler, Config(url_rules="skip"))
        self.queue: deque[Request] = deque()
        self.delayed: deque[Request] = deque()
        self.seen = {"/"}
        self.pages: Counter[tuple[str, str]] = Counter()
        self.skipped = 0
        self.now = 0.0

    def crawl(self, request: Request) -> None:
        self.queue.append(request)

    def run(self) -> Crawl:
        self.crawl(Request(f"{ROOT}/", meta={"is_start_request": True}))
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
            self.skipped += 1
        else:
            (under_way if later is None else self.delayed).append(later or request)

    def _receive(self, request: Request) -> None:
        self.now += 0.01
        found = self.site.answer(request.url.removeprefix(ROOT))
        assert found is not None, request.url
        page, html = found
        self.pages[page.kind, page.key] += 1
        self.crawler.stats.inc_value("response_received_count")
        response = HtmlResponse(request.url, body=html.encode(), request=request)
        is_short = page.kind == "login"
        text = number(f"{page.title} {sorted(page.text)}")
        reading = Reading(None if is_short else Fingerprint(text, 50), text, is_interstitial=is_short)
        self.listener.page_compared(Page(request, response, FINGERPRINTER, FOUND, reading))
        for link in response.css("a::attr(href)").getall():
            path, _, query = link.partition("?")
            link = f"{path}?{'&'.join(sorted(query.split('&')))}" if query else path
            if link not in self.seen:
                self.seen.add(link)
                further = Request(f"{ROOT}{link}", meta={"depth": 1})
                note_parent(further, response)
                self.crawl(further)

    @property
    def lost(self) -> set[str]:
        return self.site.keys() - {key for _, key in self.pages}


@pytest.mark.parametrize("seed", range(5))
def test_no_page_of_a_site_is_lost_in_any_order(seed: int) -> None:
    crawl = Crawl(random_description(seed), seed).run()
    assert sum(crawl.pages.values()) < crawl.most
    assert crawl.lost == set()
    assert not crawl.crawler.stats.get_value("simhash/errors/action")


@pytest.mark.parametrize("seed", range(3))
def test_a_calendar_with_marked_links_ends_without_losing_a_month_with_events(seed: int) -> None:
    about = Description("town", sections=1, things=2, marks=["utm"], has_calendar=True, seed=seed)
    crawl = Crawl(about, seed, most=1_500).run()
    assert sum(crawl.pages.values()) < crawl.most
    assert crawl.lost == set()


@pytest.mark.parametrize("seed", [1, 3])
@pytest.mark.parametrize("facets", ["values", "indexed", "parameters"])
def test_a_tenth_of_the_selections_of_a_list_is_fetched_twice(facets: str, seed: int) -> None:
    # One request at a time, or 16.
    crawl = Crawl(Description("shop", sections=6, things=2, facets=facets), seed).run()
    assert crawl.concurrency == (16 if seed == 3 else 1)
    assert crawl.lost == set()
    superfluous = sum(crawl.pages.values()) - len(crawl.pages)
    assert superfluous <= PAIRS + (superfluous + crawl.skipped - PAIRS) // 10
