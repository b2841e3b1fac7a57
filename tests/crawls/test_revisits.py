"""A page is identified by its request: a repeated request is a revisit, and inherited meta does not matter."""

from threading import Barrier

import pytest

from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl, crawl_one
from tests.crawls.site import Answer, Routes, article, links, serve

IN_FLIGHT = 8


def test_a_child_request_with_the_meta_of_its_parent_has_no_result() -> None:
    routes: Routes = {
        "/first": article(0),
        "/copy": article(0, before=links("/a", "/b", "/c")),
        "/a": article(1),
        "/b": Answer("gone", 404),
        "/c": article(0),
    }
    with serve(routes) as site:
        done = crawl_one(
            "Asking",
            {**IN_ORDER, "HTTPERROR_ALLOW_ALL": True},
            urls=site.urls("/first", "/copy"),
            meta={"simhash": {"action": "mark"}},
        )
    asked = {note["asked"]: note["keys"] for note in done.notes if isinstance(note, dict)}
    # Options of the user are inherited like other meta; results are not.
    assert {path: set(keys) for path, keys in asked.items()} == {path: {"simhash"} for path in routes}
    assert done.verdicts == {
        "/first": "new",
        "/copy": "near_duplicate",
        "/a": "new",
        "/b": "skipped/status",
        "/c": "near_duplicate",
    }
    assert done.complaints == []


@pytest.fixture(scope="module")
def retried() -> dict[str, Crawl]:
    def changing(visit: int) -> str:
        return article(visit)

    routes: Routes = {"/same": article(5), "/changed": changing, "/copy": article(5)}
    plans = {
        (way, action): Plan(
            "Retrier",
            {**IN_ORDER, "SIMHASH_ACTION": action, "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter"},
            {"way": way},
        )
        for way in ("helper", "replace", "same object")
        for action in ("mark", "drop_links")
    }
    done = {}
    with serve(routes) as site:
        for plan in plans.values():
            plan.arguments["urls"] = site.urls("/same", "/changed", "/copy")  # type: ignore[index]
        for (way, action), result in zip(plans, crawl(*plans.values()), strict=True):
            done[f"{way}, {action}"] = result
    return done


RETRIES = [
    f"{way}, {action}" for way in ("helper", "replace", "same object") for action in ("mark", "drop_links")
]


@pytest.mark.parametrize("name", RETRIES)
def test_a_retry_from_a_callback_is_a_revisit_and_not_a_link(retried: dict[str, Crawl], name: str) -> None:
    done = retried[name]
    assert done.page("/same").verdict == "new"
    assert done.page("/same", 1).verdict == "revisit/unchanged"
    assert "duplicate_of" not in done.page("/same", 1).marks
    assert done.page("/copy").verdict == "near_duplicate"
    assert done.page("/copy", 1).verdict == "revisit/unchanged"
    assert done.stat("dropped/requests") == 0
    if not name.startswith("same object"):  # Scrapy itself logs a complaint about these
        assert done.complaints == []


def test_a_changed_page_is_a_changed_revisit(retried: dict[str, Crawl]) -> None:
    # Every plan requests the page twice, and its text is different at each visit.
    done = retried["helper, mark"]
    assert done.page("/changed", 1).verdict == "revisit/changed"
    assert done.page("/changed", 1).marks["distance"] > 3
    assert done.stat("revisits/changed") == 1


@pytest.fixture(scope="module")
def roundabout() -> Crawl:
    """Retries and redirects by Scrapy."""

    def tired(visit: int) -> str | Answer:
        return article(1) if visit else Answer(article(1), 503)

    routes: Routes = {
        "/page": article(0),
        "/moved": Answer(article(0), 301, headers={"Location": "/page"}),
        "/found": Answer(article(0), 302, headers={"Location": "/elsewhere"}),
        "/elsewhere": article(2),
        "/refresh": '<html><head><meta http-equiv="refresh" content="0; url=/later">' + article(3),
        "/later": article(3),
        "/tired": tired,
        "/broken": Answer(article(4), 500),
    }
    with serve(routes) as site:
        urls = site.urls("/page", "/moved", "/found", "/refresh", "/tired", "/broken")
        return crawl_one("Visitor", IN_ORDER, urls=urls)


def test_only_the_last_response_to_a_request_is_judged(roundabout: Crawl) -> None:
    assert roundabout.verdicts == {
        "/page": "revisit/unchanged",  # requested directly, and the target of /moved
        "/elsewhere": "new",
        "/later": "new",
        "/tired": "new",
        "/broken": "skipped/status",  # after all retries
    }
    assert roundabout.simhash_stats == {
        "processed": 5,
        "new": 4,
        "revisits": 1,
        "revisits/unchanged": 1,
        "skipped/status": 1,
    }
    (complaint,) = roundabout.complaints
    assert "Gave up retrying" in complaint
    assert roundabout.found == []


def test_identical_concurrent_pages_are_one_new_page_and_its_copies() -> None:
    # No response is sent before all pages are requested.
    barrier = Barrier(IN_FLIGHT, timeout=30)

    def together(visit: int) -> str:
        barrier.wait()
        return article(0)

    paths = [f"/{number}" for number in range(IN_FLIGHT)]
    with serve(dict.fromkeys(paths, together)) as site:
        settings = {"CONCURRENT_REQUESTS": IN_FLIGHT, "CONCURRENT_REQUESTS_PER_DOMAIN": IN_FLIGHT}
        done = crawl_one("Visitor", settings, urls=site.urls(*paths))
    copies = {"near_duplicates": IN_FLIGHT - 1, "near_duplicates/exact": IN_FLIGHT - 1}
    assert done.simhash_stats == {"processed": IN_FLIGHT, "new": 1, **copies}
    (original,) = {page.marks["duplicate_of"] for page in done.pages if page.verdict == "near_duplicate"}
    assert original in [page.url for page in done.pages if page.verdict == "new"]
