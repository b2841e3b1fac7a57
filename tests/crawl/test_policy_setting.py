"""Request options without effect, and custom policies."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse

from scrapy_simhash import Config, SettingError, SimhashDownloaderMiddleware, SimhashPolicy
from scrapy_simhash.crawl.marks import complaints
from scrapy_simhash.judge.policy import Judged
from tests.crawls.site import article
from tests.stand_in import simhash_stats, stand_in

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


class Mistaken(SimhashPolicy):
    """Returns a word that is not an action."""

    def copy_action(self, page: Judged) -> str:
        return "drop"


class Demanding(SimhashPolicy):
    def __init__(self, config: Config, more: int) -> None:
        super().__init__(config)


def test_a_policy_with_an_unknown_action_keeps_the_page(caplog: pytest.LogCaptureFixture) -> None:
    crawler = stand_in(protect=[], action="drop_page", policy=f"{HERE}Mistaken")
    subject = SimhashDownloaderMiddleware.from_crawler(crawler)
    for path in ("", "copy"):
        request = Request(f"https://example.com/{path}")
        page = HtmlResponse(request.url, body=article(0).encode(), encoding="utf-8")
        subject.process_response(request, page)
    result = request.meta["simhash_result"]
    assert (result["status"], result["action"]) == ("near_duplicate", None)
    assert simhash_stats(crawler)["errors/action"] == 1
    assert (
        "Error while choosing an action for <200 https://example.com/copy>: the page is kept" in caplog.text
    )
    assert "not an action: ['drop']" in caplog.text


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
