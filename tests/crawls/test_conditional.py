"""Conditional requests: a page that has not changed is not sent again, and what was behind it is still reached."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.lib.serving import in_thread
from tests.crawls.harness import ENABLED, IN_ORDER, Crawl, crawl_one, forked
from tests.crawls.site import Answer, Routes, article, links
from tests.crawls.validating_site import ValidatingSite
from tests.store.server import RedisServer

ALL = ["/", "/a", "/b", "/c", "/d"]
ROUTES: Routes = {
    "/": article(0, before=links("/", "/a", "/b")),
    "/a": article(1, before=links("/c", "/d")),
    "/b": article(2),
    "/c": article(3),
    "/d": article(4),
}
many_crawls = pytest.mark.slow("it needs two crawls or more")


@pytest.fixture
def site() -> Iterator[ValidatingSite]:
    with in_thread(ValidatingSite(ROUTES)) as site:
        yield site


def not_kept(done: Crawl) -> int:
    """Return how many pages could not be kept, by the log."""
    found = [re.search(r"(\d+) pages? cannot be kept", line) for line in done.log("INFO", "scrapy_simhash")]
    return sum(int(match[1]) for match in found if match)


def without_check(done: Crawl) -> bool:
    """Return whether no page was fetched in full to check its server, by the log."""
    return "(0 of them fetched in full as a check)" in "".join(done.log("INFO", "scrapy_simhash"))


def again(site: ValidatingSite, folder: Path, spider: str = "Follower", **more: Any) -> Crawl:
    """Crawl the site with a store in *folder*; what was sent before is forgotten."""
    site.sent.clear()
    settings = {name: more.pop(name) for name in list(more) if name.isupper()}
    return crawl_one(
        spider,
        {
            "SIMHASH_STORE": str(folder),
            "SIMHASH_CONDITIONAL": {"checks": 0},
            **IN_ORDER,
            **settings,
        },
        urls=more.pop("urls", [site.url("/")]),
        **more,
    )


def test_a_second_crawl_transfers_nothing_and_follows_the_same_requests(
    site: ValidatingSite, tmp_path: Path
) -> None:
    first = again(site, tmp_path, "again_spiders.Known", DEPTH_STATS_VERBOSE=True)
    assert first.complaints == []
    # The start page links to itself, and Scrapy does not remember that it was asked for.
    assert site.paths(200) == ["/", *ALL]
    second = again(site, tmp_path, "again_spiders.Known", DEPTH_STATS_VERBOSE=True)
    assert second.complaints == []
    assert site.paths(304) == ["/", *ALL]
    assert site.bytes_sent == 0
    assert (len(first.items), second.items) == (6, [])
    assert set(second.verdicts.values()) == {"revisit/unchanged"}
    assert second.page("/a").flags == ["not-modified"]
    assert second.page("/a").marks["delivered"] is True
    assert (second.stat("conditional/not_modified"), second.stat("revisits/unchanged")) == (6, 6)
    depths = [
        {k: v for k, v in done.stats.items() if k.startswith("request_depth")} for done in (first, second)
    ]
    assert depths[0] == depths[1]
    with closing(sqlite3.connect(tmp_path / "known.sqlite")) as store:
        ((pages, seen),) = store.execute("SELECT count(*), min(last_seen) >= max(started) FROM pages, runs")
    assert (pages, seen) == (10, 1)


def test_without_the_setting_nothing_is_kept_and_nothing_sent(site: ValidatingSite, tmp_path: Path) -> None:
    again(site, tmp_path, SIMHASH_CONDITIONAL=False)
    done = again(site, tmp_path, SIMHASH_CONDITIONAL=False)
    assert site.paths(304) == []
    assert not [name for name in done.simhash_stats if "conditional" in name or "recrawl" in name]
    with closing(sqlite3.connect(tmp_path / "follower.sqlite")) as store:
        assert not store.execute("SELECT 1 FROM sqlite_master WHERE name = 'answers'").fetchall()


@many_crawls
def test_a_page_that_changed_comes_in_full_and_its_new_links_are_followed(
    site: ValidatingSite, tmp_path: Path
) -> None:
    again(site, tmp_path)
    site.routes["/a"] = article(5, before=links("/c", "/d", "/e"))
    site.routes["/e"] = article(6)
    second = again(site, tmp_path)
    assert (site.paths(200), second.paths_scraped) == (["/a", "/e"], ["/a", "/e"])
    assert second.verdicts["/a"] == "revisit/changed"
    again(site, tmp_path)
    assert set(site.paths(304)) == {*ALL, "/e"}


@many_crawls
@pytest.mark.parametrize("mode", ["dates", "gzip", "both"])
def test_dates_and_compressed_pages(site: ValidatingSite, tmp_path: Path, mode: str) -> None:
    site.mode = mode
    again(site, tmp_path)
    done = again(site, tmp_path)
    assert (set(site.paths(304)), site.paths(200), done.complaints) == (set(ALL), [], [])


@many_crawls
def test_validators_of_a_page_are_not_sent_to_where_it_redirects(
    site: ValidatingSite, tmp_path: Path
) -> None:
    site.mode = "lies"  # answers 304 to whoever sends any
    again(site, tmp_path, urls=[site.url("/b")])
    site.routes["/b"] = Answer("", 301, headers={"Location": "/new"})
    site.routes["/new"] = article(7)
    done = again(site, tmp_path, urls=[site.url("/b")])
    assert [sent[:2] for sent in site.sent] == [("/b", 301), ("/new", 200)]
    assert done.paths_scraped == ["/new"]


@many_crawls
def test_a_retry_asks_conditionally_again(site: ValidatingSite, tmp_path: Path) -> None:
    site.routes["/b"] = lambda visit: Answer("", 503) if visit == 1 else article(2)
    again(site, tmp_path)
    done = again(site, tmp_path)
    assert [sent[:2] for sent in site.sent if sent[0] == "/b"] == [("/b", 503), ("/b", 304)]
    assert done.verdicts["/b"] == "revisit/unchanged"


@many_crawls
@pytest.mark.parametrize("policy", ["RFC2616Policy", "DummyPolicy"])
def test_beside_the_http_cache(site: ValidatingSite, tmp_path: Path, policy: str) -> None:
    again(site, tmp_path)  # known to the store, but not to the cache
    cache: dict[str, Any] = {
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": str(tmp_path / "cache"),
        "HTTPCACHE_POLICY": f"scrapy.extensions.httpcache.{policy}",
    }
    second = again(site, tmp_path, **cache)
    assert (set(site.paths(304)), site.paths(200)) == (set(ALL), [])
    assert "httpcache/store" not in second.stats
    # A 304 is not what the cache answers later.
    third = again(site, tmp_path, **cache, SIMHASH_CONDITIONAL=False)
    assert len(third.items) == 6
    fourth = again(site, tmp_path, **cache)
    # What the cache has comes from there, with all its items, as without the setting.
    assert len(fourth.items) == 6
    assert fourth.complaints == []


@many_crawls
def test_a_server_that_lies_is_found_out_and_not_asked_again(site: ValidatingSite, tmp_path: Path) -> None:
    site.mode = "path etags"
    again(site, tmp_path)
    site.routes["/b"] = article(8)
    second = again(site, tmp_path)
    assert second.verdicts["/b"] == "revisit/unchanged"  # believed
    third = again(site, tmp_path, SIMHASH_CONDITIONAL={"checks": 1})
    assert third.verdicts["/b"] == "revisit/changed"
    assert "/b" in third.paths_scraped
    assert third.stat("conditional/wrong") == 1
    (warning,) = third.log("WARNING", "scrapy_simhash")
    assert (
        f"127.0.0.1 is not trusted: it answered 304 for a page that had changed, {site.url('/b')}" in warning
    )
    fourth = again(site, tmp_path)
    assert (fourth.stat("conditional/sent"), site.paths(304)) == (0, [])


@many_crawls
@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("lies", "it answers 304 to an ETag that no page has"),
        ("one etag", "it sends the same ETag for different texts"),
        ("path etags", "it answered 304 for a page that had changed"),
    ],
)
def test_the_changes_of_a_server_that_has_always_lied_are_not_lost(
    tmp_path: Path, mode: str, why: str
) -> None:
    paths = [f"/{number}" for number in range(72)]
    routes = {"/": article(0, before=links(*paths))} | {
        path: article(title=f"Part {number}") for number, path in enumerate(paths, 1)
    }
    with in_thread(ValidatingSite(routes)) as site:
        site.mode = mode
        first = again(site, tmp_path, SIMHASH_CONDITIONAL={"checks": 0.01})
        assert (why in "\n".join(first.log("WARNING", "scrapy_simhash"))) == (mode == "one etag")
        site.routes |= {path: article(title=f"Part {path}, second edition") for path in paths[1:]}
        second = again(site, tmp_path, SIMHASH_CONDITIONAL={"checks": 0.01})
        assert set(paths[1:]) <= set(second.paths_scraped)
        assert why in second.log("WARNING", "scrapy_simhash")[-1]


@many_crawls
def test_an_honest_server_is_checked_more_in_the_first_crawl_that_asks_it(
    site: ValidatingSite, tmp_path: Path
) -> None:
    again(site, tmp_path, SIMHASH_CONDITIONAL={"checks": 1e-9})
    second = again(site, tmp_path, SIMHASH_CONDITIONAL={"checks": 1e-9})
    assert not without_check(second)
    third = again(site, tmp_path, SIMHASH_CONDITIONAL={"checks": 1e-9})
    assert without_check(third)
    assert [crawl.complaints for crawl in (second, third)] == [[], []]


@many_crawls
def test_what_json_makes_another_type_of_is_not_kept(site: ValidatingSite, tmp_path: Path) -> None:
    first = again(site, tmp_path, "again_spiders.Kinds")
    assert not_kept(first) == 1
    for path in ("/a", "/b"):
        site.routes[path] = article(8, before=links("/c", "/d"))
    second = again(site, tmp_path, "again_spiders.Kinds")
    assert set(second.paths_scraped) == {"/", "/a", "/b"}
    assert second.complaints == []


@many_crawls
def test_etags_that_change_each_time_are_given_up_for_dates(tmp_path: Path) -> None:
    paths = [f"/{number}" for number in range(12)]
    routes = {"/": article(0, before=links(*paths))} | {
        path: article(number) for number, path in enumerate(paths, 1)
    }
    with in_thread(ValidatingSite(routes)) as site:
        site.mode = "new etags"
        again(site, tmp_path)
        second = again(site, tmp_path)
        assert site.paths(200) != []
        assert "its ETags change although its pages do not" in second.log("WARNING", "scrapy_simhash")[-1]
        again(site, tmp_path)
        assert (len(site.paths(304)), site.paths(200)) == (13, [])


@many_crawls
def test_pages_whose_answers_cannot_be_relied_on_come_in_full(site: ValidatingSite, tmp_path: Path) -> None:
    known = "again_spiders.Known"
    again(site, tmp_path, known, broken="/b", odd="/a")
    second = again(site, tmp_path, known, metas={"/": {"simhash": {"conditional": False}}})
    # The callback of /b had failed, that of /a had yielded what cannot be kept, and /c and /d had come with that.
    assert set(site.paths(200)) == set(ALL)
    assert "/b" in second.paths_scraped


@many_crawls
def test_a_page_is_read_again_for_a_callback_that_gets_other_meta(
    site: ValidatingSite, tmp_path: Path
) -> None:
    first = again(site, tmp_path, "again_spiders.Deep", level=1)
    assert first.paths_scraped == ["/", "/", "/a", "/b"]
    # To the callback of /a, which was too deep then, the links behind it now count.
    second = again(site, tmp_path, "again_spiders.Deep", level=0)
    assert {"/c", "/d"} <= set(second.paths_scraped)
    again(site, tmp_path, "again_spiders.Deep", level=0)
    assert {"/a", "/b", "/c", "/d"} <= set(site.paths(304))


def test_pages_that_cannot_be_kept_are_told(site: ValidatingSite, tmp_path: Path) -> None:
    done = again(site, tmp_path, "again_spiders.Known", loose=True)
    assert (not_kept(done), len(done.items)) == (6, 6)
    (line,) = [line for line in done.log("INFO", "scrapy_simhash") if "cannot be kept" in line]
    assert "6 pages cannot be kept, and will come in full again: by the callback" in line


@many_crawls
@pytest.mark.parametrize("more", [{"SIMHASH_CONDITIONAL": False}, {}, {"SIMHASH_RECRAWL": "7d"}])
def test_the_items_of_a_page_that_was_told_as_gone_come_when_it_is_back(
    site: ValidatingSite, tmp_path: Path, more: dict[str, Any]
) -> None:
    settings: dict[str, Any] = {
        "SIMHASH_CHANGES": str(tmp_path / "changes.jsonl"),
        "SIMHASH_REVISIT_ACTION": "drop_items",
        "RETRY_ENABLED": False,
    }
    again(site, tmp_path, **settings)
    site.routes["/b"] = Answer("", 404)
    assert again(site, tmp_path, **settings).stat("changes/gone") == 1
    site.routes["/b"] = article(2)
    back = again(site, tmp_path, **settings, **more)
    assert (back.paths_scraped, back.page("/b").marks["change"]) == (["/b"], "back")
    assert again(site, tmp_path, **settings, **more).paths_scraped == []


@many_crawls
def test_a_form_is_neither_kept_nor_sent_again_with_an_old_token(
    site: ValidatingSite, tmp_path: Path
) -> None:
    site.mode = "dates"
    site.routes["/"] = article(0, before='<form data-token="1"></form>')
    site.routes["/in?1"] = site.routes["/in?2"] = article(5)
    again(site, tmp_path, "again_spiders.LoggedIn")
    assert b"secret" not in (tmp_path / "logged_in.sqlite").read_bytes()
    site.modes["/"] = "lies"
    site.routes["/"] = article(0, before='<form data-token="2"></form>')
    done = again(site, tmp_path, "again_spiders.LoggedIn")
    assert [sent[:2] for sent in site.sent] == [("/", 200), ("/in?2", 200)]
    assert not_kept(done) == 1


@many_crawls
def test_the_rules_of_a_crawl_spider_are_followed_again(site: ValidatingSite, tmp_path: Path) -> None:
    first = again(site, tmp_path, "Ruled")
    second = again(site, tmp_path, "Ruled")
    assert first.complaints == second.complaints == []
    # The start page was read by a rule at last, and begins a crawl otherwise.
    assert [path for path, status, _ in site.sent if status == 200] == ["/"]
    assert (site.paths(304), second.items) == (ALL, [])


@many_crawls
def test_without_links_a_304_leads_nowhere(site: ValidatingSite, tmp_path: Path) -> None:
    again(site, tmp_path, SIMHASH_CONDITIONAL={"checks": 0, "links": False})
    again(site, tmp_path, SIMHASH_CONDITIONAL={"checks": 0, "links": False})
    assert [sent[:2] for sent in site.sent] == [("/", 304)]
    # What was kept without links is of no use to a crawl that wants them.
    again(site, tmp_path)
    assert ("/", 200) in [sent[:2] for sent in site.sent]


@many_crawls
def test_with_a_store_in_redis(site: ValidatingSite, tmp_path: Path) -> None:
    pytest.importorskip("redis")
    with RedisServer(tmp_path) as server:
        redis: dict[str, Any] = {
            "SIMHASH_STORE": f"{server.url}?prefix=shared",
            "SIMHASH_CONDITIONAL": {"checks": 0.0},
        }
        first = again(site, tmp_path, **redis)
        second = again(site, tmp_path, **redis)
        assert first.complaints == second.complaints == []
        assert (set(site.paths(304)), site.paths(200), second.items) == (set(ALL), [], [])
        site.routes["/b"] = article(8)
        again(site, tmp_path, **redis)
        assert site.paths(200) == ["/b"]
        # The callback of another spider has not seen the page.
        other = again(site, tmp_path, "Visitor", **redis)
        assert (site.paths(200), other.paths_scraped) == (["/"], ["/"])


@many_crawls
def test_pages_of_a_crawl_that_was_killed_come_in_full(site: ValidatingSite, tmp_path: Path) -> None:
    settings = {
        "SIMHASH_STORE": str(tmp_path),
        "SIMHASH_CONDITIONAL": {"checks": 0},
        "JOBDIR": str(tmp_path / "job"),
    }
    program = f"""
import sys
from scrapy.crawler import CrawlerProcess
from tests.crawls.again_spiders import Known
process = CrawlerProcess({{**{ENABLED!r}, **{IN_ORDER!r}, **{settings!r}}})
process.crawl(Known, urls=[{site.url("/")!r}], kill=sys.argv[1])
process.start()
"""
    file = tmp_path / "program.py"
    file.write_text(program)
    assert forked(str(file), "/c", cwd=tmp_path).returncode != 0
    # Nothing of the killed crawl is settled, so nothing of it is asked for conditionally.
    site.sent.clear()
    assert forked(str(file), "", cwd=tmp_path).returncode == 0
    assert site.paths(304) == []
    done = again(site, tmp_path, "again_spiders.Known")
    assert set(site.paths(304)) | set(site.paths(200)) == set(ALL)
    assert done.complaints == []
