"""Request options without effect, and custom policies."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from typing_extensions import Self

from scrapy_simhash import Config, SettingError, SimhashDownloaderMiddleware, SimhashPolicy
from scrapy_simhash.crawl.marks import complaints
from scrapy_simhash.judge.policy import Judged
from tests.crawls.site import article
from tests.stand_in import simhash_stats, stand_in

URL = "https://example.com/copy"
HERE = f"{__name__}."


@pytest.mark.parametrize(
    ("meta", "sentence"),
    [
        ("no", "request.meta['simhash'] must be False or a dictionary, got 'no': it is ignored"),
        (
            {"revisit": "mark"},
            "request.meta['simhash'] has no key 'revisit', did you mean 'revisit_action'? It is ignored",
        ),
        (
            {"url_rules": "off"},
            "request.meta['simhash']['url_rules'] must be True or False, got 'off': the settings are used instead",
        ),
        (
            {"lastmod": []},
            "request.meta['simhash']['lastmod'] must be a date, or seconds of Unix time, got []: the settings are"
            " used instead",
        ),
    ],
)
def test_options_at_invalid_places_are_reported_with_the_remedy(meta: object, sentence: str) -> None:
    assert [complaint for _, complaint in complaints(meta)] == [sentence]


# --- SIMHASH_POLICY.


class ByWords(SimhashPolicy):
    """Takes the action for copies from its own setting."""

    words = ""

    @classmethod
    def from_crawler(cls, crawler: Crawler, config: Config) -> Self:
        policy = cls(config)
        policy.words = crawler.settings["SIMHASH_WORDS"]
        return policy

    def copy_action(self, page: Judged) -> str:
        assert page.verdict.is_duplicate
        return self.words


class Broken(SimhashPolicy):
    def copy_action(self, page: Judged) -> str:
        raise StopIteration("no idea")


class Demanding(SimhashPolicy):
    def __init__(self, config: Config, more: int) -> None:
        super().__init__(config)


def result_of_copy(**settings: Any) -> tuple[dict[str, Any], Crawler]:
    subject = SimhashDownloaderMiddleware.from_crawler(stand_in(protect=[], **settings))
    for path in ("", "copy"):
        request = Request(f"https://example.com/{path}")
        body = article(0).encode()
        subject.process_response(request, HtmlResponse(request.url, body=body, encoding="utf-8"))
    result: dict[str, Any] = request.meta["simhash_result"]
    return result, subject.crawler


@pytest.mark.parametrize(
    "settings", [{"policy": f"{HERE}Broken"}, {"policy": f"{HERE}ByWords", "words": "drop"}]
)
def test_a_policy_that_fails_keeps_the_page(
    settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    result, crawler = result_of_copy(action="drop_page", **settings)
    assert (result["status"], result["action"]) == ("near_duplicate", None)
    assert simhash_stats(crawler)["errors/action"] == 1
    assert (
        "Error while choosing an action for <200 https://example.com/copy>: the page is kept" in caplog.text
    )
    assert "in copy_action\n" in caplog.text or "not an action: ['drop']" in caplog.text


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"{HERE}Missing", "SIMHASH_POLICY: cannot import '.*': .*Missing"),
        (
            f"{HERE}HERE",
            r"SIMHASH_POLICY must be the import path of a subclass of scrapy_simhash.SimhashPolicy",
        ),
        (f"{HERE}Demanding", "SIMHASH_POLICY: cannot create '.*': .*more"),
    ],
)
def test_an_unsuitable_class_is_refused_at_the_start(path: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        SimhashDownloaderMiddleware.from_crawler(stand_in(policy=path))
