"""URL rules in real crawls: requests that are skipped, sent, and sent later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from zlib import crc32

import pytest

from tests.crawls.harness import IN_ORDER, crawl_one
from tests.crawls.site import Route, Site, links, prose, serve
from tests.store.server import RedisServer

SKIP = {"SIMHASH_URL_RULES": "skip"}
IN_JOB = {**SKIP, **IN_ORDER, "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue"}
VISITOR = "url_rules_spiders.Visitor"


@contextmanager
def stories(number: int, turn: int) -> Iterator[tuple[Site, dict[str, str]]]:
    """Serve stories, each linked with three values of ``id``, and yield the story at each path. From page *turn* on,
    each value leads to another story.
    """
    routes: dict[str, Route] = {}
    story_at: dict[str, str] = {}
    for first in range(0, number, 10):
        beside = [f"/list/{first + 10}"] if first + 10 < number else []
        for page in range(first, first + 10):
            for value in "012":
                path = f"/story/{page}?id={value}"
                story_at[path] = f"{page}/{value if page >= turn else 0}"
                text = prose(50_000 + crc32(story_at[path].encode()))
                routes[path] = f"<html><body><main>{text}</main></body></html>"
                beside.append(path)
        routes[f"/list/{first}"] = f"<html><body>{links(*beside)}<main>{prose(first)}</main></body></html>"
    with serve(routes) as site:
        yield site, story_at


def sent(site: Site, story_at: dict[str, str]) -> list[str]:
    return [story_at[path] for path in site.visits.elements() if path in story_at]


@pytest.mark.slow("a crawl of two hundred pages")
def test_the_mode_observe_skips_nothing_and_logs_what_it_would_skip() -> None:
    with stories(60, turn=60) as (site, story_at):
        ended = crawl_one(VISITOR, {"SIMHASH_URL_RULES": "observe"}, urls=[site.url("/list/0")])
        assert len(sent(site, story_at)) == 3 * 60
    assert ended.complaints == []
    assert ended.notes == []
    assert ended.stat("new") == 60 + 6
    (line,) = [line for line in ended.log("INFO") if "URL rules of " in line]
    assert "parameter id in /story/*" in line
    assert "SIMHASH_URL_RULES = 'skip' would have saved " in line
    assert 0 < ended.stat("url_rules/would_skip") < 120


def test_a_rule_that_fails_is_dropped_and_its_requests_are_sent() -> None:
    with stories(150, turn=90) as (site, story_at):
        ended = crawl_one(VISITOR, {**SKIP, **IN_ORDER}, urls=[site.url("/list/0")])
        assert set(sent(site, story_at)) == set(story_at.values())
        wrong = [note for note in ended.notes if int(urlsplit(note["url"]).path.rpartition("/")[2]) >= 90]
        assert wrong, "otherwise the test proves nothing"
        assert ended.stat("url_rules/given_up") >= 1
        assert ended.stat("url_rules/sent_after_all") == len(ended.notes)
        assert ended.stats["visitor/RequestSkipped"] == len(ended.notes)
        # Skipped requests are sent in order, including those skipped by mistake.
        assert len(wrong) <= 40
    assert ended.complaints == []
    assert any("Dropped URL rule 'parameter id in /story/*'" in line for line in ended.log("INFO"))


@pytest.mark.slow("two crawls of three hundred pages in all")
def test_requests_skipped_before_a_stop_are_sent_after_the_resume(tmp_path: Path) -> None:
    job = {**IN_JOB, "JOBDIR": str(tmp_path)}
    with stories(150, turn=90) as (site, story_at):
        urls = [site.url("/list/0")]
        stopped = crawl_one(VISITOR, {**job, "CLOSESPIDER_PAGECOUNT": 168}, urls=urls)
        assert stopped.stats["finish_reason"] == "closespider_pagecount"
        skipped = {int(urlsplit(note["url"]).path.rpartition("/")[2]) for note in stopped.notes}
        assert max(skipped) >= 90, "otherwise the test proves nothing"
        assert stopped.stat("url_rules/given_up") == 0
        resumed = crawl_one(VISITOR, job, urls=urls)
        assert resumed.stat("url_rules/given_up") >= 1
        assert set(sent(site, story_at)) == set(story_at.values())
    assert stopped.complaints == resumed.complaints == []


@pytest.mark.slow("three crawls of a hundred pages, a server in Redis")
def test_crawlers_that_share_a_store_in_redis_share_the_rules(server: RedisServer) -> None:
    shared = {**SKIP, **IN_ORDER, "SIMHASH_STORE": f"{server.url}?prefix=shared"}
    with stories(60, turn=60) as (site, story_at):
        first = crawl_one(VISITOR, shared, urls=[site.url("/list/0")])
        alone = len(sent(site, story_at))
        site.visits.clear()
        # Another crawler fetches the pages of the first crawler again, because it skips pages only if it has fetched
        # their equals itself.
        second = crawl_one(VISITOR, shared, urls=[site.url("/list/0")])
        assert set(sent(site, story_at)) == set(story_at.values())
        assert len(sent(site, story_at)) < alone
    assert first.complaints == second.complaints == []


@pytest.mark.slow("a crawl of three hundred pages, a server in Redis")
def test_a_dropped_rule_re_sends_requests_in_the_queue_of_scrapy_redis(server: RedisServer) -> None:
    pytest.importorskip("scrapy_redis")
    queue = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.FifoQueue",
        "REDIS_URL": server.url,
        "SIMHASH_STORE": server.url,
    }
    with stories(150, turn=90) as (site, story_at):
        ended = crawl_one(VISITOR, {**SKIP, **IN_ORDER, **queue}, urls=[site.url("/list/0")])
        assert set(sent(site, story_at)) == set(story_at.values())
        assert ended.stat("url_rules/given_up") >= 1
        assert ended.stat("url_rules/sent_after_all") == len(ended.notes) > 0


@pytest.mark.slow("a crawl of three hundred pages")
def test_a_rule_that_fails_at_the_end_is_found_by_the_last_check() -> None:
    with stories(90, turn=88) as (site, story_at):
        ended = crawl_one(VISITOR, {**SKIP, **IN_ORDER}, urls=[site.url("/list/0")])
        assert set(sent(site, story_at)) == set(story_at.values())
        assert any("/story/88" in note["url"] for note in ended.notes), "otherwise the test proves nothing"
    assert ended.complaints == []
