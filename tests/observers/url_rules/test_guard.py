"""What may be skipped at all, request by request, and what becomes of skipped requests."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request, Spider
from scrapy.utils.test import get_crawler

from scrapy_simhash import RequestSkipped
from scrapy_simhash.config import Config
from scrapy_simhash.fingerprinter import PageFingerprinter
from scrapy_simhash.observers.url_rules import FETCHED, Look, Origin
from scrapy_simhash.observers.url_rules.guard import SkippingUrlRuleGuard
from scrapy_simhash.observers.url_rules.kept_requests import MOST_KEPT, MOST_KEPT_IN_ALL, KeptRequests

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy.crawler import Crawler

SITE = "https://example.com"


class Reader(Spider):
    """Has two callbacks."""

    name = "reader"

    def parse(self, response: Any) -> None:
        """Do nothing."""

    def parse_other(self, response: Any) -> None:
        """Do nothing."""


def guard_of(mode: str, **settings: Any) -> tuple[SkippingUrlRuleGuard, Crawler]:
    crawler = get_crawler(Reader, {"SIMHASH_URL_RULES": mode, **settings})
    crawler.spider = Reader.from_crawler(crawler)
    crawler.crawling = True
    config = Config.from_settings(crawler.settings)
    return SkippingUrlRuleGuard(crawler, PageFingerprinter(config)), crawler


def trained(**settings: Any) -> tuple[SkippingUrlRuleGuard, list[Request]]:
    """Return a guard by whose rules ``sid`` has no effect, and the requests that it sends after all."""
    guard, crawler = guard_of("skip", **settings)
    use = guard._use(Request(SITE))
    for visit in range(8 * 40):
        guard.rules.learn(f"{SITE}/p/{visit % 40}?sid={visit}", 1 + visit % 40, lambda _: Look(), 1, use)
    assert guard.rules.of(SITE).in_force == ["parameter sid"]
    sent: list[Request] = []
    crawler.engine = SimpleNamespace(crawl=sent.append)  # type: ignore[assignment]
    return guard, sent


def skips(guard: SkippingUrlRuleGuard, **request: Any) -> int:
    """Return how many of forty requests are skipped."""
    number = 0
    for page in range(40):
        try:
            assert guard.screen(Request(f"{SITE}/p/{page}?sid=new", **request)) is None
        except RequestSkipped:
            number += 1
    return number


def until_skipped(guard: SkippingUrlRuleGuard, request: Request) -> None:
    """Ask until the request is not one of those that check the rule."""
    with suppress(RequestSkipped):
        while True:
            guard.screen(request)


def test_what_is_skipped_and_what_never_is() -> None:
    guard, _ = trained()
    spider: Any = guard._crawler.spider
    assert skips(guard) >= 30
    for other in (
        {"callback": spider.parse_other},
        {"callback": partial(spider.parse)},
        {"callback": lambda response: None},
        {"cookies": {"lang": "de"}},
        {"meta": {"cookiejar": 2}},
        {"body": b"q=1"},
        {"method": "POST"},
        {"dont_filter": True},
        {"meta": {"simhash_url_rules": False}},
        {"meta": {"simhash_waited": "sent after all"}, "dont_filter": True},
    ):
        assert skips(guard, **other) == 0, other


@pytest.mark.parametrize("mark", ["waited", "sent after all"])
def test_what_a_request_of_ours_leads_to_is_filtered_like_all_else(mark: str) -> None:
    guard, _ = trained()
    request = Request(f"{SITE}/new?sid=1", dont_filter=True, meta={"simhash_waited": mark})
    assert guard.screen(request) is None
    # A redirect has both from the request, and off-site pages are filtered by that.
    assert not request.dont_filter
    assert request.meta == {}


def test_the_page_of_a_failed_callback_is_requested_under_a_url_that_was_skipped() -> None:
    guard, sent = trained()
    for sid in ("a", "b", "c"):
        until_skipped(guard, Request(f"{SITE}/p/7?sid={sid}"))
    guard.outcome_lost(Request(f"{SITE}/p/7?sid=287"))
    assert [(request.url, request.dont_filter) for request in sent] == [(f"{SITE}/p/7?sid=c", True)]
    assert guard.screen(sent[0]) is None
    guard.outcome_lost(Request(f"{SITE}/p/8?sid=288"))
    assert len(sent) == 1


def test_more_is_checked_at_the_end_while_a_rule_is_doubted() -> None:
    guard, sent = trained()
    for visit in range(10):
        skips(guard, meta={"visit": visit})
    guard.spider_idle()
    first = len(sent)
    guard.spider_idle()
    assert len(sent) == first > 0
    use = guard._use(Request(SITE))
    guard.rules.learn(sent[0].url, 99_999, lambda _: Look(), 1, use)
    guard.spider_idle()
    assert len(sent) > first
    assert len({id(request) for request in sent}) == len(sent)


def test_skipped_requests_outlive_a_stop_with_a_jobdir(tmp_path: Path) -> None:
    guard, _ = trained(JOBDIR=str(tmp_path))
    spider: Any = guard._crawler.spider
    guard.spider_opened(spider)
    number = skips(guard, callback=spider.parse, meta={"visit": 1})
    # Scrapy's queue in JOBDIR would not keep it either.
    until_skipped(guard, Request(f"{SITE}/p/7?sid=x", meta={"is": lambda: None}))
    guard.spider_closed(spider, "shutdown")
    again, crawler = guard_of("skip", JOBDIR=str(tmp_path))
    sent: list[Request] = []
    crawler.engine = SimpleNamespace(crawl=sent.append)  # type: ignore[assignment]
    again.spider_opened(crawler.spider)  # type: ignore[arg-type]
    # This run believes in no rule.
    again.spider_idle()
    assert len(sent) == number > 0
    assert {request.meta["visit"] for request in sent} == {1}
    assert sent[0].callback == crawler.spider.parse  # type: ignore[union-attr]
    again.spider_closed(crawler.spider, "finished")  # type: ignore[arg-type]
    assert list(tmp_path.glob("simhash-skipped*")) == []


def test_skipped_requests_outlive_a_kill_with_a_jobdir(tmp_path: Path) -> None:
    guard, sent = trained(JOBDIR=str(tmp_path))
    spider: Any = guard._crawler.spider
    guard.spider_opened(spider)
    number = sum(skips(guard, meta={"visit": visit}) for visit in range(4))
    guard.spider_idle()
    assert 0 < len(sent) < number
    (file,) = tmp_path.iterdir()
    written = file.read_bytes()
    guard.spider_closed(spider, "finished")
    # As a kill leaves it, in the middle of a request.
    for end, left in ((len(written), number - len(sent)), (written.rindex(b"visit"), number - 1)):
        file.write_bytes(written[:end])
        kept = KeptRequests()
        kept.open(file, spider)
        assert len(kept.take("example.com", lambda *_: True)) == left
        kept.close(is_done=True)


def test_the_file_of_skipped_requests_does_not_grow_for_ever(tmp_path: Path) -> None:
    file, kept = tmp_path / "skipped", KeptRequests()
    kept.open(file, Reader())
    sizes = []
    for number in range(3 * MOST_KEPT_IN_ALL):
        kept.add(("parameter sid",), Request(f"{SITE}/{number}"))
        sizes.append(file.stat().st_size)
    assert sizes[-1] < max(sizes)
    assert len(kept.take("example.com", lambda *_: True)) == MOST_KEPT
    kept.close(is_done=False)


def test_a_damaged_file_of_skipped_requests_is_told(tmp_path: Path) -> None:
    (tmp_path / "simhash-skipped-requests").write_bytes(b"no pickle")
    guard, crawler = guard_of("skip", JOBDIR=str(tmp_path))
    guard.spider_opened(crawler.spider)  # type: ignore[arg-type]
    assert crawler.stats is not None
    assert crawler.stats.get_value("simhash/consequence_errors") == 1
    guard.spider_closed(crawler.spider, "finished")  # type: ignore[arg-type]


def test_what_is_kept_is_bounded() -> None:
    kept = KeptRequests()
    for host in range(25):
        for number in range(1_100):
            kept.add(("parameter sid",), Request(f"https://h{host}.example/{number}"))
    taken = [len(kept.take(site, lambda *_: True)) for site in kept.sites]
    assert max(taken) == MOST_KEPT
    assert sum(taken) == MOST_KEPT_IN_ALL
    assert kept.sites == []


def test_no_request_of_a_group_is_pushed_out() -> None:
    kept, group = KeptRequests(), ("group /day/{number}",)
    for number in range(MOST_KEPT_IN_ALL - MOST_KEPT // 2):
        kept.add(group, Request(f"{SITE}/day/{number}"))
        if number % 10 == 0:
            kept.add(("parameter sid",), Request(f"{SITE}/{number}?sid={number}"))
    assert not kept.is_full
    while not kept.is_full:
        kept.add(group, Request(f"{SITE}/day/0"))
    assert kept.rules_of("example.com") == list(group)
    assert kept.pushed_out == kept.lost["example.com", "parameter sid"] == 1_950
    assert len(kept.take("example.com", lambda *_: True)) == MOST_KEPT_IN_ALL
    assert not kept.is_full


def test_what_is_not_sent_after_all_is_told(caplog: pytest.LogCaptureFixture) -> None:
    guard, sent = trained()
    for visit in range(30):
        skips(guard, meta={"visit": visit})
    guard._give_up_rule("parameter sid", "example.com")
    assert len(sent) == MOST_KEPT
    lost = guard._kept.pushed_out
    assert f"1000 skipped requests are sent after all, {lost} older ones are not" in caplog.text
    spider: Any = guard._crawler.spider
    guard.spider_closed(spider, "finished")
    assert guard._crawler.stats is not None
    assert guard._crawler.stats.get_value("simhash/url_rules/not_kept") == lost > 0


def test_what_waits_comes_after_all_that_is_in_the_queue() -> None:
    guard, _ = guard_of("skip")
    for visit in range(40):
        url = f"{SITE}/list/{visit}"
        guard.rules.learn(url, 7, lambda _: Look(), 1, 1, Origin(url, SITE))
    guard.note_priority(Request(f"{SITE}/story/1", priority=-3))
    waiting = guard.screen(Request(f"{SITE}/list/100"))
    assert waiting is not None
    assert waiting.priority == -4
    guard.note_priority(waiting)
    # Meanwhile there are others that are to come first, but for those that wait as well.
    guard.note_priority(Request(f"{SITE}/story/2", priority=-4))
    again = guard.screen(waiting)
    assert again is not None
    assert again.priority == -5
    assert guard.screen(again) is None


def test_a_pinned_rule_states_no_loss(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    guard, _ = guard_of("skip", SIMHASH_URL_RULES_PIN=["parameter sid", "group /day/{number}"])
    use = guard._use(Request(SITE))
    guard.rules.learn(f"{SITE}/p?sid=1", 7, lambda _: Look(), 1, use)
    for url in (f"{SITE}/p?sid=2", f"{SITE}/day/1"):
        with pytest.raises(RequestSkipped):
            guard.screen(Request(url))
    spider: Any = guard._crawler.spider
    guard.spider_closed(spider, "finished")
    assert "(2 of 2 requests; pinned); were skipped" in caplog.text


def test_a_short_page_is_requested_several_times_where_nothing_was_compared() -> None:
    guard, _ = trained()
    use, skipped = guard._use(Request(SITE)), 0
    for visit in range(30):
        url = f"{SITE}/short?sid={visit}"
        try:
            guard.screen(Request(url))
        except RequestSkipped:
            skipped += 1
        else:
            guard.rules.learn(url, FETCHED, lambda _: Look(), 1, use)
    assert 15 <= skipped <= 24
