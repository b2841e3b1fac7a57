"""What a host answers at an address that cannot exist: what is learned from it, and when it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.http.request import NO_CALLBACK

from scrapy_simhash import PageFingerprinter
from scrapy_simhash.crawl import probe as module
from scrapy_simhash.crawl.probe import NotFoundPages

HOST = "example.com"
FRONT = "http://example.com/"
STORY = "<p>" + " ".join(f"The ship and the {word} went out to the sea at night." for word in "abcdefgh")
MISSING = "<p>" + " ".join(f"Nobody has ever seen page {word} in our old cellar." for word in "stuvwxyz")


class Host:
    """A host that has *answer* for all; meets are awaited at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answer: Response | Exception) -> None:
        self.answer = answer
        self.asked: list[Request] = []
        monkeypatch.setattr(module, "deferred_from_coro", self.run)
        crawler = SimpleNamespace(engine=SimpleNamespace(download_async=self.download), spider=None)
        self.fingerprinter = PageFingerprinter()
        self.pages = NotFoundPages(cast("Any", crawler), self.fingerprinter)

    def run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        asyncio.run(coroutine)

    async def download(self, request: Request) -> Response:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def meet(self, markup: str = STORY, url: str = FRONT, host: str = HOST) -> None:
        self.pages.meet(host, url, self.fingerprinter.read(markup))

    def recognises(
        self, markup: str, url: str = "http://example.com/x", *, was_redirected: bool = False
    ) -> bool:
        reading = self.fingerprinter.read(markup)
        return self.pages.recognises(HOST, url, reading, was_redirected=was_redirected)


def answered(markup: str, url: str = "http://example.com/0123", status: int = 200) -> Response:
    return HtmlResponse(url, body=markup.encode(), encoding="utf-8", status=status)


def test_a_host_is_asked_once_for_an_address_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(monkeypatch, answered(MISSING))
    host.meet(url="https://example.com:8443/story?x=1")
    host.meet()
    (request,) = host.asked
    assert request.url.startswith("https://example.com:8443/")
    assert len(request.url.rpartition("/")[2]) == 24
    assert request.callback is NO_CALLBACK
    assert request.meta == {"dont_retry": True, "dont_cache": True, "dont_merge_cookies": True}


def test_pages_that_repeat_the_answer_are_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(monkeypatch, answered(MISSING))
    assert not host.recognises(MISSING)
    host.meet()
    assert host.recognises(MISSING)
    assert host.recognises(MISSING + "<p>x")
    assert not host.recognises(STORY)
    assert not host.recognises("<p>Gone away.")


def test_a_short_answer_is_recognised_by_its_very_text(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(monkeypatch, answered("<p>No such page here."))
    host.meet()
    assert host.recognises("<div><p>No such page, here!</div>")
    assert not host.recognises("<p>No such page there.")
    assert not host.recognises("<p>")


@pytest.mark.parametrize(
    "answer",
    [
        answered(MISSING, status=404),
        answered(MISSING, status=301),
        answered(MISSING, url=FRONT),
        answered(MISSING + "<!--" + "x" * module.LARGEST + "-->"),
        answered("<p>"),
        TextResponse("http://example.com/0", body=MISSING.encode(), encoding="utf-8"),
        ValueError("no answer"),
    ],
)
def test_nothing_is_learned(answer: Response | Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(monkeypatch, answer)
    host.meet()
    assert len(host.asked) == 1
    assert not host.recognises(MISSING)


def test_nothing_is_learned_from_a_host_that_shows_the_first_page_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    host = Host(monkeypatch, answered(MISSING))
    host.meet(MISSING, "http://example.com/story")
    assert not host.recognises(MISSING)


@pytest.mark.parametrize("url", ["http://example.com/moved", "http://example.com/", "http://example.com"])
def test_a_page_that_is_asked_for_by_itself_is_one_of_the_host_s_own(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Host(monkeypatch, answered(MISSING, url="http://example.com/moved"))
    host.meet()
    assert host.recognises(MISSING, "http://example.com/moved", was_redirected=True)
    assert not host.recognises(MISSING, url)
    assert not host.recognises(MISSING)


def test_so_many_hosts_are_asked_and_no_other_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_HOSTS", 3)
    host = Host(monkeypatch, answered(MISSING))
    host.meet(url="file:///home/page.html", host="")
    assert host.asked == []
    for number in range(9):
        host.meet(url=f"http://{number}.example/", host=f"{number}.example")
    assert len(host.asked) == 3
