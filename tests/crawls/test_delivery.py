"""Dropping loses no text: each text that plain Scrapy delivers is delivered at least once, with any failures."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
import scrapy
from scrapy.exceptions import DropItem
from scrapy.http import Response

from scrapy_simhash import detector
from tests.crawls.harness import IN_ORDER, IS_PROMPT, Crawl, Plan, crawl, crawl_one, killed
from tests.crawls.site import Routes, Site, article, links, serve
from tests.examples import examples

#: Behaviour of a callback or a pipeline, and whether an item is scraped.
WAYS = {
    "yields": True,
    "yields slowly": True,
    "yields twice": True,
    "yields, then raises": True,
    "carries": True,
    "is silent": False,
    "raises": False,
    "is dropped": False,
    "is not stored": False,
    "is stored slowly": True,
}
ACTIONS = ("drop_items", "drop_items,drop_links", "drop_page", "drop_links")


class Fails(Exception):
    """The exception that callbacks and pipelines raise."""


class Storing:
    """A pipeline that drops, fails or waits, by a field of the item."""

    # Scrapy 2.13 passes the spider.
    async def process_item(self, item: dict[str, Any], spider: object = None) -> dict[str, Any]:
        if item["way"] == "is dropped":
            raise DropItem("as it says")
        if item["way"] == "is not stored":
            raise Fails("as it says")
        if item["way"] == "is stored slowly":
            await asyncio.sleep(0.02)
        return item


class Reader(scrapy.Spider):
    """Requests all *urls*, and scrapes the title of each page as its text, in the way that ends its path."""

    name = "reader"
    custom_settings = {"ITEM_PIPELINES": {Storing: 300}}  # noqa: RUF012  # as Scrapy has it

    def __init__(self, urls: list[str], **keywords: Any) -> None:
        super().__init__(**keywords)
        self.urls = urls

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield scrapy.Request(url)

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        way = response.url.replace("%20", " ").rpartition("/")[2]
        item = {"text": response.css("title::text").get(), "way": way, "url": response.url}
        if way == "raises":
            raise Fails("as it says")
        if way == "yields slowly":
            await asyncio.sleep(0.02)
        if way == "carries":
            url = f"{response.url.rpartition('/')[0]}/{way}/more"
            yield scrapy.Request(url, self.more, cb_kwargs={"item": item}, dont_filter=True)
        elif way != "is silent":
            yield item
        if way == "yields twice":
            yield {**item, "again": True}
        if way == "yields, then raises":
            raise Fails("as it says")

    def more(self, response: Response, item: dict[str, Any]) -> Iterator[Any]:
        yield {**item, "more": response.url}


class Page(NamedTuple):
    """A page of a generated site; *texts* are the changes of its text, by the number of the visit."""

    text: int
    number: int
    way: str
    texts: tuple[int, ...] = ()

    @property
    def path(self) -> str:
        return f"/{self.text}/{self.number}/{self.way.replace(' ', '%20')}"

    def text_at(self, visit: int) -> int:
        return (self.text, *self.texts)[visit % (1 + len(self.texts))]


def made(random: Random, changes: int = 0) -> list[Page]:
    """Return the pages of a site in the order of their links; some texts are on up to six pages, and a third of
    the pages change.
    """
    pages = []
    for text in range(random.randrange(1, 6)):
        for number in range(random.randrange(1, 7)):
            changed = [text if random.random() < 0.5 else random.randrange(6) for _ in range(changes)]
            is_fixed = random.random() < 0.6
            pages.append(Page(text, number, random.choice(list(WAYS)), () if is_fixed else tuple(changed)))
    random.shuffle(pages)
    return pages


def text_of(page: Page, visit: int) -> str:
    text = page.text_at(visit)
    return article(text, title=str(text))


def routes_of(pages: list[Page]) -> Routes:
    routes: dict[str, Any] = {}
    for page in pages:
        routes[page.path] = partial(text_of, page)
        # The second page of all items with the way "carries" has the same text.
        routes[f"{page.path}/more"] = article(11)
    return routes


def plan(site: Site, settings: dict[str, Any], pages: Iterable[Page]) -> Plan:
    return Plan("test_delivery.Reader", settings, {"urls": site.urls(*(page.path for page in pages))})


def delivered(done: Crawl) -> set[str]:
    return {item["text"] for item in done.items}


def expected(pages: list[Page], visits: Counter[Page] | None = None) -> set[str]:
    """Return the texts that plain Scrapy delivers. *visits* counts earlier visits to each page, and is updated."""
    visits = Counter() if visits is None else visits
    visits.update(pages)
    return {str(page.text_at(visits[page] - 1)) for page in pages if WAYS[page.way]}


@pytest.mark.parametrize("seed", range(examples(60)))
def test_each_text_that_plain_scrapy_delivers_is_delivered(seed: int, tmp_path: Path) -> None:
    """Each crawl of a series delivers each text; with a revisit action, or if a crawl is stopped twice, one of them
    does.
    """
    way, random = ("each", "one of them", "stopped")[seed % 3], Random(seed)
    is_stopped = way == "stopped"
    pages, visits = made(random, 0 if is_stopped else 2), Counter[Page]()
    settings: dict[str, Any] = {
        "SIMHASH_ACTION": random.choice(ACTIONS),
        "SIMHASH_PROTECT": random.choice([["facts"], ["start", "facts"]]),
        "RETRY_ENABLED": False,
        **random.choice([IN_ORDER, {"CONCURRENT_REQUESTS": 1}, {"CONCURRENT_REQUESTS": 16}]),
    }
    if random.random() < 0.3:
        settings["SIMHASH_EXACT_ACTION"] = random.choice(ACTIONS)
    if way == "one of them":
        settings["SIMHASH_REVISIT_ACTION"] = random.choice(["drop_items", "drop_page"])
    if way == "one of them" or random.random() < 0.6:
        settings["SIMHASH_STORE"] = str(tmp_path / "seen")
    if is_stopped:
        settings |= {**IN_ORDER, "SIMHASH_PROTECT": [], "JOBDIR": str(tmp_path / "job")}
    # In later crawls some pages are missing, changed, or in a different order.
    runs = [pages, *(random.sample(pages, random.randrange(1, len(pages) + 1)) for _ in range(3))]
    stops: list[dict[str, Any]] = [{} for _ in runs]
    if is_stopped:
        runs, stops = [pages] * 3, [{"CLOSESPIDER_PAGECOUNT": 5}, {"CLOSESPIDER_PAGECOUNT": 3}, {}]
    with serve(routes_of(pages)) as site:
        plans = [plan(site, {**settings, **stop}, run) for run, stop in zip(runs, stops, strict=True)]
        crawls = crawl(*plans)
    before: set[str] = set()
    for number, (run, done) in enumerate(zip(runs, crawls, strict=True)):
        assert [text for text in done.complaints if "Fails" not in text] == []
        assert done.stat("errors/action") == done.stat("errors/compare") == 0
        before = delivered(done) | (before if way != "each" else set())
        lost = expected(run, visits) - before
        assert not lost or (is_stopped and number < 2), settings


class Ledger:
    """A pipeline that writes the text of each item to a file at once, and kills the process after some of them."""

    def __init__(self, path: str, left: int) -> None:
        self._path, self._left = Path(path), left

    @classmethod
    def from_crawler(cls, crawler: Any) -> Ledger:
        return cls(crawler.settings["LEDGER"], crawler.settings.getint("ITEMS_LEFT"))

    def process_item(self, item: dict[str, Any], spider: object = None) -> dict[str, Any]:
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1
        with self._path.open("a") as file:
            file.write(f"{item['text']}\n")
        return item


class Mortal(Reader):
    """Like Reader, but the process is killed."""

    custom_settings = {"ITEM_PIPELINES": {Storing: 300, Ledger: 400}}  # noqa: RUF012

    def __init__(self, urls: list[str], most: int, **keywords: Any) -> None:
        super().__init__(urls, **keywords)
        detector._MAX_DELIVERED = most  # of this process, which is killed

    async def start(self) -> AsyncIterator[Any]:
        async for one in super().start():
            yield one
        # In case there are too few items.
        yield scrapy.Request(self.urls[0], self.kill, dont_filter=True, priority=-1, meta={"simhash": False})

    def kill(self, response: Response) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow("several crawls in processes of their own")
@pytest.mark.parametrize("seed", range(examples(4)))
@pytest.mark.parametrize("most", [1, 500])
def test_after_a_kill_an_item_is_delivered_once(seed: int, most: int, tmp_path: Path) -> None:
    random = Random(seed)
    pages = made(random)
    # Deliveries are stored one by one, or only at the end.
    settings = {
        "SIMHASH_ACTION": random.choice(["drop_items", "drop_page"]),
        "SIMHASH_REVISIT_ACTION": random.choice(["drop_items", "drop_page"]),
        "SIMHASH_PROTECT": ["facts"],
        "SIMHASH_STORE": str(tmp_path / "seen"),
        "RETRY_ENABLED": False,
        "LEDGER": str(tmp_path / "ledger"),
    }
    ledger = tmp_path / "ledger"
    ledger.touch()
    with serve(routes_of(pages)) as site:
        for _ in range(3):
            urls = site.urls(*(page.path for page in random.sample(pages, len(pages))))
            left = {"ITEMS_LEFT": random.randrange(len(pages) + 1)}
            killed("test_delivery.Mortal", {**settings, **left}, name="reader", urls=urls, most=most)
        before = set(ledger.read_text().split())
        (done,) = crawl(plan(site, settings, pages))
    assert done.stat("errors/action") == done.stat("errors/compare") == 0
    assert expected(pages) - before - delivered(done) == set()


def crawled(action: str, pages: list[Page], **settings: Any) -> Crawl:
    all_settings = {**IN_ORDER, "SIMHASH_ACTION": action, "SIMHASH_PROTECT": [], **settings}
    with serve(routes_of(pages)) as site:
        (done,) = crawl(plan(site, all_settings, pages))
    return done


@pytest.mark.parametrize("action", ["drop_items", "drop_page"])
def test_a_copy_is_delivered_instead_of_an_original_without_items(action: str) -> None:
    first, *copies = [Page(0, number, "is silent" if number == 0 else "yields") for number in range(4)]
    done = crawled(action, [first, *copies])
    # One copy is delivered, and the others are dropped.
    assert [item["text"] for item in done.items] == ["0"]
    # A page is dropped only after the item of another page has passed the pipelines.
    assert done.stat("dropped/items") + done.stat("dropped/pages") == 2


def test_items_wait_for_a_slow_original() -> None:
    pages = [Page(0, 0, "is stored slowly"), Page(0, 1, "yields"), Page(0, 2, "yields")]
    done = crawled("drop_items", pages, CONCURRENT_REQUESTS=8)
    assert len(done.items) == 1
    assert done.stats["item_dropped_count"] == 2


def test_no_more_than_three_copies_of_a_text_are_kept() -> None:
    pages = [Page(0, 0, "yields slowly"), *(Page(0, number, "yields") for number in range(1, 7))]
    done = crawled("drop_items", pages, CONCURRENT_REQUESTS=8)
    assert done.stat("waiting/items") <= 3
    assert len(done.items) == 1 + done.stat("waiting/beyond_limit")


def test_an_item_of_two_pages_is_dropped_only_if_both_are_copies() -> None:
    pages = [Page(text, 0, "carries") for text in range(3)]
    done = crawled("drop_items", [*pages, Page(0, 1, "carries")])
    # Their second pages have the same text.
    assert sorted(item["text"] for item in done.items) == ["0", "1", "2"] or not IS_PROMPT


def test_if_originals_deliver_no_extra_request_is_sent_and_no_item_is_repeated() -> None:
    texts = [Page(text, number, "yields") for number in range(3) for text in range(5)]
    for action in ("drop_items", "drop_page"):
        done = crawled(action, texts)
        assert len(done.items) == 5
        assert done.stats["downloader/request_count"] == 15
        assert done.stat("waiting/delivered") == 0


def test_the_callback_of_lists_is_called_for_a_few_copies() -> None:
    pages = [Page(text, number, "is silent") for number in range(2) for text in range(9)]
    done = crawled("drop_page", pages)
    assert done.items == []
    assert done.stat("dropped/pages") == 9 - 3 or not IS_PROMPT
    assert done.stats["downloader/request_count"] == 18


def test_links_of_a_copy_are_followed_until_those_of_its_original_are_known() -> None:
    routes: Routes = {
        "/": links("/first", "/copy"),
        "/first": article(0),
        "/copy": article(0, before=links("/other")),
        "/other": article(1),
    }
    with serve(routes) as site:
        settings = {**IN_ORDER, "SIMHASH_ACTION": "drop_links", "SIMHASH_PROTECT": []}
        done = crawl_one("Follower", settings, urls=site.urls("/"))
    assert "/other" not in done.verdicts


def test_waiting_items_are_delivered_if_the_crawl_is_stopped(tmp_path: Path) -> None:
    # In the second crawl the original is not requested, and the crawl is stopped before it is idle.
    first, copy = Page(0, 0, "yields"), Page(0, 1, "yields")
    others = [Page(text, 0, "yields") for text in (1, 2, 3)]
    settings = {
        "SIMHASH_ACTION": "drop_items",
        "SIMHASH_STORE": str(tmp_path / "seen"),
        "SIMHASH_PROTECT": [],
    }
    stopped = {**settings, "CLOSESPIDER_PAGECOUNT": 2}
    with serve(routes_of([first, copy, *others])) as site:
        plans = [
            plan(site, {**IN_ORDER, **settings}, [first, copy]),
            plan(site, {**IN_ORDER, **stopped}, [copy, *others]),
        ]
        runs = crawl(*plans)
    assert delivered(runs[0]) == {"0"}
    assert "0" in delivered(runs[1])
    assert runs[1].stat("waiting/delivered") == 1
