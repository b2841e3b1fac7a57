"""Unusual responses: each gets a verdict, and none causes an error or loses a page."""

import gzip
from collections.abc import Iterator

import pytest
from lxml import etree
from magazine.stories import load_stories
from scrapy.http import HtmlResponse

from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl_each, crawl_one
from tests.crawls.site import Answer, Routes, Site, article, serve, sitemap

STORY = article(0)
TEXT = "\n".join(block.text for block in load_stories()["es/saturday-market"].blocks)
SPANISH = article(key="es/saturday-market")
MAXSIZE = 200_000
GZIP = {"Content-Encoding": "gzip"}
# Scrapy 2.13 returns a JSON selector for such a page, later versions read it as a line of text.
JSON = f"skipped/{'not_html' if HtmlResponse('', body=b'{}').selector.type == 'json' else 'short_text'}"

#: The verdict on each group of responses, requested in this order.
RESPONSES: list[tuple[str, Routes]] = [
    ("new", {"/story": STORY, "/spanish": SPANISH}),
    (
        "skipped/not_html",
        {
            "/plain": Answer(TEXT, content_type="text/plain"),
            "/json": Answer('{"a": 1}', content_type="application/json"),
            "/xml": Answer("<a><b/></a>", content_type="application/xml"),
            "/image": Answer(b"\x89PNG\r\n\x1a\n" + bytes(99), content_type="image/png"),
            "/untyped-binary": Answer(bytes(range(256)), content_type=None),
            "/sitemap-as-html": sitemap(["http://a.example/"] * 40)._replace(content_type="text/html"),
        },
    ),
    (JSON, {"/json-as-html": '{"title": "Tides", "high": [1, 2, 3]}', "/list": "[]", "/null": "null"}),
    (
        "skipped/short_text",
        {
            # HTML only according to the Content-Type header.
            "/xml-as-html": "<?xml version='1.0'?><a><b/></a>",
            "/image-as-html": Answer(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9),
            "/pdf-as-html": Answer(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj <</Type /Catalog>>"),
            # Almost empty.
            "/empty": "",
            "/blank": " \n\t ",
            "/comment": "<!-- nothing -->",
            "/doctype": "<!doctype html>",
            "/frames": "<html><frameset><frame src='/story'></frameset></html>",
            "/scripts": f"<html><body><div id=app></div><script>var a = {TEXT!r}</script></body></html>",
            "/head-only": "<html><head><title>A page</title></head></html>",
        },
    ),
    (
        "near_duplicate",
        {
            # HTML without any declaration.
            "/untyped": Answer(STORY, content_type=None),
            "/xml-and-html": "<?xml version='1.0'?>" + STORY,
            "/xhtml": Answer(STORY, content_type="application/xhtml+xml"),
            # Malformed, but complete.
            "/untitled": STORY.replace("<title>", "<!--").replace("</title>", "-->"),
            "/unclosed": STORY.replace("</p>", "").replace("</main>", ""),
            "/bodiless": STORY.replace("<body>", "").replace("</body>", "").replace("</html>", ""),
            "/twice": "</div></p></html><html><body>" + STORY,
            "/stray-bytes": Answer(STORY.encode() + b"\xff\xfe\xfa"),
            "/nul": STORY.replace("<p>", "<p>\0"),
            "/gzip": Answer(gzip.compress(STORY.encode()), headers=GZIP),
            "/no-length": Answer(STORY, length=-1),
            "/language": Answer(STORY, headers={"Content-Language": "en-GB, \xe9"}),
            "/201": Answer(STORY, 201),
            # Encodings.
            "/latin-1": Answer(
                SPANISH.encode("latin-1", "replace"), content_type="text/html; charset=latin-1"
            ),
            "/undeclared": Answer(SPANISH.encode(), content_type="text/html"),
            "/utf-16": Answer(SPANISH.encode("utf-16"), content_type="text/html; charset=utf-16"),
            "/unknown-charset": Answer(STORY, content_type="text/html; charset=no-such-thing"),
        },
    ),
    # Truncated according to the Content-Length.
    ("skipped/truncated", {"/truncated": Answer(STORY, length=len(STORY) * 2)}),
    (
        "skipped/too_large",
        {
            "/huge": STORY + " " * MAXSIZE,
            "/huge-unpacked": Answer(gzip.compress((STORY + " " * MAXSIZE).encode()), headers=GZIP),
        },
    ),
    # Error pages, which reach the spider with HTTPERROR_ALLOW_ALL.
    ("skipped/status", {f"/{status}": Answer(STORY, status) for status in (404, 410, 500)}),
    ("skipped/status", {"/304": Answer("", 304)}),
]
VERDICTS = {path: verdict for verdict, routes in RESPONSES for path in routes}

# Deeper than the pages of tests/attacks.py, and larger than MAXSIZE. The verdict depends on libxml2.
NESTED = "<div>" * (100_000 if etree.LIBXML_VERSION >= (2, 14) else 5_000) + TEXT


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    pages = {path: answer for _, routes in RESPONSES for path, answer in routes.items()}
    robots_txt = Answer(TEXT, content_type="text/html")
    with serve({**pages, "/nested": NESTED, "/robots.txt": robots_txt}) as site:
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
        "pages": Plan("Visitor", everything, {"urls": site.urls(*VERDICTS)}),
        "nested": Plan("Visitor", IN_ORDER, {"urls": site.urls("/nested")}),
    }
    return crawl_each(plans)


@pytest.mark.parametrize("path", VERDICTS)
def test_every_response_has_the_expected_verdict(crawls: dict[str, Crawl], path: str) -> None:
    assert crawls["pages"].page(path).verdict == VERDICTS[path]


def test_every_page_reaches_the_spider(crawls: dict[str, Crawl]) -> None:
    assert crawls["pages"].paths_scraped == sorted(VERDICTS)
    assert crawls["nested"].paths_scraped == ["/nested"]


def test_every_page_is_counted_once_and_requests_without_a_callback_are_not(crawls: dict[str, Crawl]) -> None:
    done = crawls["pages"]
    skipped = {name: n for name, n in done.simhash_stats.items() if name.startswith("skipped/")}
    expected = list(VERDICTS.values())
    assert skipped == {name: expected.count(name) for name in set(expected) if name.startswith("skipped/")}
    assert done.stat("processed") + sum(skipped.values()) == len(VERDICTS)


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
