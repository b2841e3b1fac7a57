"""SIMHASH_SCOPE over the two hosts of the example site, and two crawls in one process."""

from collections.abc import Iterator

import pytest
from magazine.server import SiteServer, serving
from magazine.truth import Truth

from tests.crawls.harness import IN_ORDER, UNPROTECTED, Crawl, Plan, crawl, crawl_each
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
    return crawl_each(plans)


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


@pytest.mark.parametrize("scope", ["host", "tests.crawls.scopes.by_last_letter"])
def test_a_copy_in_another_scope_is_told_if_asked_for_and_nothing_is_done_about_it(scope: str) -> None:
    with serve({path: article(0) for path in ("/a", "/copy/a", "/b", "/copy/b")}) as site:
        other = "localhost" if scope == "host" else "127.0.0.1"
        urls = [*site.urls("/a", "/copy/a"), site.url("/b", other), site.url("/copy/b", other)]
        settings = {**IN_ORDER, "SIMHASH_SCOPE": scope, "SIMHASH_ACTION": "drop_items"}
        told, silent = crawl(
            Plan("Visitor", {**settings, "SIMHASH_SCOPE": f"{scope}?across=true"}, {"urls": urls}),
            Plan("Visitor", settings, {"urls": urls}),
        )
    for done in (told, silent):
        assert done.complaints == []
        found = {page.url: page.marks.get("duplicate_of") for page in done.pages}
        assert found == {urls[0]: None, urls[1]: urls[0], urls[2]: None, urls[3]: urls[2]}
        assert done.paths_scraped == ["/a", "/b"]
    assert {page.url: page.marks["elsewhere"] for page in told.pages if "elsewhere" in page.marks} == {
        urls[2]: urls[0],
        urls[3]: urls[0],
    }
    assert told.stat("elsewhere") == 2
    assert silent.stat("elsewhere") == 0
    assert not [page for page in silent.pages if "elsewhere" in page.marks]


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
                "dropped/pages": 1,
            }
            assert strict.verdicts == {"/a": "new", "/b": "near_duplicate", "/c": "new"}
            assert lax.verdicts == {"/b": "new", "/a": "near_duplicate"}
            assert lax.paths_scraped == ["/a", "/b"]
            # Every page is too short for this one, and of those the same text is the same page.
            assert blind.verdicts == {"/a": "skipped/short_text", "/b": "near_duplicate/short_text"}
