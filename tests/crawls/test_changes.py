"""The change feed: what is told of pages that are new, changed, moved, gone or back, against the truth."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.crawls.changing_site import ChangingSite, as_told, serve_changing, told
from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl
from tests.crawls.site import Answer, Site, article, edited, links, serve


def settings(folder: Path, **more: Any) -> dict[str, Any]:
    return {
        "SIMHASH_STORE": str(folder),
        "SIMHASH_CHANGES": str(folder / "changes.jsonl"),
        "RETRY_ENABLED": False,
        **more,
    }


class History(NamedTuple):
    changing: ChangingSite
    lines: list[dict[str, Any]]
    crawls: list[Crawl]


def history(folder: Path, generations: int, seed: int, **more: Any) -> History:
    """Crawl a changing site in one generation after another."""
    changing = ChangingSite(seed)
    with serve_changing(changing) as server:

        def change(path: str) -> None:
            # A crawl begins with it, and asks for it once.
            if path == "/robots.txt" and server.requests:
                changing.next()

        server.on_request = change
        plan = Plan("Follower", settings(folder, ROBOTSTXT_OBEY=True, **more), {"urls": [server.url]})
        crawls = crawl(*[plan] * generations)
    return History(changing, told(folder), crawls)


ten_crawls = pytest.mark.slow("ten crawls of a site of 60 to 90 pages")


# With conditional requests, the server of a page with an old copy lies: it says that the page has not changed.
@pytest.mark.parametrize(
    ("generations", "seed", "is_conditional"),
    [
        (2, 1, False),
        pytest.param(10, 7, False, marks=ten_crawls),
        pytest.param(10, 8, True, marks=ten_crawls),
    ],
)
def test_generations_are_told_as_they_happened(
    tmp_path: Path, generations: int, seed: int, is_conditional: bool
) -> None:
    changing, lines, crawls = history(tmp_path, generations, seed, SIMHASH_CONDITIONAL=is_conditional)
    assert (sum(crawl.stat("conditional/not_modified") for crawl in crawls) > 0) is is_conditional
    assert [crawl.error for crawl in crawls] == [None] * generations
    assert sum(crawl.stat("errors/changes") + crawl.stat("errors/action") for crawl in crawls) == 0
    numbers = range(1, generations + 1)
    feed = [{as_told(line) for line in lines if line["crawl"] == number} for number in numbers]
    assert feed == changing.truth
    new = sum(line["change"] == "new" and line["crawl"] == 1 for line in lines)
    assert any(f"Changes: {new} new" in line for line in crawls[0].log("INFO"))
    # Nothing twice, and every line with the next number.
    assert [line["number"] for line in lines] == [*range(1, sum(map(len, changing.truth)) + 1)]


class Told(NamedTuple):
    """What one crawl after another told, by path."""

    crawls: list[Crawl]
    feed: list[dict[str, str]]

    def meta(self, number: int) -> dict[str, str | None]:
        return {note["path"]: note["change"] for note in self.crawls[number].notes if "path" in note}


def crawls_of(folder: Path, *plans: Plan) -> Told:
    """Run the plans one after another."""
    crawls = crawl(*plans)
    for done in crawls:
        assert done.stat("errors/changes") == 0
    lines = told(folder)
    feed = [
        {as_told(line).path: line["change"] for line in lines if line["crawl"] == number}
        for number in range(1, len(plans) + 1)
    ]
    return Told(crawls, feed)


def reader(folder: Path, site: Site, **more: Any) -> Plan:
    """Return a crawl of the spider Reader; its arguments and settings are in *more*."""
    arguments: dict[str, Any] = {"urls": site.urls("/")}
    arguments |= {name: more.pop(name) for name in ("failing", "asks_again") if name in more}
    return Plan(
        "changes_spiders.Reader",
        settings(folder, **{**IN_ORDER, **more}),
        arguments,
    )


def routes() -> dict[str, Any]:
    """A start page, a list, and what that leads to."""
    return {
        "/": article(0, before=links("/list")),
        "/list": article(1, before=links("/a", "/b")),
        "/a": article(2),
        "/b": article(3),
    }


def test_meta_items_and_signal_say_what_has_changed(tmp_path: Path) -> None:
    pages = {**routes(), "/a": lambda visit: edited(article(2)) if visit else article(2)}
    with serve(pages) as site:
        plan = reader(tmp_path, site, SIMHASH_RESULT_FIELD="page")
        done = crawls_of(tmp_path, plan, plan)
    first, second = done.crawls
    assert first.complaints == second.complaints == []
    assert done.feed == [dict.fromkeys(["/", "/list", "/a", "/b"], "new"), {"/a": "small_change"}]
    assert done.meta(1) == {"/": "unchanged", "/list": "unchanged", "/a": "small_change", "/b": "unchanged"}
    assert [note for note in second.notes if "signal" in note] == [{"signal": "/a", "change": "small_change"}]
    assert {item["path"]: item["page"]["change"] for item in second.items} == done.meta(1)
    assert {item["path"]: item["page"]["change"] for item in first.items} == done.meta(0)
    assert second.stat("changes/unchanged") == 3
    assert second.stat("changes/small_change") == 1


def test_with_it_off_nothing_is_there(tmp_path: Path) -> None:
    with serve(routes()) as site:
        plan = Plan("changes_spiders.Jumper", {"SIMHASH_STORE": str(tmp_path)}, {"urls": site.urls("/")})
        on = Plan("changes_spiders.Jumper", settings(tmp_path / "on"), {"urls": site.urls("/")})
        off, with_it = crawl(plan, on)
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {
        "jumper.sqlite",
        "jumper.sqlite-lock",
    }
    assert not [name for name in off.stats if "change" in name]
    keys = [set(notes) for notes in off.notes]
    assert keys == [{"simhash_result"}] * len(keys)
    assert [set(notes) for notes in with_it.notes] == [{"simhash_result"}] * len(keys)
    assert {page.marks["change"] for page in with_it.pages} == {"new"}
    assert off.complaints == with_it.complaints == []


@pytest.mark.slow("it starts two processes for each reason")
@pytest.mark.parametrize(
    ("second", "more"),
    [
        ({"/list": Answer("", 500)}, {}),
        ({"/list": Answer("short", length=900)}, {}),
        ({"/": article(0)}, {"DEPTH_LIMIT": 1, "urls": ["/", "/list"]}),
        (
            {"/robots.txt": Answer("User-agent: *\nDisallow: /list", content_type="text/plain")},
            {"ROBOTSTXT_OBEY": True},
        ),
        ({}, {"CLOSESPIDER_PAGECOUNT": 1}),
        ({}, {"failing": "/list"}),
        ({}, {"SIMHASH_REVISIT_ACTION": "drop_page", "SIMHASH_PROTECT": []}),
        ({}, {"DEPTH_LIMIT": 1}),
    ],
    ids=[
        "error 500",
        "cut off",
        "moved up",
        "robots.txt",
        "aborted",
        "callback fails",
        "dropped",
        "depth limit",
    ],
)
def test_what_was_not_asked_for_is_not_gone(
    tmp_path: Path, second: dict[str, Any], more: dict[str, Any]
) -> None:
    with serve(routes()) as site:
        first = crawls_of(tmp_path, reader(tmp_path, site))
        site.routes.update(second)
        paths = more.pop("urls", ["/"])
        plan = reader(tmp_path, site, **more)
        again = crawls_of(tmp_path, plan._replace(arguments={**plan.arguments, "urls": site.urls(*paths)}))
    assert len(first.feed[0]) == 4
    assert [line["crawl"] for line in told(tmp_path)] == [1] * 4
    assert again.crawls[0].error is None


@pytest.mark.slow("two processes for each case")
@pytest.mark.parametrize("links_kept", [True, False])
@pytest.mark.parametrize("way", ["SIMHASH_RECRAWL", "SIMHASH_CONDITIONAL"])
def test_pages_that_were_not_fetched_are_not_gone(tmp_path: Path, way: str, links_kept: bool) -> None:
    pages = {path: Answer(page, headers={"ETag": f'"{path}"'}) for path, page in routes().items()}
    asked = {"SIMHASH_RECRAWL": "7d", "SIMHASH_CONDITIONAL": {"checks": 0, "links": links_kept}}
    with serve(pages) as site:
        plan = reader(tmp_path, site, **{way: asked[way]})
        crawls_of(tmp_path, plan)
        site.routes = dict.fromkeys(pages, Answer("", 304)) if way == "SIMHASH_CONDITIONAL" else dict(pages)
        done = crawls_of(tmp_path, plan)
    assert done.crawls[0].stat("conditional/not_modified") + done.crawls[0].stat("not_due/age") > 0
    assert [line["crawl"] for line in told(tmp_path)] == [1] * 4


@pytest.mark.slow("two crawls, each in a process of its own")
def test_urls_that_rules_skip_are_not_gone(tmp_path: Path) -> None:
    with serve({**routes(), "/list": article(1, before=links("/a?x=1", "/a?x=2", "/b"))}) as site:
        site.routes["/a?x=1"] = site.routes["/a?x=2"] = article(2)
        first = reader(tmp_path, site, SIMHASH_URL_RULES="off")
        rules = {
            "SIMHASH_URL_RULES": "skip",
            "SIMHASH_URL_RULES_PIN": [f"127.0.0.1:{site.port}: parameter x"],
        }
        done = crawls_of(tmp_path, first, reader(tmp_path, site, **rules))
    assert done.crawls[1].stat("url_rules/skipped") > 0, done.crawls[1].log()
    assert len(done.feed[0]) == 4  # both have the same path
    assert done.feed[1] == {}


@pytest.mark.slow("two crawls, each in a process of its own")
@pytest.mark.parametrize("order", [("/old", "/new"), ("/new", "/old")])
def test_a_page_moves_by_a_redirect_in_whatever_order_it_is_linked(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    with serve({"/": article(0, before=links("/old")), "/old": article(1)}) as site:
        plan = reader(tmp_path, site)
        crawl(plan)
        # In one order Scrapy drops the redirected request: it has seen another one for the same page.
        site.routes["/"] = article(0, before=links(*order))
        site.routes |= {"/old": Answer(status=301, headers={"Location": "/new"}), "/new": article(1)}
        done = crawls_of(tmp_path, plan)
    assert [as_told(line)[:3] for line in told(tmp_path)[2:]] == [("/new", "moved", "/old")]
    assert done.meta(0)["/new"] == "new"


@pytest.mark.slow("two crawls, each in a process of its own")
def test_the_pages_of_an_older_store_are_known(tmp_path: Path) -> None:
    with serve(routes()) as site:
        without = reader(tmp_path, site)
        crawl(without._replace(settings={**without.settings, "SIMHASH_CHANGES": None}))
        site.routes["/a"] = article(5)
        del site.routes["/b"]
        done = crawls_of(tmp_path, without)
    assert done.feed == [{"/a": "changed", "/b": "gone"}]


def test_the_page_of_a_request_that_waited_is_unchanged(tmp_path: Path) -> None:
    with serve(routes()) as site:
        plan = reader(tmp_path, site, asks_again="/a", JOBDIR=str(tmp_path / "job"))
        done = crawls_of(tmp_path, plan)
    assert done.crawls[0].complaints == []
    assert [note["change"] for note in done.crawls[0].notes if note.get("path") == "/a"] == [
        "new",
        "unchanged",
    ]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"SIMHASH_STORE": "redis://localhost"},
            "SIMHASH_CHANGES needs a store in a folder, got one of kind 'redis'",
        ),
        ({"SIMHASH_STORE": None}, "SIMHASH_CHANGES needs a store in a folder, got one of kind 'memory'"),
        ({"SIMHASH_CHANGES": "x" * 300}, "SIMHASH_CHANGES must be a file that can be written"),
    ],
)
def test_a_crawl_that_cannot_tell_changes_does_not_start(
    tmp_path: Path, more: dict[str, Any], message: str
) -> None:
    with serve(routes()) as site:
        (done,) = crawl(reader(tmp_path, site, **more))
    assert message in str(done.error)
    assert site.visits == {}


def test_an_error_of_the_register_costs_no_page(tmp_path: Path) -> None:
    with serve(routes()) as site:
        plan = reader(tmp_path, site)
        crawl(plan)
        with closing(sqlite3.connect(tmp_path / "reader.changes.sqlite")) as register, register:
            register.execute("DROP TABLE pages")
        (done,) = crawl(plan)
    assert done.verdicts == dict.fromkeys(["/", "/list", "/a", "/b"], "revisit/unchanged")
    assert done.stat("errors/changes") > 0
    assert len([text for text in done.log("WARNING") if "Error while noting changes" in text]) == 1
    assert [note["change"] for note in done.notes if "path" in note] == [None] * 4
