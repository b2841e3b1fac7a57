"""What may be skipped at all, request by request, and what becomes of skipped requests."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scrapy import Request, Spider
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from scrapy_simhash import RequestSkipped
from scrapy_simhash.config import Config
from scrapy_simhash.crawling import Page as CrawledPage
from scrapy_simhash.fingerprinter import PageFingerprinter, Reading
from scrapy_simhash.observers.url_rules import kept_requests
from scrapy_simhash.observers.url_rules.guard import MOST_WAITING, UrlRuleGuard
from scrapy_simhash.observers.url_rules.host import FETCHED, Page
from scrapy_simhash.observers.url_rules.kept_requests import MOST_KEPT, KeptRequests
from scrapy_simhash.signals import flood_found
from scrapy_simhash.verdict import Reason, Status, Verdict
from tests.examples import examples
from tests.stand_in import simhash_stats

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy.crawler import Crawler

    from scrapy_simhash.observers.floods import Flood

SITE = "https://example.com"


class Reader(Spider):
    """Has two callbacks."""

    name = "reader"

    def parse(self, response: Any) -> None:
        """Do nothing."""

    def parse_other(self, response: Any) -> None:
        """Do nothing."""


def guard_of(mode: str, **settings: Any) -> tuple[UrlRuleGuard, Crawler]:
    crawler = get_crawler(Reader, {"SIMHASH_URL_RULES": mode, **settings})
    crawler.spider = Reader.from_crawler(crawler)
    crawler.crawling = True
    crawler.engine = SimpleNamespace(crawl=lambda request: None)  # type: ignore[assignment]
    config = Config.from_settings(crawler.settings)
    return UrlRuleGuard(crawler, config), crawler


def judged(guard: UrlRuleGuard, url: str, verdict: Verdict, text: int, **more: Any) -> None:
    """Let *guard* see a page with the hash *text*."""
    meta, status = more.get("meta"), more.get("status", 200)
    request = Request(url, meta=meta)
    response = HtmlResponse(url, status, body=f"<p>Page {text}</p>".encode(), request=request)
    fingerprinter = PageFingerprinter(Config())
    guard.page_compared(CrawledPage(request, response, fingerprinter, verdict, Reading(None, text)))


def learn(guard: UrlRuleGuard, url: str, content: int, use: int, **more: Any) -> None:
    guard.rules.learn([Page(url, content, lambda any_variant: 0, use, **more)], 1)


def trained(**settings: Any) -> tuple[UrlRuleGuard, list[Request]]:
    """Return a guard by whose rules ``sid`` has no effect, and the requests that it sends after all."""
    guard, crawler = guard_of("skip", **settings)
    use = guard._use(Request(SITE))
    for visit in range(8 * 40):
        learn(guard, f"{SITE}/p/{visit % 40}?sid={visit}", 1 + visit % 40, use)
    assert guard.rules.of(SITE).in_force == ["parameter sid"]
    sent: list[Request] = []
    crawler.engine = SimpleNamespace(crawl=sent.append)  # type: ignore[assignment]
    return guard, sent


def answer_to(url: str) -> HtmlResponse:
    return HtmlResponse(url, request=Request(url))


def skips(guard: UrlRuleGuard, **request: Any) -> int:
    """Return how many of forty requests are skipped."""
    number = 0
    for page in range(40):
        try:
            assert guard.request_sent(Request(f"{SITE}/p/{page}?sid=new", **request)) is None
        except RequestSkipped:
            number += 1
    return number


def until_skipped(guard: UrlRuleGuard, request: Request) -> None:
    """Ask until the request is not one of those that check the rule."""
    with suppress(RequestSkipped):
        while True:
            guard.request_sent(request)


#: Forms of URLs of a site, and whether a new number is a new page.
FORMS = [
    ("/p/{page}?sid={number}", False),
    ("/p?sid={number}&ts={number}&id={page}", False),
    ("/day/{number}", False),
    ("/p/{page}/", False),
    ("/print/p/{page}", False),
    ("/story/{number}", True),
]


def fed(forms: list[int], seed: int, most: int) -> tuple[UrlRuleGuard, list[str]]:
    """Return a guard that got pages of some *forms*, at most so many at once, and the floods that it told."""
    random, (guard, crawler) = Random(seed), guard_of("observe")
    told: list[str] = []

    def tell(flood: Flood) -> None:
        told.append(flood.group)

    crawler.signals.connect(tell, signal=flood_found)
    met: set[int] = set()
    urls = ["", SITE]
    for number in range(300):
        pattern, is_new = FORMS[random.choice(forms)]
        page = random.randrange(25)
        host = random.choice(("example.com", "example.com", "www.example.com", "example.org"))
        url = f"https://{host}{pattern.format(page=page, number=number)}"
        text = 1_000 + number if is_new else page
        verdict = Verdict(Status.NEAR_DUPLICATE if text in met else Status.NEW, cluster=text)
        if page == 0 and random.random() < 0.1:
            verdict = Verdict(Status.SKIPPED, reason=Reason.SHORT_TEXT)
        met.add(text)
        status = random.choice([200] * 150 + [304, 404])
        judged(
            guard, url, verdict, text, status=status, meta={"_simhash": {"parent": random.choice(urls[-9:])}}
        )
        if len(guard._waiting) >= most:
            guard.learn_waiting()
        urls.append(url)
    guard.spider_closed(crawler.spider, "finished")  # type: ignore[arg-type]
    return guard, told


@given(
    st.lists(st.integers(0, len(FORMS) - 1), min_size=1, max_size=3),
    st.integers(),
    st.integers(2, MOST_WAITING),
)
@settings(max_examples=examples(20))
# A rule and a flood of each kind among pages that wait.
@example([0, 5], 1, MOST_WAITING)
@example([2], 2, MOST_WAITING)
def test_pages_that_wait_are_learned_from_as_if_they_had_not(forms: list[int], seed: int, most: int) -> None:
    with mock.patch("scrapy_simhash.observers.url_rules.guard.time", SimpleNamespace(time=lambda: 7)):
        (one, told_by_one), (several, told_by_several) = fed(forms, seed, 1), fed(forms, seed, most)
    assert told_by_one == told_by_several
    assert simhash_stats(one._crawler) == simhash_stats(several._crawler)
    assert list(one.rules.hosts) == list(several.rules.hosts)
    assert one.rules.weight == several.rules.weight
    for mine, other in zip(one.rules.hosts.values(), several.rules.hosts.values(), strict=True):
        for name in ("pages", "saved", "checks", "in_force", "evidence", "against"):
            assert getattr(mine, name) == getattr(other, name)
        assert (mine.novelty.rows, mine.novelty.stopped) == (other.novelty.rows, other.novelty.stopped)


def test_what_waits_is_learned_from_before_a_request_is_screened() -> None:
    guard, _ = trained()
    # The rule is wrong of late: two pages that nobody compares with others say so.
    for number in (1, 2):
        judged(guard, f"{SITE}/p/{number}?sid=y", Verdict(Status.NEW, cluster=5_000 + number), number)
    assert len(guard._waiting) == 2
    assert guard.request_sent(Request(f"{SITE}/p/3?sid=z")) is None
    assert guard.rules.of(SITE).in_force == []
    assert guard._waiting == []


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
        {"meta": {"simhash": {"url_rules": False}}},
        {"meta": {"_simhash": {"waited": "sent after all"}}, "dont_filter": True},
    ):
        assert skips(guard, **other) == 0, other


@pytest.mark.parametrize("mark", ["waited", "sent after all"])
def test_what_a_request_of_ours_leads_to_is_filtered_like_all_else(mark: str) -> None:
    guard, _ = trained()
    own = {"parent": SITE, "waited": mark}
    request = Request(f"{SITE}/new?sid=1", dont_filter=True, meta={"_simhash": own})
    assert guard.request_sent(request) is None
    # A redirect has both from the request, and off-site pages are filtered by that.
    assert not request.dont_filter
    assert request.meta == {"_simhash": {"parent": SITE}}
    # Copies of a meta share it.
    assert own == {"parent": SITE, "waited": mark}


def test_the_page_of_a_failed_callback_is_requested_under_a_url_that_was_skipped() -> None:
    guard, sent = trained()
    for sid in ("a", "b", "c"):
        until_skipped(guard, Request(f"{SITE}/p/7?sid={sid}"))
    guard.outcome_lost(answer_to(f"{SITE}/p/7?sid=287"))
    assert [(request.url, request.dont_filter) for request in sent] == [(f"{SITE}/p/7?sid=c", True)]
    assert guard.request_sent(sent[0]) is None
    guard.outcome_lost(answer_to(f"{SITE}/p/8?sid=288"))
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
    learn(guard, sent[0].url, 99_999, use)
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


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Keep few requests: so many of a host, and of all."""
    most = 50, 1_000
    for name, number in zip(("MOST_KEPT", "MOST_KEPT_IN_ALL"), most, strict=True):
        monkeypatch.setattr(kept_requests, name, number)
    return most


def test_the_file_of_skipped_requests_does_not_grow_for_ever(tmp_path: Path, few: tuple[int, int]) -> None:
    file, kept = tmp_path / "skipped", KeptRequests()
    kept.open(file, Reader())
    sizes = []
    for number in range(3 * few[1]):
        kept.add(("parameter sid",), Request(f"{SITE}/{number}"))
        sizes.append(file.stat().st_size)
    assert sizes[-1] < max(sizes)
    assert len(kept.take("example.com", lambda *_: True)) == few[0]
    kept.close(is_done=False)


def test_a_damaged_file_of_skipped_requests_is_told(tmp_path: Path) -> None:
    (tmp_path / "simhash-skipped-requests").write_bytes(b"no pickle")
    guard, crawler = guard_of("skip", JOBDIR=str(tmp_path))
    guard.spider_opened(crawler.spider)  # type: ignore[arg-type]
    assert crawler.stats is not None
    assert crawler.stats.get_value("simhash/errors/action") == 1
    guard.spider_closed(crawler.spider, "finished")  # type: ignore[arg-type]


def test_what_is_kept_is_bounded(few: tuple[int, int]) -> None:
    kept = KeptRequests()
    for host in range(25):
        for number in range(few[0] + 5):
            kept.add(("parameter sid",), Request(f"https://h{host}.example/{number}"))
    taken = [len(kept.take(site, lambda *_: True)) for site in kept.sites]
    assert (max(taken), sum(taken)) == few
    assert kept.sites == []


def test_no_request_of_a_group_is_pushed_out(few: tuple[int, int]) -> None:
    kept, group = KeptRequests(), ("group /day/{number}",)
    for number in range(few[1] - 20):
        kept.add(group, Request(f"{SITE}/day/{number}"))
        if number % 10 == 0:
            kept.add(("parameter sid",), Request(f"{SITE}/{number}?sid={number}"))
    assert not kept.is_full
    while not kept.is_full:
        kept.add(group, Request(f"{SITE}/day/0"))
    assert kept.rules_of("example.com") == list(group)
    assert kept.lost["example.com", "parameter sid"] == 98
    assert len(kept.take("example.com", lambda *_: True)) == few[1]
    assert not kept.is_full


def test_what_is_not_sent_after_all_is_told(caplog: pytest.LogCaptureFixture) -> None:
    guard, sent = trained()
    for visit in range(30):
        skips(guard, meta={"visit": visit})
    guard._give_up_rule("parameter sid", "example.com")
    assert len(sent) == MOST_KEPT
    lost = re.findall(r"1000 skipped requests are sent after all, (\d+) older ones are not", caplog.text)
    assert len(lost) == 1
    assert int(lost[0]) > 0


def test_what_waits_comes_after_all_that_is_in_the_queue() -> None:
    guard, _ = guard_of("skip")
    for visit in range(40):
        url = f"{SITE}/list/{visit}"
        learn(guard, url, 7, 1, asked=url, parent=SITE)
    guard.note_priority(Request(f"{SITE}/story/1", priority=-3))
    waiting = guard.request_sent(Request(f"{SITE}/list/100"))
    assert waiting is not None
    assert waiting.priority == -4
    guard.note_priority(waiting)
    # Meanwhile there are others that are to come first, but for those that wait as well.
    guard.note_priority(Request(f"{SITE}/story/2", priority=-4))
    again = guard.request_sent(waiting)
    assert again is not None
    assert again.priority == -5
    assert guard.request_sent(again) is None


def test_a_pinned_rule_states_no_loss(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    guard, _ = guard_of("skip", SIMHASH_URL_RULES_PIN=["parameter sid", "group /day/{number}"])
    use = guard._use(Request(SITE))
    learn(guard, f"{SITE}/p?sid=1", 7, use)
    for url in (f"{SITE}/p?sid=2", f"{SITE}/day/1"):
        with pytest.raises(RequestSkipped):
            guard.request_sent(Request(url))
    spider: Any = guard._crawler.spider
    guard.spider_closed(spider, "finished")
    assert "(2 of 2 requests; pinned); were skipped" in caplog.text


def test_a_short_page_is_requested_several_times_where_nothing_was_compared() -> None:
    guard, _ = trained()
    use, skipped = guard._use(Request(SITE)), 0
    for visit in range(30):
        url = f"{SITE}/short?sid={visit}"
        try:
            guard.request_sent(Request(url))
        except RequestSkipped:
            skipped += 1
        else:
            learn(guard, url, FETCHED, use)
    assert 15 <= skipped <= 24
