"""What the request, the settings, or a class of one's own ask for."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response

from scrapy_simhash import Config, Reason, SettingError, Status, Verdict
from scrapy_simhash.action import Action
from scrapy_simhash.crawl.requested_action import RequestedActions, complaints
from scrapy_simhash.judge.policy import RequestedAction
from tests.stand_in import simhash_stats, stand_in

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

URL = "https://example.com/copy"
COPY = Verdict(Status.NEAR_DUPLICATE, duplicate_of="https://example.com/", similarity=0.9, rank=4)
EXACT = Verdict(Status.NEAR_DUPLICATE, duplicate_of="https://example.com/", similarity=1.0, is_exact=True)
AGAIN = Verdict(Status.REVISIT, reason=Reason.UNCHANGED, is_delivered=True)
HERE = f"{__name__}."


class ByRank:
    """Drops what is not among the first, in the words of a setting that it reads."""

    def __init__(self, words: str) -> None:
        self.words = words

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings.get("MY_WORDS", "drop_items"))

    def decide(self, verdict: Verdict, request: Request, response: Response) -> str | list[str]:
        assert response.url == request.url
        return self.words if verdict.rank and verdict.rank > 3 else ["mark"]


class ByEnum:
    def decide(self, verdict: Verdict, request: Request, response: Response) -> Action:
        return Action.DROP_LINKS


class Wrong:
    def decide(self, verdict: Verdict, request: Request, response: Response) -> object:
        return None


class Broken:
    def decide(self, verdict: Verdict, request: Request, response: Response) -> str:
        raise StopIteration("no idea")


class Silent:
    """Has no such method."""


class Awaited:
    async def decide(self, verdict: Verdict, request: Request, response: Response) -> str:
        return "mark"


def function(verdict: Verdict, request: Request, response: Response) -> str:
    return "mark"


class Demanding:
    def __init__(self, something: int) -> None:
        """Cannot be built."""

    def decide(self, verdict: Verdict, request: Request, response: Response) -> str:
        return "mark"


def requested_actions(**settings: Any) -> tuple[RequestedActions, Crawler]:
    crawler = stand_in(**settings)
    return RequestedActions(crawler, Config.from_settings(crawler.settings)), crawler


def asked(subject: RequestedActions, verdict: Verdict = COPY, **wanted: object) -> RequestedAction:
    request = Request(URL, meta={"simhash": wanted})
    response = HtmlResponse(URL)
    if verdict.is_duplicate:
        return subject.on_copy(verdict, request, response)
    return subject.on_unchanged(verdict, request, response)


def test_the_setting_asks() -> None:
    subject, _ = requested_actions(action="drop_items", revisit_action="drop_links")
    assert asked(subject) == asked(subject, EXACT) == (Action.DROP_ITEMS, False)
    assert asked(subject, AGAIN) == (Action.DROP_LINKS, False)


def test_exact_copies_have_an_action_of_their_own_if_it_is_set() -> None:
    subject, _ = requested_actions(action="mark", exact_action="drop_page")
    assert asked(subject) == (Action.MARK, False)
    assert asked(subject, EXACT) == (Action.DROP_PAGE, False)


@pytest.mark.parametrize("words", ["mark", "drop_links", ["drop_items", "drop_links"], ("drop_page",)])
@pytest.mark.parametrize("verdict", [COPY, EXACT])
def test_the_request_goes_before_the_settings(words: object, verdict: Verdict) -> None:
    subject, crawler = requested_actions(
        action="drop_items", exact_action="drop_page", revisit_action="drop_page"
    )
    assert asked(subject, verdict, action=words) == (Action.named(words), True)
    assert asked(subject, AGAIN, action=words) == (Action.DROP_PAGE, False)
    assert asked(subject, AGAIN, revisit_action=words) == (Action.named(words), True)
    assert simhash_stats(crawler) == {}


@pytest.mark.parametrize(
    ("setting", "wanted", "expected"),
    [
        ("drop_items", {"exact_action": "mark"}, Action.MARK),
        ("drop_items", {"exact_action": "mark", "action": "drop_page"}, Action.MARK),
        ("drop_items", {"exact_action": None, "action": "drop_page"}, Action.DROP_PAGE),
        ("drop_items", {"exact_action": "drop", "action": "drop_page"}, Action.DROP_PAGE),
        (None, {"exact_action": "drop_page"}, Action.DROP_PAGE),
    ],
)
def test_a_request_too_has_an_action_for_exact_copies(
    setting: str | None, wanted: dict[str, str], expected: Action
) -> None:
    subject, _ = requested_actions(action="drop_links", exact_action=setting)
    assert asked(subject, EXACT, **wanted) == (expected, True)
    assert asked(subject, COPY, **{"action": None, **wanted}).action in (Action.DROP_LINKS, Action.DROP_PAGE)


@pytest.mark.parametrize("words", ["drop", "", 1, [], [1], {"mark": "drop"}, "DROP_PAGE", b"mark", object()])
@pytest.mark.parametrize("key", ["action", "exact_action", "revisit_action"])
def test_words_that_name_no_action_are_counted_warned_of_once_and_not_followed(
    words: object, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    subject, crawler = requested_actions(action="drop_items", revisit_action="drop_links")
    for _ in range(3):
        subject.check(Request(URL, meta={"simhash": {key: words}}), URL)
    assert asked(subject, EXACT, **{key: words}) == (Action.DROP_ITEMS, False)
    assert asked(subject, AGAIN, **{key: words}) == (Action.DROP_LINKS, False)
    assert simhash_stats(crawler) == {"errors/meta": 3}
    assert [record.levelname for record in caplog.records] == ["WARNING", "DEBUG", "DEBUG"]
    assert caplog.records[0].getMessage() == (
        f"request.meta['simhash']['{key}'] must be one of mark, drop_items, drop_links, drop_page, or a list of them,"
        f" got {words!r}: the settings are used instead, for {URL}"
    )


@pytest.mark.parametrize("meta", [{}, {"action": "mark"}, {"exact_action": None}, False, True, None])
def test_what_can_be_understood_is_not_complained_of(meta: object) -> None:
    assert list(complaints({"simhash": meta, "depth": 3})) == []


@pytest.mark.parametrize(
    ("meta", "sentence"),
    [
        ({"simhash": "no"}, "request.meta['simhash'] must be False or a dictionary, got 'no': it is ignored"),
        ({"simhash": 0}, "request.meta['simhash'] must be False or a dictionary, got 0: it is ignored"),
        (
            {"simhash": {"revisit": "mark"}},
            "request.meta['simhash'] has no key 'revisit', did you mean 'revisit_action'? It is ignored",
        ),
        (
            {"simhash": {7: "mark"}},
            "request.meta['simhash'] has no key 7; it has action, exact_action, revisit_action, url_rules,"
            " conditional, recrawl, lastmod. It is ignored",
        ),
        (
            {"simhash": {"conditional": "off"}},
            "request.meta['simhash']['conditional'] must be True or False, got 'off': the settings are used instead",
        ),
        (
            {"simhash": {"lastmod": []}},
            "request.meta['simhash']['lastmod'] must be a date, or seconds of Unix time, got []: the settings are"
            " used instead",
        ),
        (
            dict.fromkeys(["simhash_revisit_action"], "mark"),
            "request.meta['simhash_revisit_action'] is ignored: write meta={'simhash': {'revisit_action': 'mark'}}",
        ),
    ],
)
def test_what_cannot_be_understood_is_named_with_what_to_write(
    meta: dict[str, object], sentence: str
) -> None:
    assert [said for _, said in complaints(meta)] == [sentence]


def test_a_class_of_ones_own_gets_the_verdict_and_the_page() -> None:
    subject, _ = requested_actions(action=HERE + "ByRank")
    assert asked(subject) == (Action.DROP_ITEMS, False)
    assert asked(subject, EXACT) == (Action.MARK, False)
    assert asked(subject, action="drop_page") == (Action.DROP_PAGE, True)
    assert asked(requested_actions(revisit_action=HERE + "ByEnum")[0], AGAIN) == (Action.DROP_LINKS, False)


@pytest.mark.parametrize("name", ["Wrong", "Broken"])
def test_a_class_of_ones_own_that_fails_costs_no_page(name: str, caplog: pytest.LogCaptureFixture) -> None:
    subject, crawler = requested_actions(action=HERE + name)
    assert asked(subject) == asked(subject) == (Action.MARK, False)
    assert simhash_stats(crawler) == {"errors/action": 2}
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1
    assert "SIMHASH_ACTION" in caplog.text
    assert URL in caplog.text


def test_the_first_failure_of_a_class_of_ones_own_says_where_it_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked(requested_actions(action=HERE + "Broken")[0])
    assert "in decide\n" in caplog.text


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (HERE + "Missing", "SIMHASH_EXACT_ACTION: cannot import '.*': .*Missing"),
        (
            "no.such.module.Action",
            "SIMHASH_EXACT_ACTION: cannot import 'no.such.module.Action': No module named 'no'",
        ),
        (
            HERE + "Silent",
            r"SIMHASH_EXACT_ACTION must be the import path of a class with a decide\(\) method, got '.*Silent'",
        ),
        (
            HERE + "function",
            r"SIMHASH_EXACT_ACTION must be the import path of a class with a decide\(\) method, got '.*function'",
        ),
        (
            HERE + "HERE",
            r"SIMHASH_EXACT_ACTION must be the import path of a class with a decide\(\) method, got '.*HERE'",
        ),
        (HERE + "Awaited", r"SIMHASH_EXACT_ACTION: decide\(\) must not be a coroutine function, got"),
        (HERE + "Demanding", "SIMHASH_EXACT_ACTION: cannot import '.*': .*something"),
    ],
)
def test_a_class_that_will_not_do_is_refused_at_the_start(path: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        requested_actions(exact_action=path)
