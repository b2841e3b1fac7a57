"""Pages, URLs, headers and texts that are meant to be slow to process, in any size, and the plugin's entry
points.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple, cast
from unittest.mock import patch

from lxml import etree
from scrapy import Request
from scrapy.http import HtmlResponse

from benchmarks.lib.processes import timed
from scrapy_simhash import (
    Config,
    NearDuplicateDetector,
    PageFingerprinter,
    SimhashDownloaderMiddleware,
    kernel,
)
from scrapy_simhash.config import PROTECTIONS
from scrapy_simhash.crawl.items import ItemFingerprinter, TooLarge
from scrapy_simhash.crawling import Page
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.judge.hints import evidence, protections, read_canonical, read_hints, url_key
from scrapy_simhash.judge.hints.urls import are_pages_of_one_listing
from scrapy_simhash.observers.url_rules import contents
from scrapy_simhash.observers.url_rules.contents import content_of, date_in, text_without_date
from scrapy_simhash.observers.url_rules.urls import cut, order_rules, rule_shape, trap_shape
from scrapy_simhash.page.compiled import compiled_reader
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.scope import scope_of
from scrapy_simhash.verdict import Status, Verdict
from tests.stand_in import stand_in

#: Sizes to compare, in units of an attack: each is twice the previous one.
SIZES = (1, 2, 4)
#: Entry points that call other entry points.
TOGETHER = ("detector", "middleware")
#: Max factor from one size to the next; above it the work is not linear.
MAX_GROWTH = 3.0
#: Times below this, in seconds, are too short to compare.
FLOOR = 0.02
URL = "https://hostile.example/page"
PROSE = "The ship that went out to the sea came home with the tide, and nobody had seen the fog of the day. "


class Visit(NamedTuple):
    body: str
    url: str = URL
    headers: Mapping[str, list[str]] = {}


class Attack(NamedTuple):
    """An attack: *make* returns a response with a given number of units. *units* are about 100 kB, less if Scrapy's
    own parser takes quadratic time.
    """

    units: int
    make: Callable[[int], Visit]


class Case:
    """A parsed response for the entry points."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.response = self.respond(visit.url)
        self.root: etree._Element = self.response.selector.root

    def respond(self, url: str) -> HtmlResponse:
        """Return the response, which is parsed at the first use of its selector."""
        headers = cast("Any", dict(self.visit.headers))
        return HtmlResponse(
            url, body=self.visit.body.encode("utf-8", "replace"), encoding="utf-8", headers=headers
        )

    @cached_property
    def copy(self) -> HtmlResponse:
        response = self.respond(self.visit.url + "/copy")
        response.selector  # noqa: B018  # parses
        return response


def _page(body: str, head: str = "") -> Visit:
    return Visit(f"<html><head><title>Harbour</title>{head}</head><body>{body}</body></html>")


def _repeated(part: str, before: str = "", after: str = "") -> Callable[[int], Visit]:
    """Return a function that makes pages of repetitions of *part*; each ``%d`` is replaced by the number of
    the repetition.
    """
    if "%d" in part:
        return lambda n: _page(before + "".join(part.replace("%d", str(i)) for i in range(n)) + after)
    return lambda n: _page(before + part * n + after)


def _in_head(part: str) -> Callable[[int], Visit]:
    return lambda n: _page(PROSE * 5, "".join(part.replace("%d", str(i)) for i in range(n)))


def _script(text: Callable[[int], str]) -> Callable[[int], Visit]:
    return lambda n: _page(PROSE * 5, f'<script type="application/ld+json">{text(n)}</script>')


def _titled(title: Callable[[int], str], body: Callable[[int], str]) -> Callable[[int], Visit]:
    return lambda n: Visit(f"<html><head><title>{title(n)}</title></head><body>{body(n)}</body></html>")


def _words(n: int, word: str = "w%d") -> str:
    return " ".join(word.replace("%d", str(i)) for i in range(n))


_PRODUCT_SCRIPT = '<script type="application/ld+json">{"@type":"Product","name":"harbour"}</script>'
_THING = '<div itemscope itemtype="http://schema.org/Product">'

#: Attacks by name: one of each family, and all that were quadratic once.
ATTACKS: Mapping[str, Attack] = {
    # nesting
    "nested list": Attack(12_000, _repeated("<ul><li>x")),
    "nested button": Attack(6_000, _repeated("<button>x<div>")),
    "nested thing": Attack(3_000, _repeated('<div itemscope itemtype="http://schema.org/Product">')),
    # many elements of one kind, side by side
    "comments": Attack(15_000, _repeated("<!--a-->", "<p>x")),
    "comments in text": Attack(12_000, _repeated("<!--a-->y", "<p>x")),
    "processing instructions": Attack(20_000, _repeated("<?a?>", "<p>x")),
    "paragraphs": Attack(12_000, _repeated("<p>w%d")),
    "links": Attack(5_000, _repeated("<li><a href=/%d>w%d</a>")),
    "headings": Attack(7_000, _repeated("<h2>w%d x</h2>")),
    "things": Attack(2_000, _repeated('<p itemscope itemtype="Product">w%d')),
    # long elements
    "long word": Attack(100_000, _repeated("x")),
    "many attributes": Attack(1_500, lambda n: _page(f"<div {_words(n, 'a%d=1')}>{PROSE * 5}")),
    # title and headings
    "title of numbers": Attack(20_000, _titled(lambda n: "1 " * n, lambda _: "<h1>a b</h1>")),
    "title and headings": Attack(
        4_000, _titled(_words, lambda n: "".join(f"<h2>w{i} w{i + 1}</h2>" for i in range(n)))
    ),
    # characters
    "combining marks": Attack(50_000, _repeated("\u0301", "<p>a", "b")),
    # the head
    "long alternates": Attack(
        40,
        lambda n: _page(
            PROSE * 5,
            "".join(f'<link rel=alternate hreflang=en href="/{i}/{"b" * 2_500}">' for i in range(n)),
        ),
    ),
    "canonicals": Attack(2_500, _in_head('<link rel=canonical href="/c/%d">')),
    "bases": Attack(3_500, _in_head("<base href=mailto:a%d>")),
    # scripts
    "JSON-LD things": Attack(4_000, _script(lambda n: f'[{",".join(["""{"@type": "Product"}"""] * n)}]')),
    "JSON-LD nested": Attack(25_000, _script(lambda n: '{"mainEntity":' * n + '"Product"' + "}" * n)),
    # one element that is read again for each other element
    "JSON-LD scripts in attributes": Attack(
        800, lambda n: _page(f"<div {_words(2 * n, 'a%d=1')}>{_PRODUCT_SCRIPT * n}<p>{PROSE * 5}")
    ),
    "JSON-LD scripts in depth": Attack(
        1_000, lambda n: _page(f"{'<b a=1>' * 3 * n}{_PRODUCT_SCRIPT * n}<p>{PROSE * 5}")
    ),
    "comments in a heading": Attack(
        10_000, lambda n: _page(f"{_PRODUCT_SCRIPT}<h1>{'<!--a-->' * n}kettle</h1>{PROSE * 5}")
    ),
    "comments in a property": Attack(
        10_000,
        lambda n: _page(f"{_THING}<b itemprop=name>{'<!--a-->' * n}Harbour</b></div><h1>Harbour</h1>{PROSE}"),
    ),
    "buttons in depth": Attack(5_000, lambda n: _page("<div class=a>" * n + "<button>b</button>" * n)),
    # headers
    "language header": Attack(
        25_000, lambda n: _page(PROSE * 5)._replace(headers={"Content-Language": ["en, " * n]})
    ),
    # URLs: twenty kilobytes is more than a redirect may contain
    "www": Attack(5_000, lambda n: _page(PROSE * 5)._replace(url=f"https://{'www.' * n}x/")),
    # fields of items
    "open tags": Attack(15_000, lambda n: Visit("<b>" + "<script" * n)),
}


class _Entries:
    def __init__(self) -> None:
        self.fingerprinter = PageFingerprinter(Config())
        self._items = ItemFingerprinter(Config(item_fields=(("body", 1),), item_key="url"))
        self._site = SiteProfile()
        for number in range(20):
            page = f"<h1>Boat {number * 7_919}</h1><p>{PROSE}</p><p>{number} {PROSE[number:]}</p>"
            read = self.fingerprinter.read(page, site=self._site)
            if read.fingerprint is not None:
                self._site.learn(read.pieces, read.fingerprint.sketch)

    def read(self, case: Case) -> object:
        return self.fingerprinter.read(case.root)

    def read_on_a_known_site(self, case: Case) -> object:
        """Fingerprint a page without the boilerplate of its site."""
        return self.fingerprinter.read(case.root, site=self._site)

    def extract(self, case: Case) -> object:
        return self.fingerprinter.extract(case.root)

    def hints(self, case: Case) -> object:
        url = case.visit.url
        hints = read_hints(case.root, url)
        return evidence(hints, url, URL, [url]), read_canonical(case.root, url)

    def protections(self, case: Case) -> object:
        url = case.visit.url
        hints = read_hints(case.root, url)
        return list(protections(case.root, url, URL, hints, (), PROTECTIONS, contradicts=True))

    def url_rules(self, case: Case) -> object:
        """Read a page with a query as a near-duplicate, a short page, and a calendar day."""
        url = cut(f"{case.visit.url}?sid=1")
        if url is None:  # too long: URL rules ignore it
            return None
        page = Page(Request(str(URL)), case.response, self.fingerprinter)
        copy = Verdict(Status.NEAR_DUPLICATE, duplicate_of=URL)
        found: list[object] = []
        with patch.object(contents, "is_listing", return_value=True):
            for reading in (self.fingerprinter.read(case.root), Reading(None, None)):
                found.append(content_of(replace(page, verdict=copy, reading=reading), url))
        day = cut(f"{URL}/2027/04/04")
        assert day is not None
        date = date_in(day)
        assert date is not None
        return found, date_in(url), text_without_date(page, date)

    def shapes(self, case: Case) -> object:
        url = cut(case.visit.url)
        return url and [
            trap_shape(url),
            *(rule.without(url) for rule in order_rules(url, rule_shape(url.path))),
        ]

    def url(self, case: Case) -> object:
        url = case.visit.url
        url_key.cache_clear()
        return url_key(url), scope_of(url, "domain"), are_pages_of_one_listing(url, URL, [url])

    def detector(self, case: Case) -> object:
        detector = NearDuplicateDetector()
        return detector.check(case.root, case.visit.url), detector.check(case.root, case.visit.url + "/copy")

    def item(self, case: Case) -> object:
        try:
            return self._items.read({"body": case.visit.body, "url": case.visit.url})
        except TooLarge:
            return None

    def middleware(self, case: Case) -> object:
        middleware = SimhashDownloaderMiddleware.from_crawler(stand_in(action="drop_page"))

        async def visit() -> None:
            for response in (case.response, case.copy):
                request = Request(case.visit.url)
                done = middleware.process_response(request, response)
                if inspect.iscoroutine(done):
                    await done

        return asyncio.run(visit())


def entries() -> Iterator[tuple[str, Callable[[Case], object]]]:
    ways = _Entries()
    for name, _ in inspect.getmembers(_Entries, inspect.isfunction):
        if not name.startswith("_"):
            yield name.replace("_", " "), getattr(ways, name)


def seconds(way: Callable[[Case], object], case: Case, repeats: int = 1) -> float:
    """Return the shortest processor time of *repeats* calls to an entry point, without garbage collection."""
    nanoseconds = []
    for _ in range(repeats):
        gc.disable()
        try:
            nanoseconds.append(timed(partial(way, case))[1])
        finally:
            gc.enable()
    return min(nanoseconds) / 1e9


def growth(times: Sequence[float]) -> float:
    """Return the largest factor between consecutive times; times below `FLOOR` count as `FLOOR`.

    >>> growth([0.001, 0.02, 0.01]), growth([0.1, 0.2, 0.8])
    (1.0, 4.0)
    """
    return max(after / max(before, FLOOR) for before, after in pairwise(times))


@contextmanager
def kernel_of(name: str) -> Iterator[None]:
    """Read pages with Python only (``pure``), or with C if it is built (``native``)."""
    chosen = kernel.native
    kernel.native = None if name == "pure" else chosen
    compiled_reader.cache_clear()
    try:
        yield
    finally:
        kernel.native = chosen
        compiled_reader.cache_clear()
        compiled_reader()  # before a test patches its check
