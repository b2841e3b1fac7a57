"""The change feed: pages that are new, changed, moved, gone, not seen or back."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.crawls.feed import Change, change_of, feed_lines
from tests.crawls.harness import IN_ORDER, RECRAWL, Crawl, Plan, crawl, killed
from tests.crawls.site import Answer, Site, article, edited, links, serve
from tests.crawls.stores import age
from tests.store.server import RedisServer


def settings(folder: Path, **more: Any) -> dict[str, Any]:
    return {
        "SIMHASH_STORE": str(folder),
        "SIMHASH_CHANGES": str(folder / "changes.jsonl"),
        "HTTPCACHE_DIR": str(folder / "cache"),
        "RETRY_ENABLED": False,
        **more,
    }


class Feed(NamedTuple):
    """The reports of consecutive crawls."""

    crawls: list[Crawl]
    lines: list[list[Change]]

    def meta(self, number: int) -> dict[str, str | None]:
        return {note["path"]: note["change"] for note in self.crawls[number].notes if "path" in note}


def crawls_of(folder: Path, *plans: Plan) -> Feed:
    """Run the plans in sequence, each in a separate process."""
    crawls, lines = [], []
    for plan in plans:
        before = len(feed_lines(folder))
        crawls += crawl(plan)
        # Times are whole seconds, and crawls take less.
        age(folder, 60)
        assert crawls[-1].stat("errors/changes") == 0, crawls[-1].log()
        lines.append([change_of(line) for line in feed_lines(folder)[before:]])
    return Feed(crawls, lines)


def reader(folder: Path, site: Site, **more: Any) -> Plan:
    """Return a crawl with the spider Reader; *more* has its arguments and settings."""
    arguments: dict[str, Any] = {"urls": site.urls(*more.pop("urls", ["/"]))}
    arguments |= {name: more.pop(name) for name in ("failing",) if name in more}
    return Plan("changes_spiders.Reader", settings(folder, **{**IN_ORDER, **more}), arguments)


def routes() -> dict[str, Any]:
    return {
        "/": article(0, before=links("/list")),
        "/list": article(1, before=links("/a", "/b")),
        "/a": article(2),
        "/b": article(3),
    }


NEW = [Change(path, "new") for path in ("/", "/list", "/a", "/b")]


def test_meta_lines_and_signal_have_the_change(tmp_path: Path) -> None:
    def job(place: str) -> str:
        return article(2).replace("</h1>", f"</h1><dl><dt>Place</dt><dd>{place}</dd></dl>")

    pages = {**routes(), "/a": lambda visit: edited(job("Bremerhaven")) if visit else job("Hamburg")}
    with serve(pages) as site:
        plan = reader(tmp_path, site)
        done = crawls_of(tmp_path, plan, plan)
    first, second = done.crawls
    assert first.complaints == second.complaints == []
    assert done.lines == [NEW, [Change("/a", "small_change")]]
    assert done.meta(1) == {"/": None, "/list": None, "/a": "small_change", "/b": None}
    assert [note for note in second.notes if "signal" in note] == [{"signal": "/a", "change": "small_change"}]
    assert second.stat("changes/small_change") == 1
    line = feed_lines(tmp_path)[-1]
    assert line["previous_time"] == line["last_seen"] is not None
    differs = line["difference"]
    added, removed = differs["paragraphs_added"], differs["paragraphs_removed"]
    assert 1 <= len(added) == len(removed) <= 4
    assert all(" or " in text or "Bremerhaven" in text for text in differs["text_added"])
    assert (differs["facts_added"], differs["is_cut"]) == (["Bremerhaven"], False)


def test_a_missing_page_is_reported_once_and_may_come_back(tmp_path: Path) -> None:
    drop = {"SIMHASH_REVISIT_ACTION": "drop_items"}
    with serve(routes()) as site:
        plan = reader(tmp_path, site, **drop)
        crawls_of(tmp_path, plan)
        site.routes["/b"] = Answer("", 410)
        gone = crawls_of(tmp_path, plan, plan)
        assert gone.lines == [[Change("/b", "gone")], []]
        assert feed_lines(tmp_path)[-1]["http_status"] == 410
        site.routes["/b"] = article(3)
        back = crawls_of(tmp_path, plan, plan)
    assert back.lines == [[Change("/b", "back")], []]
    # The items of the page are delivered again, although its text is unchanged.
    assert [done.paths_scraped for done in back.crawls] == [["/b"], []]


@pytest.mark.slow("four crawls")
@pytest.mark.parametrize("rule", ["always", "7d"])
def test_a_missing_page_is_due_and_comes_back_with_a_304(tmp_path: Path, rule: str) -> None:
    pages = {path: Answer(page, headers={"ETag": f'"{path}"'}) for path, page in routes().items()}
    with serve(pages) as site:
        plan = reader(tmp_path, site, **RECRAWL)
        crawls_of(tmp_path, plan)
        site.routes["/b"] = Answer("", 410)
        assert crawls_of(tmp_path, plan).lines == [[Change("/b", "gone")]]
        site.routes["/b"] = pages["/b"]
        again = reader(tmp_path, site, **{**RECRAWL, "SIMHASH_RECRAWL": {"": rule}})
        assert crawls_of(tmp_path, again, again).lines == [[Change("/b", "back")], []]


@pytest.mark.parametrize(
    ("second", "more"),
    [
        ({"/list": Answer("", 500)}, {}),
        ({"/list": Answer("short", length=900)}, {}),
        ({}, {"CLOSESPIDER_PAGECOUNT": 1}),
        ({}, {"failing": "/list"}),
    ],
    ids=["error 500", "cut off", "aborted", "callback fails"],
)
def test_an_incomplete_crawl_does_not_report_pages_as_not_seen(
    tmp_path: Path, second: dict[str, Any], more: dict[str, Any]
) -> None:
    with serve(routes()) as site:
        plan = reader(tmp_path, site)
        assert crawls_of(tmp_path, plan).lines == [NEW]
        site.routes.update(second)
        again = crawls_of(tmp_path, reader(tmp_path, site, **more))
        assert (again.lines, again.crawls[0].error) == ([[]], None)
        # The next complete crawl reports them.
        site.routes |= {**routes(), "/list": article(1, before=links("/a"))}
        assert crawls_of(tmp_path, plan, plan).lines == [[Change("/b", "not_seen")], []]


@pytest.mark.parametrize("order", [("/old", "/new"), ("/new", "/old")])
def test_a_page_moves_by_a_redirect_in_any_order_of_its_links(tmp_path: Path, order: tuple[str, str]) -> None:
    with serve({"/": article(0, before=links("/old")), "/old": article(1)}) as site:
        plan = reader(tmp_path, site)
        crawls_of(tmp_path, plan)
        # In one order Scrapy drops the redirected request as a duplicate.
        site.routes["/"] = article(0, before=links(*order))
        site.routes |= {"/old": Answer(status=301, headers={"Location": "/new"}), "/new": article(1)}
        done = crawls_of(tmp_path, plan, plan)
    assert done.lines == [[Change("/new", "new"), Change("/new", "moved", "/old")], []]


@pytest.mark.parametrize(("gone", "left"), [("/a", "/b"), ("/b", "/a")])
def test_a_moved_page_is_reported_with_its_copy(tmp_path: Path, gone: str, left: str) -> None:
    copies = {"/": article(0, before=links("/a", "/b")), "/a": article(1), "/b": article(1)}
    with serve(copies) as site:
        plan = reader(tmp_path, site)
        crawls_of(tmp_path, plan)
        site.routes[gone] = Answer("", 404)
        assert crawls_of(tmp_path, plan).lines == [[Change(left, "moved", gone)]]


@pytest.mark.slow("two crawls")
def test_a_page_with_the_text_of_a_page_removed_long_ago_has_moved(tmp_path: Path) -> None:
    with serve(routes()) as site:
        plan = reader(tmp_path, site)
        crawls_of(tmp_path, plan)
        site.routes["/b"] = Answer("", 404)
        crawl(plan)
        site.routes |= {"/list": article(1, before=links("/a", "/c")), "/c": article(3)}
        assert crawls_of(tmp_path, plan).lines == [[Change("/c", "moved", "/b")]]


@pytest.mark.slow("two crawls")
def test_the_pages_of_an_older_store_are_imported(tmp_path: Path) -> None:
    with serve(routes()) as site:
        plan = reader(tmp_path, site)
        crawl(plan._replace(settings={**plan.settings, "SIMHASH_CHANGES": None}))
        site.routes["/a"] = article(5)
        del site.routes["/b"]
        done = crawls_of(tmp_path, plan)
    assert done.lines == [[Change("/a", "changed"), Change("/b", "gone")]]
    assert feed_lines(tmp_path)[0]["difference"] is None


@pytest.mark.slow("three crawls, one of them killed")
def test_changes_of_a_killed_crawl_are_reported_at_least_once(tmp_path: Path) -> None:
    plan = settings(tmp_path, **IN_ORDER)
    with serve(routes()) as site:
        crawl(reader(tmp_path, site))
        site.routes |= {
            "/a": article(5),
            "/list": article(1, before=links("/a", "/c", "/b")),
            "/c": article(6),
        }
        killed("changes_spiders.Reader", plan, urls=[site.url("/")], kill="/c")
        before = feed_lines(tmp_path)
        with (tmp_path / "changes.jsonl").open("a") as feed:
            feed.write('{"half a line')
        crawl(reader(tmp_path, site))
        assert set(map(change_of, feed_lines(tmp_path)[len(before) :])) == {
            Change("/a", "changed"),
            Change("/c", "new"),
        }
        assert crawls_of(tmp_path, reader(tmp_path, site)).lines == [[]]


@pytest.mark.slow("four crawls")
def test_a_crawl_with_a_store_in_redis(server: RedisServer, tmp_path: Path) -> None:
    with serve(routes()) as site:
        plan = reader(tmp_path, site, SIMHASH_STORE=f"{server.url}?prefix=feed")
        assert crawls_of(tmp_path, plan).lines == [NEW]
        site.routes["/a"] = edited(article(2))
        assert crawls_of(tmp_path, plan, plan).lines == [[Change("/a", "small_change")], []]
        assert feed_lines(tmp_path)[-1]["difference"]["paragraphs_removed"] != []
        site.routes["/b"] = Answer("", 404)
        assert crawls_of(tmp_path, plan).lines == [[Change("/b", "gone")]]


def test_a_crawl_in_two_runs_counts_as_one(tmp_path: Path) -> None:
    with serve(routes()) as site:
        crawls_of(tmp_path, reader(tmp_path, site))
        site.routes["/list"] = article(1, before=links("/a"))
        job = {"JOBDIR": str(tmp_path / "job")}
        crawls_of(tmp_path, reader(tmp_path, site, CLOSESPIDER_PAGECOUNT=1, **job))
        assert crawls_of(tmp_path, reader(tmp_path, site, **job)).lines == [[Change("/b", "not_seen")]]


def test_a_job_restarted_after_its_end_misses_no_page(tmp_path: Path) -> None:
    with serve(routes()) as site:
        plan = reader(tmp_path, site, JOBDIR=str(tmp_path / "job"))
        crawl(plan)
        known = len(feed_lines(tmp_path))
        crawl(plan)
    assert site.visits["/a"] == 1, "Scrapy filters requests that the job has already sent"
    assert (known, len(feed_lines(tmp_path))) == (len(NEW), known)


def test_a_file_that_cannot_be_written_stops_the_crawl(tmp_path: Path) -> None:
    with serve(routes()) as site:
        (done,) = crawl(reader(tmp_path, site, SIMHASH_CHANGES="x" * 300))
    assert "SIMHASH_CHANGES must be a file that can be written" in str(done.error)
    assert site.visits == {}
