"""Features of Scrapy: spiders, cache, queues on disk, limits, feeds and pipelines."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

from tests.crawls.harness import IN_ORDER, Plan, crawl, crawl_one
from tests.crawls.site import Answer, Routes, article, links, serve
from tests.docs.reader import DOCS

PAGE = DOCS / "how-to" / "deployment.rst"
DROP_PAGE = {**IN_ORDER, "SIMHASH_ACTION": "drop_page"}
XML = "application/xml"


def sitemap(kind: str, urls: Iterable[str]) -> str:
    entry = "sitemap" if kind == "sitemapindex" else "url"
    entries = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{kind}>'
    )


def test_sitemaps_are_not_copies_and_their_pages_may_be() -> None:
    with serve({"/1": article(1), "/2": article(2), "/copy": article(1)}) as site:
        site.routes |= {
            "/robots.txt": Answer(f"Sitemap: {site.url('/index.xml')}", content_type="text/plain"),
            "/index.xml": Answer(sitemap("sitemapindex", site.urls("/a.xml", "/b.xml.gz")), content_type=XML),
            "/a.xml": Answer(sitemap("urlset", site.urls("/1", "/2")), content_type="text/html"),
            "/b.xml.gz": Answer(
                gzip.compress(sitemap("urlset", site.urls("/copy")).encode()), content_type="application/gzip"
            ),
        }
        done = crawl_one("Mapped", DROP_PAGE, urls=[site.url("/robots.txt")])
    assert done.paths_scraped == ["/1", "/2"]
    assert done.verdicts["/copy"] == "near_duplicate"
    assert done.stat("skipped/not_html") == 4
    assert done.complaints == []


def test_a_replay_from_the_cache_has_revisits_if_the_store_is_kept(tmp_path: Path) -> None:
    routes: Routes = {
        "/": article(0, before=links("/copy", "/other")),
        "/copy": article(0),
        "/other": article(1),
    }
    with serve(routes) as site:
        settings = {
            **IN_ORDER,
            "HTTPCACHE_ENABLED": True,
            "HTTPCACHE_DIR": str(tmp_path / "cache"),
            "SIMHASH_STORE": str(tmp_path / "store"),
        }
        incremental = {**settings, "SIMHASH_REVISIT_ACTION": "drop_items"}
        plans = [Plan("Follower", each, {"urls": [site.url()]}) for each in (settings, settings, incremental)]
        first, second, third = crawl(*plans)
        assert set(site.visits.values()) == {1}
    assert first.verdicts == {"/": "new", "/copy": "near_duplicate", "/other": "new"}
    assert set(second.verdicts.values()) == {"revisit/unchanged"}
    assert {path: second.page(path).marks.get("duplicate_of") for path in routes} == {
        path: first.page(path).marks.get("duplicate_of") for path in routes
    }
    assert len(second.items) == 3
    # Links are also followed from the cache.
    assert (third.items, set(third.verdicts)) == ([], set(routes))
