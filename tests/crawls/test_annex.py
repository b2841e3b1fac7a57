"""The annex of the example site, crawled with its own spiders, against the truth about it."""

from collections import Counter, defaultdict

import pytest

from tests.annex.server import serving
from tests.annex.truth import AnnexTruth
from tests.crawls.harness import IN_ORDER, Crawl, Page, Plan, crawl

# Breadth first, so that a page is reached by the fewest links.
NEAREST_FIRST = {**IN_ORDER, "DEPTH_PRIORITY": 1, "ROBOTSTXT_OBEY": True}
# An endless part is crawled this deep.
DEPTH = 12


@pytest.fixture(scope="module")
def truth() -> AnnexTruth:
    return AnnexTruth.load()


@pytest.fixture(scope="module")
def crawls(truth: AnnexTruth) -> dict[str, Crawl]:
    almanac, finder = (part.start for part in truth.endless)
    limited = {**NEAREST_FIRST, "DEPTH_LIMIT": DEPTH}
    with serving() as server:
        plans = {
            "annex": Plan("annex_spiders.Annex", NEAREST_FIRST, {"start": f"{server.url}/annex/"}),
            "cards": Plan("annex_spiders.Cards", {}, {"start": f"{server.url}/annex/"}),
            "doors": Plan(
                "annex_spiders.Annex",
                {**NEAREST_FIRST, "DEPTH_LIMIT": 1},
                {"start": " ".join(server.url + start for start in truth.starts)},
            ),
            "almanac": Plan("annex_spiders.Annex", limited, {"start": server.url + almanac}),
            "finder": Plan(
                "annex_spiders.Annex",
                {**limited, "CLOSESPIDER_PAGECOUNT": 40},
                {"start": server.url + finder},
            ),
        }
        return dict(zip(plans, crawl(*plans.values()), strict=True))


@pytest.fixture(scope="module")
def done(crawls: dict[str, Crawl]) -> Crawl:
    return crawls["annex"]


@pytest.fixture(scope="module")
def pages(done: Crawl, truth: AnnexTruth) -> dict[str, Page]:
    return {truth.key(page.url): page for page in content(done)}


def content(done: Crawl) -> list[Page]:
    """Return the pages of a crawl without robots.txt."""
    return [page for page in done.pages if page.path != "/robots.txt"]


def test_every_page_is_crawled_once_and_the_crawl_ends(done: Crawl, truth: AnnexTruth) -> None:
    assert sorted(truth.key(page.url) for page in content(done)) == sorted(truth.reachable())
    assert done.stats["finish_reason"] == "finished"


def test_items_say_how_many_links_lead_to_a_page(done: Crawl, truth: AnnexTruth) -> None:
    depths = {truth.key(item["url"]): item["depth"] for item in done.items}
    assert depths == truth.reachable()


def test_no_page_is_called_a_near_duplicate_of_a_different_one(done: Crawl, truth: AnnexTruth) -> None:
    wrong = [
        (truth.key(found["url"]), truth.key(found["original"]))
        for found in done.found
        if truth.relation(found["url"], found["original"]).expected == "different"
    ]
    assert wrong == []
    assert len(done.found) > 100


def test_every_group_of_copies_is_one_cluster(pages: dict[str, Page], truth: AnnexTruth) -> None:
    # A card with another price or another word may be told from the first, as variants of a product may.
    sure = [
        group for group in truth.groups if group.expected == "duplicate" and group.main_text_equal >= 0.98
    ]
    assert len(sure) > 20
    for group in sure:
        clusters = {pages[key].marks.get("cluster") for key in group.urls}
        assert len(clusters) == 1, group.urls
        assert None not in clusters, group.urls


def test_no_cluster_holds_two_families(pages: dict[str, Page], truth: AnnexTruth) -> None:
    families = defaultdict(set)
    for key, page in pages.items():
        if "cluster" in page.marks:
            families[page.marks["cluster"]].add(truth.pages[key].family or key)
    assert [found for found in families.values() if len(found) > 1] == []


def test_every_role_has_pages_that_are_near_duplicates(pages: dict[str, Page], truth: AnnexTruth) -> None:
    """Without them, there were nothing to protect. Products are told apart by what their structured data names."""
    found = {truth.pages[key].role for key, page in pages.items() if page.verdict == "near_duplicate"}
    assert found == {"", "start", "listing", "pagination", "language"}
    assert {page.verdict for key, page in pages.items() if truth.pages[key].role == "product"} == {"new"}


def test_pages_of_nearly_no_text_are_skipped(done: Crawl, pages: dict[str, Page], truth: AnnexTruth) -> None:
    skipped = {key for key, page in pages.items() if page.verdict.startswith("skipped")}
    assert {pages[key].verdict for key in skipped} == {"skipped/short_text"}
    assert {truth.pages[key].kind for key in skipped} == {"caption", "shell"}
    assert done.stat("skipped/short_text") == len(skipped)


@pytest.mark.parametrize("kind", ["login-wall", "consent", "captcha", "soft-404"])
def test_a_wall_is_one_cluster_of_more_than_ten(pages: dict[str, Page], truth: AnnexTruth, kind: str) -> None:
    clusters = Counter(pages[key].marks["cluster"] for key in truth.of(kind=kind))
    assert list(clusters.values()) == [len(truth.of(kind=kind))]
    assert clusters.total() > 10


def test_a_start_page_can_repeat_another(crawls: dict[str, Crawl], truth: AnnexTruth) -> None:
    first, second = (crawls["doors"].page(start) for start in truth.starts)
    assert (first.verdict, second.verdict) == ("new", "near_duplicate")


def test_cards_are_found_wherever_they_stand(crawls: dict[str, Crawl], truth: AnnexTruth) -> None:
    found = Counter((truth.key(card["url"]), card["title"], card["price"]) for card in crawls["cards"].items)
    expected = Counter(
        (key, truth.items[name].title, truth.items[name].price)
        for key, page in truth.pages.items()
        for name in page.items
    )
    assert found == expected
    bodies = {card["body"] for card in crawls["cards"].items}
    # A card that was written again with another word has another body.
    changed = [item for item in truth.items.values() if item.repeats and item.equal < 1]
    assert len(bodies) == sum(not item.repeats for item in truth.items.values()) + len(changed)


def test_the_almanac_goes_on_in_both_directions_and_repeats_itself(crawls: dict[str, Crawl]) -> None:
    entry, first, *others = content(crawls["almanac"])
    assert (entry.verdict, first.verdict) == ("new", "new")
    assert len(others) == 2 * (DEPTH - 1)
    assert {page.verdict for page in others} == {"near_duplicate"}


def test_the_finder_goes_on_and_always_says_the_same(crawls: dict[str, Crawl]) -> None:
    first, *others = content(crawls["finder"])
    assert first.verdict == "new"
    assert len(others) > 30
    assert {page.verdict for page in others} == {"near_duplicate"}
    assert crawls["finder"].stats["finish_reason"] == "closespider_pagecount"


def test_the_crawls_are_without_errors(crawls: dict[str, Crawl]) -> None:
    for done in crawls.values():
        assert done.complaints == []
        assert done.stat("errors") == 0
