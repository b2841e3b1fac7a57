"""SIMHASH_RECRAWL: known pages are requested conditionally or not at all, and their links are followed."""

import gzip
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from magazine.server import in_thread

from scrapy_simhash.observers.recrawl.middleware import TOGETHER
from tests.crawls.harness import IN_ORDER, RECRAWL, WITHOUT_REACTOR, Crawl, crawl_one, killed
from tests.crawls.site import Answer, Routes, article, links, sitemap
from tests.crawls.stores import age
from tests.crawls.validating_site import ValidatingSite
from tests.store.server import RedisServer

DAY = 86_400
ALL = ["/", "/a", "/b", "/c", "/d"]
ROUTES: Routes = {
    "/": article(0, before=links("/a", "/b")),
    "/a": article(1, before=links("/c", "/d")),
    "/b": article(2),
    "/c": article(3),
    "/d": article(4),
}
SPIDER = "again_spiders.Again"


@pytest.fixture
def site() -> Iterator[ValidatingSite]:
    with in_thread(ValidatingSite(ROUTES)) as site:
        yield site


def settings(folder: Path, rules: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "SIMHASH_STORE": str(folder),
        "HTTPCACHE_DIR": str(folder / "cache"),
        **RECRAWL,
        **({"SIMHASH_RECRAWL": rules} if rules else {}),
        **IN_ORDER,
        **more,
    }


def again(
    site: ValidatingSite,
    folder: Path,
    rules: dict[str, str] | None = None,
    spider: str = "Again",
    **more: Any,
) -> Crawl:
    """Crawl the site with a store in *folder*; reset its list of responses."""
    site.sent.clear()
    given = {name: more.pop(name) for name in list(more) if name.isupper()}
    urls = more.pop("urls", [site.url("/")])
    reactor = more.pop("reactor", "asyncio")
    plan = settings(folder, rules, **given)
    return crawl_one(f"again_spiders.{spider}", plan, urls=urls, reactor=reactor, **more)


def row(folder: Path, url: str) -> tuple[int, int, int]:
    """Return visits and changes of a page, and its last visit minus the time when it was last seen."""
    question = "SELECT visits, changes, last_visit - last_seen FROM pages WHERE url LIKE ?"
    with closing(sqlite3.connect(folder / "again.sqlite")) as store:
        ((visits, changes, gone),) = store.execute(question, (url,)).fetchall()
    return visits, changes, gone


@pytest.mark.parametrize("reactor", ["asyncio", "select", WITHOUT_REACTOR])
def test_a_second_crawl_downloads_no_page_and_runs_every_callback(
    site: ValidatingSite, tmp_path: Path, reactor: str
) -> None:
    first = again(site, tmp_path, reactor=reactor)
    assert first.complaints == []
    assert (site.paths(200), site.paths(304)) == (ALL, [])
    second = again(site, tmp_path, reactor=reactor)
    assert second.complaints == []
    assert (site.paths(304), site.bytes_sent) == (ALL, 0)
    assert second.paths_scraped == first.paths_scraped == ALL
    assert set(second.verdicts.values()) == {"revisit/unchanged"}
    assert second.page("/a").flags == ["cached", "not-modified"]
    assert (second.stat("recrawl/not_modified"), second.stat("revisits/unchanged")) == (5, 5)
    assert row(tmp_path, "%/a") == (2, 0, 0)


def test_items_of_unchanged_pages_in_the_cache_are_dropped(site: ValidatingSite, tmp_path: Path) -> None:
    drop: dict[str, Any] = {"SIMHASH_REVISIT_ACTION": "drop_items"}
    assert again(site, tmp_path, **drop).paths_scraped == ALL
    second = again(site, tmp_path, **drop)
    assert (site.paths(200), second.items) == ([], [])
    third = again(site, tmp_path, {"": "7d"}, **drop)
    assert (site.paths(304), site.paths(200), third.items) == (["/"], [], [])


def test_a_changed_page_is_fetched_in_full_and_its_new_links_are_followed(
    site: ValidatingSite, tmp_path: Path
) -> None:
    again(site, tmp_path)
    site.routes["/a"] = article(5, before=links("/c", "/d", "/e"))
    site.routes["/e"] = article(6)
    second = again(site, tmp_path)
    assert site.paths(200) == ["/a", "/e"]
    assert (second.verdicts["/a"], row(tmp_path, "%/a")) == ("revisit/changed", (2, 1, 0))
    again(site, tmp_path)
    assert (set(site.paths(304)), site.paths(200)) == ({*ALL, "/e"}, [])


@pytest.mark.parametrize("mode", ["dates", "gzip", "both", "none"])
def test_pages_are_fetched_in_full_only_without_validators(
    site: ValidatingSite, tmp_path: Path, mode: str
) -> None:
    site.mode = mode
    again(site, tmp_path)
    done = again(site, tmp_path)
    assert set(site.paths(200 if mode == "none" else 304)) == {path for path, _, _ in site.sent} == set(ALL)
    assert done.complaints == []
    assert set(done.verdicts.values()) == {"revisit/unchanged"}


def test_pages_that_are_not_due_are_not_requested_and_their_links_are_followed(
    site: ValidatingSite, tmp_path: Path
) -> None:
    rules = {"/[ac]$": "7d", "/d$": "always"}
    again(site, tmp_path, rules)
    second = again(site, tmp_path, rules)
    assert second.complaints == []
    # /b has no rule; /d can only be reached through /a.
    assert sorted({path for path, _, _ in site.sent}) == ["/", "/b", "/d"]
    assert (second.stat("recrawl/not_due"), second.notes) == (2, [])
    assert second.paths_scraped == ALL, "callbacks are called with pages from the cache"
    assert second.page("/a").flags == ["cached", "not-due"]
    assert second.verdicts["/a"] == "revisit/unchanged"
    # These pages count as neither visited nor unseen.
    assert row(tmp_path, "%/a")[:2] == (1, 0)
    age(tmp_path, 8 * DAY)
    third = again(site, tmp_path, rules)
    assert sorted({path for path, _, _ in site.sent}) == ALL
    assert third.stat("recrawl/not_due") == 0


def test_pages_with_an_old_sitemap_date_are_not_requested(tmp_path: Path) -> None:
    paths = {"/a": "2020", "/b": "2120-01-01T00:00:00Z", "/ä": "2020-02", "/d": "2020-02-03"}
    routes = {"/%C3%A4": article(3)} | {path: article(number) for number, path in enumerate(paths)}
    with in_thread(ValidatingSite(routes)) as site:
        site.routes["/sitemap.xml"] = sitemap({site.url(path): date for path, date in paths.items()})
        once = [again(site, tmp_path, {"": "lastmod"}, "Listed", urls=[site.url("/sitemap.xml")])]
        once.append(again(site, tmp_path, {"": "lastmod"}, "Listed", urls=[site.url("/sitemap.xml")]))
        assert sorted(path for path, _, _ in site.sent) == ["/b", "/sitemap.xml"]
        assert (once[1].stat("recrawl/not_due"), once[1].complaints) == (3, [])
        assert once[0].paths_scraped == once[1].paths_scraped


@pytest.mark.parametrize(
    "body",
    [b"\x1f\x8b\x08 no gzip", gzip.compress(b"<?xml version='1.0'?><urlset>lastmod\0", mtime=0)],
    ids=["no gzip", "no XML"],
)
def test_a_file_that_is_not_a_sitemap_is_scraped(tmp_path: Path, body: bytes) -> None:
    with in_thread(ValidatingSite({"/file.gz": Answer(body, content_type="application/gzip")})) as site:
        done = crawl_one("Visitor", settings(tmp_path, {"": "lastmod"}), urls=[site.url("/file.gz")])
        assert (done.paths_scraped, done.log("ERROR")) == (["/file.gz"], [])


@pytest.mark.slow("three crawls of seventy pages")
@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("lies", "it answers 304 to an ETag that no page has"),
        ("one etag", "it sends the same ETag with different texts"),
        ("path etags", "it answered 304 for a page that had changed"),
    ],
)
def test_servers_that_answer_304_wrongly_lose_no_change(tmp_path: Path, mode: str, why: str) -> None:
    paths = [f"/{number}" for number in range(72)]
    routes = {"/": article(0, before=links(*paths))} | {
        path: article(title=f"Part {number}") for number, path in enumerate(paths, 1)
    }
    with in_thread(ValidatingSite(routes)) as site:
        site.mode = mode
        first = again(site, tmp_path, drawn=None)
        assert (why in "\n".join(first.log("WARNING", "scrapy_simhash"))) == (mode == "one etag")
        site.routes |= {path: article(title=f"Part {path}, second edition") for path in paths[1:]}
        second = again(site, tmp_path, drawn=None)
        seen = {page.path for page in second.pages if page.verdict != "revisit/unchanged"}
        assert set(paths[1:]) <= seen
        if mode != "one etag":
            (line,) = [line for line in second.log("WARNING", "scrapy_simhash") if why in line]
            assert "Its pages are fetched in full for 30 days" in line
        # Each page at most once conditionally, as a check, and once in full.
        assert len(site.sent) <= 3 * 74
        third = again(site, tmp_path, drawn=None)
        assert (site.paths(304), third.stat("recrawl/checked")) == ([], 0)


def test_a_304_to_a_full_request_is_final(site: ValidatingSite, tmp_path: Path) -> None:
    again(site, tmp_path)
    site.routes["/b"] = Answer("", 304)
    site.mode = "lies"
    done = again(site, tmp_path, drawn=None)
    assert len([path for path, _, _ in site.sent if path == "/b"]) <= 3
    assert "/b" in done.paths_scraped


def test_a_correct_server_is_checked_less_and_less(site: ValidatingSite, tmp_path: Path) -> None:
    again(site, tmp_path)
    checked = again(site, tmp_path, drawn=0.5)
    assert (checked.stat("recrawl/checked"), checked.stat("recrawl/wrong_hosts")) == (5, 0)
    with closing(sqlite3.connect(tmp_path / "cache" / "again.pages.sqlite")) as cache, cache:
        cache.execute("UPDATE hosts SET unmodified = 1000000")
    assert again(site, tmp_path, drawn=0.5).stat("recrawl/checked") == 0


def test_validators_of_a_page_are_not_sent_to_its_redirect_target(
    site: ValidatingSite, tmp_path: Path
) -> None:
    site.mode = "lies"  # answers 304 to all conditional requests
    again(site, tmp_path, urls=[site.url("/b")])
    site.routes["/b"] = Answer("", 301, headers={"Location": "/new"})
    site.routes["/new"] = article(7)
    done = again(site, tmp_path, urls=[site.url("/b")])
    assert [sent[:2] for sent in site.sent] == [("/b", 301), ("/new", 200)]
    assert done.paths_scraped == ["/new"]


def test_an_error_is_retried_and_never_replaced_from_the_cache(site: ValidatingSite, tmp_path: Path) -> None:
    again(site, tmp_path)
    site.routes["/b"] = lambda visit: Answer("", 503) if visit == 1 else article(2)
    done = again(site, tmp_path)
    assert [sent[:2] for sent in site.sent if sent[0] == "/b"] == [("/b", 503), ("/b", 304)]
    assert done.verdicts["/b"] == "revisit/unchanged"
    site.routes["/b"] = Answer("", 503)
    done = again(site, tmp_path)
    assert (done.verdicts["/b"], done.stats["retry/max_reached"]) == ("skipped/status", 1)
    # A lost connection.
    site.routes["/b"] = Answer("", length=1_000)
    done = again(site, tmp_path, RETRY_TIMES=1)
    assert "/b" not in done.paths_scraped
    assert len([path for path, _, _ in site.sent if path == "/b"]) == 2


def test_the_session_of_the_last_crawl_is_not_sent_again(site: ValidatingSite, tmp_path: Path) -> None:
    site.routes["/a"] = Answer(ROUTES["/a"], headers={"Set-Cookie": "session=old"})  # type: ignore[arg-type]
    again(site, tmp_path)
    site.cookies.clear()
    again(site, tmp_path, {"": "7d"})
    assert set(site.cookies) == {""}


@pytest.mark.parametrize("vary", ["*", "Cookie, Accept-Encoding"])
def test_a_page_that_varies_by_request_headers_is_fetched_in_full(
    site: ValidatingSite, tmp_path: Path, vary: str
) -> None:
    site.routes["/"] = article(0, before=links("/b"))
    site.routes["/b"] = Answer(ROUTES["/b"], headers={"Vary": vary})  # type: ignore[arg-type]
    again(site, tmp_path, DEFAULT_REQUEST_HEADERS={"Cookie": "who=me"}, COOKIES_ENABLED=False)
    again(site, tmp_path, DEFAULT_REQUEST_HEADERS={"Cookie": "who=you"}, COOKIES_ENABLED=False)
    assert (site.paths(200), site.paths(304)) == (["/b"], ["/"])
    again(site, tmp_path, DEFAULT_REQUEST_HEADERS={"Cookie": "who=you"}, COOKIES_ENABLED=False)
    assert site.paths(200) == (["/b"] if vary == "*" else [])
    assert b"who=" not in (tmp_path / "cache" / "again.pages.sqlite").read_bytes()


def test_requests_of_a_logged_in_user_are_sent_as_without_the_policy(
    site: ValidatingSite, tmp_path: Path
) -> None:
    for _ in range(2):
        done = again(site, tmp_path, spider="Cookies")
        assert set(site.paths(200)) >= {"/a", "/b", "/c", "/d"}
        assert done.complaints == []
    again(site, tmp_path)
    again(site, tmp_path, metas={"/": {"dont_cache": True}})
    assert ("/", 200) in [sent[:2] for sent in site.sent]


def test_an_interstitial_is_not_cached(site: ValidatingSite, tmp_path: Path) -> None:
    wall = "<title>Log in</title><form><input name=u><input type=password name=p></form>"
    again(site, tmp_path, {"": "7d"})
    site.routes["/b"] = wall
    age(tmp_path, 8 * DAY)
    assert again(site, tmp_path, {"": "7d"}).verdicts["/b"] == "skipped/interstitial"
    site.routes["/b"] = ROUTES["/b"]
    third = again(site, tmp_path, {"": "7d"})
    assert ("/b", 304) in [sent[:2] for sent in site.sent]
    assert third.verdicts["/b"] == "revisit/unchanged"


@pytest.mark.parametrize("trouble", ["damaged", "damaged rows", "another version", "a folder", "no database"])
def test_an_unusable_cache_is_logged_and_pages_are_fetched_in_full(
    site: ValidatingSite, tmp_path: Path, trouble: str
) -> None:
    again(site, tmp_path)
    file = tmp_path / "cache" / "again.pages.sqlite"
    if trouble == "damaged":
        data = bytearray(file.read_bytes())
        data[8192:] = b"\xff" * (len(data) - 8192)
        file.write_bytes(data)
    elif trouble == "damaged rows":
        with closing(sqlite3.connect(file)) as cache, cache:
            cache.execute("UPDATE pages SET hash = 'text', data = x'00'")
            cache.execute("UPDATE hosts SET unmodified = 'text', wrong = 'text'")
    elif trouble == "another version":
        with closing(sqlite3.connect(file)) as cache:
            cache.execute("PRAGMA user_version = 99")
    elif trouble == "no database":
        file.write_bytes(b"no database" * 1000)
    else:
        file.unlink()
        file.mkdir()
    done = again(site, tmp_path)
    assert (set(site.paths(200)), done.complaints) == (set(ALL), [])
    (line,) = [line for line in done.log("WARNING", "scrapy_simhash") if "HTTP cache" in line]
    assert "so pages are fetched in full" in line


def test_a_page_without_a_row_is_read_again(site: ValidatingSite, tmp_path: Path) -> None:
    again(site, tmp_path)
    (tmp_path / "again.sqlite").unlink()
    done = again(site, tmp_path, {"": "7d"})
    assert (site.paths(200), set(done.verdicts.values())) == ([], {"new"})


def test_a_crawl_with_a_store_in_redis(server: RedisServer, site: ValidatingSite, tmp_path: Path) -> None:
    redis: dict[str, Any] = {"SIMHASH_STORE": f"{server.url}?prefix=shared"}
    first = again(site, tmp_path, **redis)
    second = again(site, tmp_path, **redis)
    assert first.complaints == second.complaints == []
    assert (set(site.paths(304)), site.paths(200)) == (set(ALL), [])
    assert set(second.verdicts.values()) == {"revisit/unchanged"}
    site.routes["/b"] = article(8)
    again(site, tmp_path, **redis)
    assert site.paths(200) == ["/b"]


@pytest.mark.slow("two crawls of two hundred pages")
@pytest.mark.parametrize("rule", ["always", "7d"])
def test_visits_of_pages_from_the_cache_are_stored_while_the_crawl_runs(tmp_path: Path, rule: str) -> None:
    paths = [f"/{number}" for number in range(2 * TOGETHER)]
    routes = {"/": article(0, before=links(*paths))} | {path: article(title=f"Part {path}") for path in paths}
    with in_thread(ValidatingSite(routes)) as site:
        again(site, tmp_path)
        age(tmp_path, DAY)
        killed(SPIDER, settings(tmp_path, {"": rule}), urls=[site.url("/")], kill=paths[-1])
    with closing(sqlite3.connect(tmp_path / "again.sqlite")) as store:
        rows = store.execute("SELECT last_seen - first_seen, visits FROM pages").fetchall()
    assert len([seen for seen, _ in rows if seen >= DAY]) >= TOGETHER
    assert len([visits for _, visits in rows if visits == 2]) >= (TOGETHER if rule == "always" else 0)


def test_a_killed_crawl_loses_nothing(site: ValidatingSite, tmp_path: Path) -> None:
    feed = {str(tmp_path / "items.jsonl"): {"format": "jsonlines"}}
    more: dict[str, Any] = {"SIMHASH_REVISIT_ACTION": "drop_items", "FEEDS": feed}
    job = settings(tmp_path, JOBDIR=str(tmp_path / "job"), **more)
    killed(SPIDER, job, urls=[site.url("/")], kill="/c")
    site.routes["/b"] = article(8)
    again(site, tmp_path, JOBDIR=str(tmp_path / "job"), **more)
    done = again(site, tmp_path, **more)
    items = (tmp_path / "items.jsonl").read_text()
    assert ({path for path in ALL if f'"{path}"' in items}, done.complaints) == (set(ALL), [])


def test_an_unchanged_page_from_the_cache_is_not_reported_after_a_kill(
    site: ValidatingSite, tmp_path: Path
) -> None:
    feed = tmp_path / "changes.jsonl"
    changes: dict[str, Any] = {"SIMHASH_CHANGES": str(feed)}
    again(site, tmp_path, **changes)
    lines = feed.read_text()
    assert lines.count('"new"') >= len(ALL)
    with closing(sqlite3.connect(tmp_path / "again.sqlite")) as store, store:
        store.execute("UPDATE runs SET ended = NULL, reason = NULL")
    done = again(site, tmp_path, **changes)
    assert (set(site.paths(304)), feed.read_text(), done.complaints) == (set(ALL), lines, [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"HTTPCACHE_ENABLED": False}, "SIMHASH_RECRAWL needs HTTPCACHE_ENABLED = True"),
        (
            {"HTTPCACHE_POLICY": "scrapy.extensions.httpcache.DummyPolicy"},
            "HTTPCACHE_POLICY = 'scrapy_simhash",
        ),
        ({"SIMHASH_RECRAWL": None}, "RecrawlPolicy' needs SIMHASH_RECRAWL"),
    ],
)
def test_conflicting_settings_stop_the_crawl(
    site: ValidatingSite, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    done = again(site, tmp_path, **change)
    assert message in f"{done.error} {done.log('CRITICAL')} {done.log('ERROR')}"
