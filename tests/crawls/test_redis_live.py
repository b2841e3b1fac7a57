"""Crawlers at work on the same pages at the same time: what one has delivered, the others can drop."""

import json
import os
import signal
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen
from threading import Barrier
from typing import Any, NamedTuple

import pytest

pytest.importorskip("redis")
from redis import Redis

from tests.crawls.harness import ENABLED, IN_ORDER, ROOT, Crawl, crawl_one, start_python
from tests.crawls.site import Routes, Site, article, large, serve
from tests.store.server import RedisServer

#: Seconds after which what did not come never will.
PATIENCE = 60
#: Seconds for which a heartbeat counts: longer than a process waits on a busy machine.
LIVE = 8
idle = pytest.mark.slow(
    "it waits until a heartbeat is old; tests/store/redis/test_live.py makes it old at once"
)
SPIDER = """
from scrapy.crawler import CrawlerProcess
from tests.crawls.spiders import Stumbler

process = CrawlerProcess({settings!r})
process.crawl(Stumbler, urls={urls!r}, stumbles={stumbles!r})
process.start()
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(tmp_path, appendonly="no") as server:
        yield server


class Door:
    """A page that is served when it *may* be."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.may: Callable[[], bool] = lambda: False

    def __call__(self, visit: int) -> str:
        until(lambda: self.may())  # it may be told otherwise meanwhile
        return self.page


class Pages(NamedTuple):
    """A site, and its two doors: one for the crawl at work, one for those that follow it."""

    site: Site
    hold: Door
    gate: Door


@pytest.fixture
def pages() -> Iterator[Pages]:
    hold, gate = Door(article(3)), Door(article(4))
    routes: Routes = {
        "/same": article(0),
        "/other": article(1),
        "/hold": hold,
        "/begin": article(5),
        "/gate": gate,
        "/new": article(2),
    }
    with serve(routes) as site:
        yield Pages(site, hold, gate)
        hold.may = gate.may = lambda: True


def live(server: RedisServer, **settings: Any) -> dict[str, Any]:
    return {
        **IN_ORDER,
        "SIMHASH_STORE": f"{server.url}?prefix=live&live={LIVE}s",
        "SIMHASH_REVISIT_ACTION": "drop_items",
        **settings,
    }


@contextmanager
def crawler(
    folder: Path, settings: dict[str, Any], urls: list[str], *, stumbles: bool = False, name: str = "a"
) -> Iterator[Popen[bytes]]:
    """Run a crawl in a process of its own beside this one; its items are in a file *name* in *folder*."""
    feed = {str(folder / f"{name}.jsonl"): {"format": "jsonlines"}}
    code = SPIDER.format(settings={**ENABLED, **settings, "FEEDS": feed}, urls=urls, stumbles=stumbles)
    process = start_python("-c", code, cwd=ROOT, output=folder / f"{name}.log")
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def at_work(
    folder: Path, server: RedisServer, site: Site, paths: Sequence[str] = ("/same", "/other"), **more: Any
) -> Iterator[Popen[bytes]]:
    """Run a crawl that has delivered *paths*, and waits for /hold."""
    urls = site.urls(*paths, "/hold", "/new")
    with crawler(folder, live(server), urls, **more) as process:
        until(lambda: site.visits["/hold"] == 1)
        yield process


def follow(server: RedisServer, pages: Pages, when: Callable[[], bool], **settings: Any) -> Crawl:
    """Begin a crawl, and *when* it may crawl the same pages, and one that the crawl at work has not come to."""
    pages.gate.may = when
    urls = pages.site.urls("/begin", "/gate", "/same", "/other", "/new")
    done = crawl_one("Visitor", live(server, **settings), urls=urls)
    assert done.complaints == []
    return done


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def items(source: Crawl | Path) -> list[str]:
    """Return the paths of the pages whose items came, but for those that let a crawl wait."""
    if isinstance(source, Crawl):
        paths = source.paths_scraped
    else:
        paths = [json.loads(line)["path"] for line in source.read_text("utf-8").splitlines()]
    return [path for path in paths if path not in ("/begin", "/gate")]


class Runs:
    """The records of the crawls in the server: the first one's, and that of the latest."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def heartbeat(self) -> int:
        """Return when the first crawl gave its last heartbeat, by the server's clock."""
        return -self._record("1")[2]

    def is_first_live(self) -> bool:
        """Tell whether the first crawl gave a heartbeat after the latest began."""
        latest = self._client.hget("live:header", "runs").decode()
        return self.heartbeat() > self._record(latest)[1]

    def is_first_silent(self) -> bool:
        return int(self._client.time()[0]) - self.heartbeat() > LIVE

    def _record(self, number: str) -> tuple[bytes, int, int]:
        token, began, ended = struct.unpack(">8sqq", self._client.hget("live:runs", number)[:24])
        return token, began, ended


@pytest.fixture
def runs(server: RedisServer) -> Iterator[Runs]:
    with Redis.from_url(server.url) as client:
        yield Runs(client)


def test_what_a_live_crawler_has_delivered_is_dropped_by_others(
    tmp_path: Path, server: RedisServer, pages: Pages, runs: Runs
) -> None:
    report = tmp_path / "report.jsonl"
    with at_work(tmp_path, server, pages.site) as process:
        done = follow(server, pages, runs.is_first_live, SIMHASH_REPORT=str(report))
        assert [done.verdicts[path] for path in ("/same", "/other", "/new")] == [
            *["revisit/delivered"] * 2,
            "new",
        ]
        assert items(done) == ["/new"]
        marks = done.page("/same").marks
        assert (marks["action"], marks["confirmed"]) == ("drop_items", False)
        assert done.stat("revisits/delivered") == done.stat("dropped/items") == 2
        lines = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
        assert [(line["reason"], line["action"]) for line in lines[2:]] == [
            *[("delivered", "drop_items")] * 2,
            (None, None),
        ]
        assert any(
            "revisit action: drop_items, also for pages of live crawlers" in line
            for line in done.log("INFO", "scrapy_simhash")
        )
        why = "was scraped with the same text by another running crawler"
        said = f"Dropped: its page {pages.site.url('/same')} {why}"
        assert any(said in line for line in done.log("DEBUG", "scrapy_simhash"))
        assert done.stat("dropped/items/unchanged") == 2
        # Without the setting they are delivered. (/new is settled by now.)
        without = follow(server, pages, lambda: True, SIMHASH_STORE=f"{server.url}?prefix=live")
        assert without.verdicts["/same"] == "revisit/unchanged"
        assert items(without) == ["/other", "/same"]
        pages.hold.may = lambda: True
        process.wait(PATIENCE)
    assert process.returncode == 0
    assert items(tmp_path / "a.jsonl") == ["/same", "/other", "/hold"]


@idle
def test_what_a_killed_crawler_has_delivered_is_delivered_by_another_one_when_its_time_is_over(
    tmp_path: Path, server: RedisServer, pages: Pages, runs: Runs
) -> None:
    with at_work(tmp_path, server, pages.site) as process:
        assert items(follow(server, pages, runs.is_first_live)) == ["/new"]

        def is_over() -> bool:
            # In mid-crawl of the other one.
            process.send_signal(signal.SIGKILL)
            process.wait()
            return runs.is_first_silent()

        after = follow(server, pages, is_over)
    assert after.verdicts["/same"] == after.verdicts["/other"] == "revisit/unchanged"
    assert after.page("/same").marks["confirmed"] is False
    assert items(after) == ["/other", "/same"], "the crawl that dropped them has not settled them"
    assert items(follow(server, pages, lambda: True)) == [], "now they are"


def test_who_is_started_in_place_of_a_killed_crawler_delivers_its_pages_at_once(
    tmp_path: Path, server: RedisServer, pages: Pages
) -> None:
    with at_work(tmp_path, server, pages.site) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        # An hour: the killed one would be live for long.
        done = follow(server, pages, lambda: True, SIMHASH_STORE=f"{server.url}?prefix=live&live=1h")
    assert items(done) == ["/new", "/other", "/same"]


@idle
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no process can be stopped here")
def test_a_crawler_that_stands_still_is_not_live(
    tmp_path: Path, server: RedisServer, pages: Pages, runs: Runs
) -> None:
    with at_work(tmp_path, server, pages.site) as process:

        def is_over() -> bool:
            os.kill(process.pid, signal.SIGSTOP)
            return runs.is_first_silent()

        done = follow(server, pages, is_over)
        os.kill(process.pid, signal.SIGCONT)
    assert items(done) == ["/new", "/other", "/same"]


@idle
def test_a_crawler_that_waits_longer_than_a_heartbeat_counts_is_still_live(
    tmp_path: Path, server: RedisServer, pages: Pages, runs: Runs
) -> None:
    with at_work(tmp_path, server, pages.site):
        first = runs.heartbeat()
        done = follow(server, pages, lambda: runs.is_first_live() and runs.heartbeat() > first + LIVE)
    assert items(done) == ["/new"]


def test_a_page_whose_callback_failed_is_delivered_by_others_at_once(
    tmp_path: Path, server: RedisServer, pages: Pages, runs: Runs
) -> None:
    with at_work(tmp_path, server, pages.site, ["/other", "/same"], stumbles=True):
        # Though the crawler whose callback failed last waits for its next page.
        done = follow(server, pages, runs.is_first_live)
    assert items(done) == ["/new", "/same"]


def test_links_of_start_pages_are_followed_as_those_of_unchanged_ones_are(
    tmp_path: Path, server: RedisServer, pages: Pages, runs: Runs
) -> None:
    with at_work(tmp_path, server, pages.site):
        done = follow(server, pages, runs.is_first_live, SIMHASH_REVISIT_ACTION="drop_page")
    assert done.stat("protected/start") == 2
    assert done.stat("dropped/items") == 2
    assert done.stat("dropped/pages") == 0


def test_of_crawlers_that_race_each_page_is_delivered_by_one(tmp_path: Path, server: RedisServer) -> None:
    both = Barrier(2)
    # Two crawls, each of which has a heartbeat of the other after its beginning.
    gates = {f"/gate/{name}": Door(article(4)) for name in "ab"}

    def records() -> list[tuple[bytes, int, int]]:
        with Redis.from_url(server.url) as client:
            return [struct.unpack(">8sqq", record[:24]) for record in client.hvals("live:runs")]

    def are_live() -> bool:
        began, heartbeats = zip(*[(began, -ended) for _, began, ended in records()], strict=True)
        return len(began) == 2 and min(heartbeats) > max(began)

    def start(visit: int) -> str:
        both.wait(PATIENCE)
        return large(1_000, 2_000)

    texts = {f"/page/{number}": large(number, 2_000) for number in range(20)}
    for gate in gates.values():
        gate.may = are_live
    with serve({"/begin": article(5), **gates, "/start": start, **texts}) as site, ExitStack() as stack:
        settings = {**live(server), "CONCURRENT_REQUESTS": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
        processes = [
            stack.enter_context(
                crawler(tmp_path, settings, site.urls("/begin", f"/gate/{name}", "/start", *texts), name=name)
            )
            for name in "ab"
        ]
        for process in processes:
            assert process.wait(PATIENCE) == 0
        assert {path: site.visits[path] for path in texts} == dict.fromkeys(texts, 2)
    delivered = Counter([*items(tmp_path / "a.jsonl"), *items(tmp_path / "b.jsonl")])
    assert {path: delivered[path] for path in ("/start", *texts)} == dict.fromkeys(["/start", *texts], 1)
