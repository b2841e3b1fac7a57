"""SIMHASH_SCOPE over the two hosts of the example site, and two crawls in one process."""

from collections.abc import Iterator

import pytest
from magazine.server import SiteServer, serving
from magazine.truth import Truth

from tests.crawls.harness import IN_ORDER, UNPROTECTED, Crawl, Plan, crawl
from tests.crawls.site import article, serve

REPRINTED, PRINT_VIEW = "/boats/last-wooden-ferry", "/print/last-wooden-ferry"


@pytest.fixture(scope="module")
def magazine() -> Iterator[SiteServer]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def crawls(magazine: SiteServer) -> dict[str, Crawl]:
    truth = Truth.load()
    (group,) = [group for group in truth.groups if group.kind == "syndicated" and group.urls[0] == REPRINTED]
    reprint = group.urls[1].removeprefix("partner:")
    urls = [magazine.url + REPRINTED, magazine.partner_url + reprint, magazine.url + PRINT_VIEW]
    plans = {
        scope: Plan("Visitor", {**IN_ORDER, "SIMHASH_SCOPE": scope}, {"urls": urls})
        for scope in ("crawl", "domain", "host")
    }
    return dict(zip(plans, crawl(*plans.values()), strict=True))


def verdicts(done: Crawl) -> list[str]:
    return [page.verdict for page in done.pages]


def test_a_crawl_wide_scope_compares_the_two_hosts(crawls: dict[str, Crawl]) -> None:
    assert verdicts(crawls["crawl"]) == ["new", "near_duplicate", "near_duplicate"]
    assert "scope: crawl," in crawls["crawl"].log("INFO", "scrapy_simhash")[0]


@pytest.mark.parametrize("scope", ["domain", "host"])
def test_a_narrower_scope_keeps_the_two_hosts_apart(crawls: dict[str, Crawl], scope: str) -> None:
    # Neither 127.0.0.1 nor localhost has a public suffix: each is its own domain.
    assert verdicts(crawls[scope]) == ["new", "new", "near_duplicate"]
    assert f"scope: {scope}," in crawls[scope].log("INFO", "scrapy_simhash")[0]
    assert crawls[scope].complaints == []


def test_two_crawlers_in_one_process_share_nothing() -> None:
    with serve({"/a": article(0), "/b": article(0), "/c": article(1)}) as site:
        plans = [
            Plan(
                "Visitor",
                {**IN_ORDER, **UNPROTECTED, "SIMHASH_ACTION": "drop_page"},
                {"urls": site.urls("/a", "/b", "/c")},
            ),
            Plan("Visitor", IN_ORDER, {"urls": site.urls("/b", "/a")}),
            Plan("Visitor", {**IN_ORDER, "SIMHASH_MIN_SHINGLES": 10_000}, {"urls": site.urls("/a", "/b")}),
        ]
        for order in ("together", "in turn"):
            strict, lax, blind = crawl(*plans, order=order)
            assert strict.simhash_stats == {
                "processed": 3,
                "new": 2,
                "near_duplicates": 1,
                "near_duplicates/exact": 1,
                "pages_dropped": 1,
            }
            assert strict.verdicts == {"/a": "new", "/b": "near_duplicate", "/c": "new"}
            assert lax.verdicts == {"/b": "new", "/a": "near_duplicate"}
            assert lax.paths_scraped == ["/a", "/b"]
            # Every page is too short for this one, and of those the same text is the same page.
            assert blind.verdicts == {"/a": "skipped/short_text", "/b": "near_duplicate/short_text"}
