"""What is told of a group of URLs that brings nothing new, and whether it is to be stopped."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.http import HtmlResponse, Response

from scrapy_simhash import Config, PageFingerprinter, Verdict
from scrapy_simhash.observers.floods import Flood
from scrapy_simhash.observers.floods import notices as module
from scrapy_simhash.observers.floods.notices import FloodNotices
from scrapy_simhash.observers.url_rules.novelty import Row
from scrapy_simhash.signals import flood_found
from scrapy_simhash.verdict import Reason, Status
from tests.stand_in import simhash_stats, stand_in

URL = "http://example.com/day/9"
BODY = b"<p>The office is on the second floor of the old mill.</p>"
COPY = Verdict(Status.NEAR_DUPLICATE, duplicate_of="http://example.com/", cluster=0)
NO_TEXT = Verdict(Status.SKIPPED, reason=Reason.SHORT_TEXT)


class Crawl:
    """A crawl in which floods are told of."""

    def __init__(self, *, skips: bool = True) -> None:
        self.crawler = stand_in()
        self.notices = FloodNotices(self.crawler, PageFingerprinter(Config()), skips=skips)
        self.floods: list[Flood] = []
        self.crawler.signals.connect(self.heard, signal=flood_found)

    def heard(self, flood: Flood) -> None:
        self.floods.append(flood)

    def tell(self, body: bytes = BODY, verdict: Verdict = COPY, response: Response | None = None) -> bool:
        row = Row()
        for number in range(59):
            row.add(f"http://example.com/day/{number}", 1)
        return self.notices.tell(
            "example.com",
            "/day/{number}",
            row,
            verdict,
            response or HtmlResponse(URL, body=body),
            is_silent=verdict is NO_TEXT,
        )

    @property
    def stats(self) -> dict[str, Any]:
        return simhash_stats(self.crawler)


def test_a_flood_is_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    crawl = Crawl()
    assert crawl.tell()
    assert crawl.stats == {"flood/trap": 1}
    (flood,) = crawl.floods
    assert (flood.group, flood.size, flood.original, len(flood.urls)) == (
        "/day/{number}",
        59,
        "http://example.com/",
        10,
    )
    assert "Trap (trap): 59 URLs in a row of /day/{number} on example.com brought nothing new" in caplog.text
    assert "no more are requested" in caplog.text


def test_who_only_observes_is_told_what_to_set(caplog: pytest.LogCaptureFixture) -> None:
    assert Crawl(skips=False).tell()
    assert "SIMHASH_URL_RULES = 'skip' would request no more" in caplog.text


def test_what_stands_before_other_pages_is_told_and_never_stopped(caplog: pytest.LogCaptureFixture) -> None:
    crawl = Crawl()
    assert not crawl.tell(b"<h1>Sign in</h1><input type=password>")
    assert crawl.stats == {"flood/login_wall": 1}
    assert "they are still requested" in caplog.text


def test_pages_without_text_are_a_flood_only_if_they_are_shells() -> None:
    crawl = Crawl()
    assert not crawl.tell(b"<img src='/1.jpg'>", NO_TEXT)
    assert (crawl.stats, crawl.floods) == ({}, [])
    assert not crawl.tell(b"<div id='app'></div><script></script>", NO_TEXT)
    assert crawl.stats == {"flood/empty_shell": 1}


@pytest.mark.parametrize(
    ("size", "expected"), [(module.LARGEST_TOLD, "captcha"), (module.LARGEST_TOLD + 1, "trap")]
)
def test_the_text_of_a_large_page_is_not_read_again(size: int, expected: str) -> None:
    crawl = Crawl()
    crawl.tell(b"<h1>I am not a robot</h1>".ljust(size))
    assert crawl.stats == {f"flood/{expected}": 1}


def test_of_a_file_only_the_urls_are_looked_at() -> None:
    crawl = Crawl()
    assert crawl.tell(
        verdict=Verdict(Status.SKIPPED, reason=Reason.NOT_HTML), response=Response(URL, body=b"%PDF")
    )
    assert crawl.stats == {"flood/trap": 1}


def test_few_floods_are_warned_of(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WARNINGS", 2)
    caplog.set_level("DEBUG", "scrapy_simhash")
    crawl = Crawl()
    for _ in range(4):
        crawl.tell()
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING", "DEBUG", "DEBUG"]
    assert "further ones are logged at level DEBUG" in caplog.records[1].getMessage()
    assert crawl.stats == {"flood/trap": 4}
