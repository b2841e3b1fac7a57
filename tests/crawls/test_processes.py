"""Several crawls in one process."""

from tests.crawls.harness import IN_ORDER, UNPROTECTED, Plan, crawl
from tests.crawls.site import article, serve


def test_two_crawlers_in_one_process_share_nothing() -> None:
    with serve({"/a": article(0), "/b": article(0), "/c": article(1)}) as site:
        plans = [
            Plan(
                "Visitor",
                {**IN_ORDER, **UNPROTECTED, "SIMHASH_ACTION": "drop_items"},
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
                "dropped/items": 1,
            }
            assert strict.verdicts == {"/a": "new", "/b": "near_duplicate", "/c": "new"}
            assert lax.verdicts == {"/b": "new", "/a": "near_duplicate"}
            assert lax.paths_scraped == ["/a", "/b"]
            # For this crawler every page is too short, and pages with the same short text are copies.
            assert blind.verdicts == {"/a": "skipped/short_text", "/b": "near_duplicate/short_text"}
