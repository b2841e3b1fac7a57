"""The rule in real crawls: a second look or none, edited copies, siblings of one template, captions."""

from typing import Any

import pytest
from magazine.stories import load_stories

from tests.crawls.harness import IN_ORDER, UNPROTECTED, Crawl, Plan, crawl_each
from tests.crawls.site import Routes, Site, article
from tests.edits import edited

STORY = "\n\n".join(block.text for block in load_stories()["en/chowder-argument"].blocks)


def log(share: float = 0, title: str = "A harbour log", seed: int = 1962) -> str:
    """Return a page of which *share* of the words were edited."""
    text = "".join(f"<p>{part}</p>" for part in edited(STORY, share, seed).split("\n\n"))
    return f"<html lang=en><title>{title}</title><main><h1>{title}</h1>{text}</main>"


def caption(title: str, text: str, after: str = "") -> str:
    return f"<html lang=en><title>{title}</title><main><p>{text}</p></main>{after}"


PAGES: Routes = {
    "/log": log(),
    "/log/edited": log(0.1),
    "/log/rewritten": log(1),
    "/log/sibling": log(0.1, title="A quarry ledger", seed=1963),
    "/story": article(0),
    "/story/print": article(0, after="<footer>Since 1962</footer>"),
    "/loft": caption("The sail loft", "The loft in the rain."),
    "/loft/print": caption("The sail loft", "The loft in the rain.", "<footer>Since 1962</footer>"),
    "/loft/at-noon": caption("The sail loft", "The loft at noon."),
    "/store": caption("The net store", "The loft in the rain."),
    "/dot": caption("The sail loft", "Here."),
    "/dot/print": caption("The sail loft", "Here."),
}
CAPTIONS = {
    "/loft": "skipped/short_text",
    "/loft/print": "near_duplicate/short_text",
    "/loft/at-noon": "skipped/short_text",
    "/store": "skipped/short_text",
    "/dot": "skipped/short_text",
    "/dot/print": "skipped/short_text",
}


@pytest.fixture(scope="module")
def crawls(site: Site) -> dict[str, Crawl]:
    def plan(spider: str = "Visitor", **settings: Any) -> Plan:
        return Plan(spider, {**IN_ORDER, **settings}, {"urls": site.urls(*PAGES)})

    plans = {
        "default": plan(),
        "classic": plan(SIMHASH_RULE="classic"),
        "strict": plan(SIMHASH_MIN_SIMILARITY="0.99"),
        "narrow": plan(SIMHASH_MAX_DISTANCE="3"),
        "drop_page": plan(SIMHASH_ACTION="drop_page", **UNPROTECTED),
    }
    return crawl_each(plans)


def test_no_crawl_logs_an_error(crawls: dict[str, Crawl]) -> None:
    assert {name: done.complaints for name, done in crawls.items() if done.complaints} == {}


@pytest.mark.parametrize(
    ("name", "edited"),
    [("default", "near_duplicate"), ("classic", "new"), ("strict", "new"), ("narrow", "near_duplicate")],
)
def test_an_edited_copy_is_found_by_the_second_look(crawls: dict[str, Crawl], name: str, edited: str) -> None:
    verdicts = crawls[name].verdicts
    assert verdicts["/log"] == verdicts["/log/rewritten"] == verdicts["/story"] == "new"
    assert verdicts["/log/edited"] == edited
    assert verdicts["/log/sibling"] == "new", "nearly the same text about something else"
    assert verdicts["/story/print"] == "near_duplicate"


@pytest.mark.parametrize("name", ["default", "classic", "strict", "narrow", "drop_page"])
def test_of_captions_those_with_equal_text_and_title_are_near_duplicates(
    crawls: dict[str, Crawl], site: Site, name: str
) -> None:
    done = crawls[name]
    found = {page.path: page.verdict for page in done.pages if page.path in CAPTIONS}
    dropped = {"/loft/print"} if name == "drop_page" else set()
    expected = {path: verdict for path, verdict in CAPTIONS.items() if path not in dropped}
    assert {path: verdict for path, verdict in found.items() if path not in dropped} == expected
    assert done.stat("skipped/short_text") == 5
    (copy,) = [entry for entry in done.found if entry["url"] == site.url("/loft/print")]
    assert copy["original"] == site.url("/loft")


def test_a_short_copy_is_dropped_like_any_copy(crawls: dict[str, Crawl]) -> None:
    kept = [path for path in PAGES if path not in {"/log/edited", "/story/print", "/loft/print"}]
    assert crawls["drop_page"].paths_scraped == sorted(kept)
    assert crawls["drop_page"].stat("dropped/pages") == 3
