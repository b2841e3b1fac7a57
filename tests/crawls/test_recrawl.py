"""SIMHASH_RECRAWL: known pages that are not due are not requested, and what is behind them is."""

import gzip
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.lib.serving import in_thread
from tests.crawls.harness import IN_ORDER, Crawl, crawl_one
from tests.crawls.site import Answer, article, links
from tests.crawls.test_conditional import ROUTES
from tests.crawls.validating_site import ValidatingSite

DAY = 86_400
pytestmark = pytest.mark.slow("each test needs two crawls or more")


@pytest.fixture
def site() -> Iterator[ValidatingSite]:
    with in_thread(ValidatingSite(ROUTES)) as site:
        yield site


def again(
    site: ValidatingSite, folder: Path, spider: str = "Known", start: str = "/", **settings: Any
) -> Crawl:
    site.sent.clear()
    return crawl_one(
        f"again_spiders.{spider}",
        {"SIMHASH_STORE": str(folder), **IN_ORDER, **settings},
        urls=[site.url(start)],
    )


def age(folder: Path, seconds: int, url: str = "%", spider: str = "known") -> None:
    """Have pages be so much older than they are."""
    with closing(sqlite3.connect(folder / f"{spider}.sqlite")) as store, store:
        store.execute("UPDATE pages SET last_seen = last_seen - ? WHERE url LIKE ?", (seconds, url))


def test_pages_that_are_not_old_enough_are_skipped_and_their_links_are_not(
    site: ValidatingSite, tmp_path: Path
) -> None:
    rules: dict[str, Any] = {"SIMHASH_RECRAWL": {"/[ac]$": "7d", "/d$": "always"}}
    again(site, tmp_path, **rules)
    second = again(site, tmp_path, **rules)
    assert second.complaints == []
    # /a is not requested, but /d behind it is; /b has no rule, and the start page is always asked for.
    assert sorted({path for path, _, _ in site.sent}) == ["/", "/b", "/d"]
    assert second.stat("not_due/age") == 2
    assert sorted(second.notes) == [
        "age /a",
        "age /c",
        "errback /a RequestNotDue",
        "errback /c RequestNotDue",
    ]
    assert second.page("/a").flags == ["not-due"]
    assert "/a" not in second.paths_scraped
    assert second.stats["request_depth_max"] == 2
    age(tmp_path, 8 * DAY)
    third = again(site, tmp_path, **rules)
    assert sorted({path for path, _, _ in site.sent}) == ["/", "/a", "/b", "/c", "/d"]
    assert not any(name.startswith("not_due/") for name in third.simhash_stats)


def test_no_page_is_older_than_the_floor_and_a_host_has_a_budget(
    site: ValidatingSite, tmp_path: Path
) -> None:
    again(site, tmp_path, SIMHASH_RECRAWL="365d")
    age(tmp_path, 31 * DAY, "%/c")
    again(site, tmp_path, SIMHASH_RECRAWL="365d")
    assert sorted({path for path, _, _ in site.sent}) == ["/", "/c"]
    done = again(site, tmp_path, SIMHASH_RECRAWL={"budget": 2})
    # The start page is requested again by a link of its own, which is one of the two.
    assert [path for path, _, _ in site.sent] == ["/", "/", "/a"]
    assert done.stat("not_due/budget") == 3


def test_a_page_that_never_changed_is_visited_after_as_long_again(
    site: ValidatingSite, tmp_path: Path
) -> None:
    again(site, tmp_path, SIMHASH_RECRAWL="auto")
    # Of a page that was visited once nothing is known.
    again(site, tmp_path, SIMHASH_RECRAWL="auto", SIMHASH_CONDITIONAL=True)
    assert "/b" in {path for path, _, _ in site.sent}
    with closing(sqlite3.connect(tmp_path / "known.sqlite")) as store, store:
        # First visit ten days ago, the last one now.
        since = (int(time.time()) - 10 * DAY).to_bytes(4, "big")
        rows = store.execute("SELECT name, data FROM notes WHERE kind = 'page'").fetchall()
        for name, data in rows:
            # After its length, form and use.
            store.execute("UPDATE notes SET data = ? WHERE name = ?", (data[:7] + since + data[11:], name))
    third = again(site, tmp_path, SIMHASH_RECRAWL="auto")
    assert {path for path, _, _ in site.sent} == {"/"}
    assert third.stat("not_due/auto") == 5  # and the start page, which links to itself


def test_pages_whose_sitemap_says_that_they_are_old_are_skipped(tmp_path: Path) -> None:
    with in_thread(ValidatingSite({"/a": article(1), "/b": article(2)})) as site:
        rows = "".join(
            f"<url><loc>{site.url(path)}</loc><lastmod>{date}</lastmod></url>"
            for path, date in (("/a", "2020-01-01"), ("/b", "2120-01-01T00:00:00Z"))
        )
        sitemap = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
        site.routes["/sitemap.xml"] = Answer(sitemap, content_type="application/xml")
        again(site, tmp_path, "Listed", "/sitemap.xml", SIMHASH_RECRAWL="lastmod")
        done = again(site, tmp_path, "Listed", "/sitemap.xml", SIMHASH_RECRAWL="lastmod")
        assert sorted(path for path, _, _ in site.sent) == ["/b", "/sitemap.xml"]
        assert (done.stat("not_due/lastmod"), done.complaints) == (1, [])


@pytest.mark.parametrize(
    "body",
    [b"\x1f\x8b\x08 no gzip", gzip.compress(b"<?xml version='1.0'?><urlset>lastmod\0", mtime=0)],
    ids=["no gzip", "no XML"],
)
def test_a_file_that_is_no_sitemap_is_scraped(tmp_path: Path, body: bytes) -> None:
    with in_thread(ValidatingSite({"/file.gz": Answer(body, content_type="application/gzip")})) as site:
        done = crawl_one(
            "Visitor",
            {"SIMHASH_STORE": str(tmp_path), "SIMHASH_RECRAWL": "lastmod", **IN_ORDER},
            urls=[site.url("/file.gz")],
        )
        assert (done.paths_scraped, done.log("ERROR")) == (["/file.gz"], [])


def test_pages_that_were_not_delivered_are_not_skipped(site: ValidatingSite, tmp_path: Path) -> None:
    again(site, tmp_path, SIMHASH_RECRAWL="7d")
    with closing(sqlite3.connect(tmp_path / "known.sqlite")) as store, store:
        store.execute("UPDATE pages SET delivered = NULL WHERE url LIKE '%/b'")
    done = again(site, tmp_path, SIMHASH_RECRAWL="7d")
    assert {path for path, _, _ in site.sent} == {"/", "/b"}
    assert "/b" in done.paths_scraped


def test_of_a_page_whose_latest_requests_could_not_be_kept_no_older_ones_are_yielded(
    site: ValidatingSite, tmp_path: Path
) -> None:
    again(site, tmp_path, SIMHASH_RECRAWL="7d")
    site.routes["/a"] = article(1, before=links("/c", "/d", "/e"))  # the text is the same
    site.routes["/e"] = article(6)
    age(tmp_path, 8 * DAY, "%/a")
    crawl = {"SIMHASH_STORE": str(tmp_path), "SIMHASH_RECRAWL": "7d", **IN_ORDER}
    crawl_one("again_spiders.Known", crawl, urls=[site.url("/")], odd="/a")
    age(tmp_path, 8 * DAY, "%/e")
    again(site, tmp_path, SIMHASH_RECRAWL="7d")
    # /c and /d were read with other meta, /e is old.
    assert {path for path, _, _ in site.sent} == {"/", "/a", "/c", "/d", "/e"}
