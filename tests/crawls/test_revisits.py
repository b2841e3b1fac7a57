"""A page is identified by its request: a repeated request is a revisit."""

from threading import Barrier

import pytest

from tests.crawls.harness import IN_ORDER, crawl_one
from tests.crawls.site import Answer, Routes, article, serve

IN_FLIGHT = 8


@pytest.mark.parametrize("action", ["mark", "drop_links"])
@pytest.mark.parametrize("way", ["helper", "replace", "same object"])
def test_a_retry_from_a_callback_is_a_revisit_and_not_a_link(way: str, action: str) -> None:
    routes: Routes = {"/same": article(5), "/changed": article, "/copy": article(5)}
    settings = {"SIMHASH_ACTION": action, "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter"}
    with serve(routes) as site:
        done = crawl_one("Retrier", {**IN_ORDER, **settings}, urls=site.urls(*routes), way=way)
    first, second = ([done.page(path, visit).verdict for path in routes] for visit in (0, 1))
    assert first == ["new", "new", "near_duplicate"]
    assert second == ["revisit/unchanged", "revisit/changed", "revisit/unchanged"]
    assert "duplicate_of" not in done.page("/same", 1).marks
    assert done.page("/changed", 1).marks["distance"] > 3
    assert done.stat("dropped/requests") == 0
    if way != "same object":  # Scrapy itself logs a complaint about these
        assert done.complaints == []


def test_only_the_last_response_to_a_request_is_judged() -> None:
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
        roundabout = crawl_one("Visitor", IN_ORDER, urls=urls)
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
