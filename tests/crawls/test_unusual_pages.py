"""Unusual responses: each gets a verdict, and none causes an error or loses a page."""

import gzip
from collections.abc import Iterator

import pytest
from lxml import etree
from magazine.stories import load_stories
from scrapy.http import HtmlResponse

from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl_each, crawl_one
from tests.crawls.site import Answer, Route, Site, article, serve, sitemap

STORY = article(0)
TEXT = "\n".join(block.text for block in load_stories()["es/saturday-market"].blocks)
SPANISH = article(key="es/saturday-market")
MAXSIZE = 200_000
# Scrapy 2.13 returns a JSON selector for such a page, later versions read it as a line of text.
JSON = f"skipped/{'not_html' if HtmlResponse('', body=b'{}').selector.type == 'json' else 'short_text'}"

# By path: the response and the verdict. All are requested after /story and /spanish, in this order.
PAGES: dict[str, tuple[str | Answer, str]] = {
    "/story": (STORY, "new"),
    "/spanish": (SPANISH, "new"),
    # Not HTML.
    "/plain": (Answer(TEXT, content_type="text/plain"), "skipped/not_html"),
    "/json": (Answer('{"a": 1}', content_type="application/json"), "skipped/not_html"),
    "/xml": (Answer("<a><b/></a>", content_type="application/xml"), "skipped/not_html"),
    "/image": (Answer(b"\x89PNG\r\n\x1a\n" + bytes(99), content_type="image/png"), "skipped/not_html"),
    "/untyped-binary": (Answer(bytes(range(256)), content_type=None), "skipped/not_html"),
    # HTML only according to the Content-Type header.
    "/json-as-html": (Answer('{"title": "Tides", "high": [1, 2, 3]}'), JSON),
    "/list-as-html": (Answer("[]"), JSON),
    "/null-as-html": (Answer("null"), JSON),
    "/sitemap-as-html": (
        sitemap(["http://a.example/ship"] * 40)._replace(content_type="text/html"),
        "skipped/not_html",
    ),
    "/xml-as-html": (Answer("<?xml version='1.0'?><a><b/></a>"), "skipped/short_text"),
    "/image-as-html": (Answer(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9), "skipped/short_text"),
    "/pdf-as-html": (
        Answer(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj <</Type /Catalog>>"),
        "skipped/short_text",
    ),
    # HTML without any declaration.
    "/untyped": (Answer(STORY, content_type=None), "near_duplicate"),
    "/xml-and-html": (Answer("<?xml version='1.0'?>" + STORY), "near_duplicate"),
    "/xhtml": (Answer(STORY, content_type="application/xhtml+xml"), "near_duplicate"),
    # Almost empty.
    "/empty": (Answer(""), "skipped/short_text"),
    "/blank": (Answer(" \n\t "), "skipped/short_text"),
    "/comment": (Answer("<!-- nothing -->"), "skipped/short_text"),
    "/doctype": (Answer("<!doctype html>"), "skipped/short_text"),
    "/frames": (Answer("<html><frameset><frame src='/story'></frameset></html>"), "skipped/short_text"),
    "/scripts": (
        Answer(f"<html><body><div id=app></div><script>var a = {TEXT!r}</script></body></html>"),
        "skipped/short_text",
    ),
    "/head-only": (Answer("<html><head><title>A page</title></head></html>"), "skipped/short_text"),
    # Malformed, but complete.
    "/untitled": (Answer(STORY.replace("<title>", "<!--").replace("</title>", "-->")), "near_duplicate"),
    "/unclosed": (Answer(STORY.replace("</p>", "").replace("</main>", "")), "near_duplicate"),
    "/bodiless": (
        Answer(STORY.replace("<body>", "").replace("</body>", "").replace("</html>", "")),
        "near_duplicate",
    ),
    "/twice": (Answer("</div></p></html><html><body>" + STORY), "near_duplicate"),
    "/stray-bytes": (Answer(STORY.encode() + b"\xff\xfe\xfa"), "near_duplicate"),
    "/nul": (Answer(STORY.replace("<p>", "<p>\0")), "near_duplicate"),
    "/gzip": (Answer(gzip.compress(STORY.encode()), headers={"Content-Encoding": "gzip"}), "near_duplicate"),
    "/no-length": (Answer(STORY, length=-1), "near_duplicate"),
    "/language": (Answer(STORY, headers={"Content-Language": "en-GB, \xe9"}), "near_duplicate"),
    "/201": (Answer(STORY, 201), "near_duplicate"),
    # Encodings.
    "/latin-1": (
        Answer(SPANISH.encode("latin-1", "replace"), content_type="text/html; charset=iso-8859-1"),
        "near_duplicate",
    ),
    "/undeclared": (Answer(SPANISH.encode(), content_type="text/html"), "near_duplicate"),
    "/utf-16": (
        Answer(SPANISH.encode("utf-16"), content_type="text/html; charset=utf-16"),
        "near_duplicate",
    ),
    "/unknown-charset": (Answer(STORY, content_type="text/html; charset=no-such-thing"), "near_duplicate"),
    # Truncated according to the Content-Length; too large.
    "/truncated": (Answer(STORY, length=len(STORY) * 2), "skipped/truncated"),
    "/huge": (Answer(STORY + " " * MAXSIZE), "skipped/too_large"),
    "/huge-unpacked": (
        Answer(gzip.compress((STORY + " " * MAXSIZE).encode()), headers={"Content-Encoding": "gzip"}),
        "skipped/too_large",
    ),
    # Error pages, which reach the spider with HTTPERROR_ALLOW_ALL.
    "/404": (Answer(STORY, 404), "skipped/status"),
    "/304": (Answer("", 304), "skipped/status"),
    "/410": (Answer(STORY, 410), "skipped/status"),
    "/500": (Answer(STORY, 500), "skipped/status"),
}


# Deeper than the pages of tests/attacks.py, and larger than MAXSIZE. The verdict depends on libxml2.
NESTED = "<div>" * (100_000 if etree.LIBXML_VERSION >= (2, 14) else 5_000) + TEXT


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    pages = {path: answer for path, (answer, _) in PAGES.items()}
    routes: dict[str, Route] = {**pages, "/nested": NESTED}
    routes["/robots.txt"] = Answer(TEXT, content_type="text/html")
    with serve(routes) as site:
        yield site


@pytest.fixture(scope="module")
def crawls(site: Site) -> dict[str, Crawl]:
    everything = {
        **IN_ORDER,
        "SIMHASH_MAXSIZE": MAXSIZE,
        "HTTPERROR_ALLOW_ALL": True,
        "RETRY_ENABLED": False,
        "DOWNLOAD_FAIL_ON_DATALOSS": False,
        "ROBOTSTXT_OBEY": True,
    }
    plans = {
        "pages": Plan("Visitor", everything, {"urls": site.urls(*PAGES)}),
        "nested": Plan("Visitor", IN_ORDER, {"urls": site.urls("/nested")}),
    }
    return crawl_each(plans)


@pytest.mark.parametrize("path", PAGES)
def test_every_response_has_the_expected_verdict(crawls: dict[str, Crawl], path: str) -> None:
    assert crawls["pages"].page(path).verdict == PAGES[path][1]


def test_every_page_reaches_the_spider(crawls: dict[str, Crawl]) -> None:
    assert crawls["pages"].paths_scraped == sorted(PAGES)
    assert crawls["nested"].paths_scraped == ["/nested"]


def test_every_page_is_counted_once_and_requests_without_a_callback_are_not(crawls: dict[str, Crawl]) -> None:
    done = crawls["pages"]
    skipped = {name: n for name, n in done.simhash_stats.items() if name.startswith("skipped/")}
    expected = [verdict for _, verdict in PAGES.values()]
    assert skipped == {name: expected.count(name) for name in set(expected) if name.startswith("skipped/")}
    assert done.stat("processed") + sum(skipped.values()) == len(PAGES)


@pytest.mark.parametrize("name", ["pages", "nested"])
def test_no_page_causes_an_error(crawls: dict[str, Crawl], name: str) -> None:
    assert crawls[name].stat("errors/compare") == 0
    assert crawls[name].complaints == []


def test_sitemaps_are_not_copies_and_their_pages_may_be() -> None:
    with serve({"/1": article(1), "/2": article(2), "/copy": article(1)}) as site:
        packed = gzip.compress(str(sitemap(site.urls("/copy")).body).encode())
        site.routes |= {
            "/robots.txt": Answer(f"Sitemap: {site.url('/index.xml')}", content_type="text/plain"),
            "/index.xml": sitemap(site.urls("/a.xml", "/b.xml.gz"), "sitemapindex"),
            "/a.xml": sitemap(site.urls("/1", "/2"))._replace(content_type="text/html"),
            "/b.xml.gz": Answer(packed, content_type="application/gzip"),
        }
        settings = {**IN_ORDER, "SIMHASH_ACTION": "drop_page"}
        done = crawl_one("Mapped", settings, urls=[site.url("/robots.txt")])
    assert done.paths_scraped == ["/1", "/2"]
    assert done.verdicts["/copy"] == "near_duplicate"
    assert done.stat("skipped/not_html") == 4
    assert done.complaints == []
