"""A crawl of the whole example site as in the tutorial, compared with its labels."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeAlias

import pytest
from magazine.server import serving
from magazine.truth import Truth

from tests.crawls.harness import Crawl, crawl_one

Results: TypeAlias = "dict[str, Mapping[str, Any]]"
# Reasons to skip a page, by its status in truth.json. All other pages are compared.
SKIPPED = {"short": "short_text", "not_html": "not_html", "error": "status"}
# Link extractors skip links to these paths.
UNLINKED = ("/static/lamp.svg", "/static/lamp.css", "/files/tide-tables-2024.pdf")


@pytest.fixture(scope="module")
def truth() -> Truth:
    return Truth()


@pytest.fixture(scope="module")
def done() -> Crawl:
    # One page at a time, so that the boilerplate model at each page is the same in every run.
    settings = {"ROBOTSTXT_OBEY": True, "CONCURRENT_REQUESTS": 1, "HTTPERROR_ALLOW_ALL": True}
    with serving() as server:
        return crawl_one("Magazine", settings, urls=[server.url + path for path in ("/", *UNLINKED)])


@pytest.fixture(scope="module")
def results(done: Crawl, truth: Truth) -> Results:
    """The result of each page's first visit."""
    first: Results = {}
    for page in done.pages:
        if page.path != "/robots.txt":
            first.setdefault(truth.key(page.url), page.marks)
    return first


def test_different_pages_are_never_in_one_cluster(done: Crawl, truth: Truth) -> None:
    pairs = [(page.url, page.marks["duplicate_of"]) for page in done.pages if page.marks.get("duplicate_of")]
    assert len(pairs) > 60
    assert [pair for pair in pairs if truth.relation(*pair).expected == "different"] == []


def clusters_of(result: Mapping[str, Any]) -> set[object]:
    return {result.get("cluster"), *result.get("also_near", [])}


def test_pages_with_the_same_text_are_in_one_cluster(results: Results, truth: Truth) -> None:
    apart = []
    for a, b, relation in truth.pairs("duplicate"):
        if "new-headline" in relation.kind:
            continue  # the names differ
        clusters = [clusters_of(results[key]) for key in (a, b)]
        if relation.grade == ">=.99" and (
            clusters[0] | clusters[1] == {None} or not clusters[0] & clusters[1]
        ):
            apart.append((a, b, relation.kind))
    assert apart == []


def test_pages_without_content_are_skipped_with_the_right_reason(
    results: Results, done: Crawl, truth: Truth
) -> None:
    expected = {
        key: SKIPPED[page.status]
        for key, page in truth.pages.items()
        if page.status in SKIPPED and page.crawl
    }
    expected.pop("/robots.txt", None)
    # Pages with nothing but links may count as pages with or without text.
    expected.pop("/old")
    skipped = {key: result.get("reason") for key, result in results.items() if result["status"] == "skipped"}
    assert skipped == expected
    counted = {
        name.rpartition("/")[2]: n for name, n in done.simhash_stats.items() if name.startswith("skipped/")
    }
    assert counted == Counter(expected.values())


def test_the_crawl_has_no_errors(done: Crawl) -> None:
    assert done.complaints == []
    assert done.stat("errors/compare") == 0
    assert done.stat("processed") == sum(done.stat(name) for name in ("new", "near_duplicates", "revisits"))
