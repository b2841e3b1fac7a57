"""The live view without a crawl: in a browser while it grows, and with visitors who are slow or do not speak HTTP."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from scrapy_simhash import Config, SettingError, Status, Verdict, crawling
from scrapy_simhash.view import live, overview_page
from scrapy_simhash.view.live import LiveView
from tests.browser import Reader
from tests.stand_in import stand_in

SITE = "https://example.com"


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveView]:
    monkeypatch.setattr(live, "REST", 0)
    monkeypatch.setattr(live._Handler, "timeout", 0.2)
    crawler: Any = stand_in()
    crawler.spidercls, crawler.spider, crawler.stats = SimpleNamespace(name="news"), None, None
    view = LiveView(crawler, Config(live="127.0.0.1:0"))
    view.spider_opened(crawler.spider)
    yield view
    view.spider_closed()


def note(view: LiveView, number: int) -> None:
    first = f"{SITE}/{number // 2}"
    copy = Verdict(Status.NEAR_DUPLICATE, duplicate_of=first, cluster=number, distance=1, similarity=0.9)
    verdict = copy if number % 2 else Verdict(Status.NEW, cluster=number)
    view.write({"url": f"{first}?copy" if number % 2 else first, **verdict.to_dict()})


@pytest.fixture(scope="module")
def context(browser: Any) -> Iterator[Any]:
    context = browser.new_context(reduced_motion="reduce")
    yield context
    context.close()


def test_a_browser_follows_the_crawl_and_keeps_what_was_typed_and_opened(
    context: Any, view: LiveView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview_page, "REFRESH", 0.05)
    reader = Reader(context.new_page(), view.url, "body")
    reader.page.goto(view.url)
    assert "There is no page yet." in reader.page.text_content("body")
    for number in range(20):
        note(view, number)
    reader.page.wait_for_selector("#clusters-table")
    reader.page.fill("#search", "/3")
    reader.page.click("#clusters-table tr:not([hidden]) summary")
    for number in range(20, 70):
        note(view, number)
    reader.page.wait_for_selector("text=6 of 35 clusters")
    assert reader.page.input_value("#search") == "/3"
    assert reader.page.evaluate(
        "document.activeElement.closest('#overview') !== null || document.body !== null"
    )
    opened = "#clusters-table details[open] summary"
    assert reader.page.eval_on_selector_all(opened, "all => all.map(one => one.textContent)") == [f"{SITE}/3"]
    assert reader.faults(360, "dark") + reader.faults(1280, "light") + reader.wrong() == []
    view.spider_closed()
    reader.page.wait_for_selector("text=The crawl does not answer any more")
    assert reader.page.input_value("#search") == "/3"


def asked(view: LiveView, path: str = "/", **headers: str) -> tuple[int, bytes]:
    connection = HTTPConnection(urlsplit(view.url).netloc, timeout=20)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def test_visitors_who_say_nothing_keep_nobody_waiting(view: LiveView) -> None:
    place = urlsplit(view.url)
    silent = [socket.create_connection((place.hostname or "", place.port or 0)) for _ in range(30)]
    try:
        note(view, 0)
        assert asked(view)[0] == 200
        # They are sent away.
        assert [one.recv(10) for one in silent] == [b""] * len(silent)
    finally:
        for one in silent:
            one.close()


@pytest.mark.parametrize(
    "said", [b"\x16\x03\x01\x02\x00", b"GET /\r\n\r\n", b"GET " + b"/" * 70_000 + b"\r\n\r\n", b""]
)
def test_what_is_no_http_is_no_harm(view: LiveView, said: bytes) -> None:
    place = urlsplit(view.url)
    with socket.create_connection((place.hostname or "", place.port or 0)) as one:
        one.sendall(said)
        one.shutdown(socket.SHUT_WR)
        while one.recv(65536):
            pass
    note(view, 0)
    assert asked(view)[0] == 200


def test_a_host_is_named_once_and_is_this_machine(view: LiveView) -> None:
    for host, status in (("localhost", 200), ("127.0.0.1:1", 200), ("[::1]:80", 200)):
        assert asked(view, Host=host)[0] == status
    for host in ("example.com", "127.0.0.1.example.com", "localhost.example.com", "", "[::1", "10.0.0.1"):
        assert asked(view, Host=host)[0] == 403


def test_a_page_is_not_written_again_before_its_time(view: LiveView, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "REST", 10_000_000)
    note(view, 0)
    first = asked(view)
    note(view, 1)
    assert asked(view) == first


def test_an_error_while_counting_is_told_once_and_costs_nothing(
    view: LiveView, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: dict[str, int] = {}
    stats = SimpleNamespace(inc_value=lambda name: counts.update({name: counts.get(name, 0) + 1}))
    monkeypatch.setattr(crawling, "stats_of", lambda _: stats)
    view.write({"url": SITE})
    view.write({"url": SITE})
    note(view, 0)
    status, body = asked(view, "/data.json")
    assert (status, json.loads(body)["pages"]) == (200, 1)
    assert counts == {"simhash/errors/action": 2}
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1


def test_an_error_while_writing_is_told_to_the_browser_and_counted(
    view: LiveView, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    counted: list[str] = []
    monkeypatch.setattr(crawling, "stats_of", lambda _: SimpleNamespace(inc_value=counted.append))
    monkeypatch.setattr(view._view, "html", lambda: 1 / 0)
    assert asked(view)[0] == 500
    assert counted == ["simhash/errors/action"]
    assert "Error while writing / for SIMHASH_LIVE" in caplog.text


def test_a_port_that_is_taken_is_a_wrong_setting(view: LiveView) -> None:
    port = urlsplit(view.url).port or 0
    crawler: Any = stand_in()
    with pytest.raises(SettingError, match=f"SIMHASH_LIVE: cannot listen on 127.0.0.1:{port}: "):
        LiveView(crawler, Config(live=f"127.0.0.1:{port}"))


def test_one_that_never_begins_leaves_no_socket_behind() -> None:
    crawler: Any = stand_in()
    view = LiveView(crawler, Config(live="127.0.0.1:0"))
    port = urlsplit(view.url).port or 0
    del view
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port)).close()
