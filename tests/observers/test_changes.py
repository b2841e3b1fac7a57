"""The difference between a reported page and its current version, and the receivers of the signal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydispatch import dispatcher  # type: ignore[import-untyped]
from scrapy.signalmanager import SignalManager

from scrapy_simhash.observers.changes import Reported, _has_receivers, difference
from scrapy_simhash.page.features import facts_bytes, find_facts
from scrapy_simhash.page.reading import packed
from scrapy_simhash.page.text import Document, extract, parse
from scrapy_simhash.signals import page_changed

URL = "https://e.com/a"


def document(*paragraphs: str, row: str = "Hamburg", h1: str = "A page") -> Document:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return extract(parse(f"<title>A page</title><main><h1>{h1}</h1><dl><dt>Place<dd>{row}</dl>{text}</main>"))


def reported(page: Document) -> Reported:
    return Reported(b"12345678", facts_bytes(find_facts(page, URL)), packed(page))


def test_a_moved_paragraph_is_kept_and_a_repeated_one_counts_twice() -> None:
    former = document("One.", "Two.", "Two.", "Three and four.")
    found = difference(reported(former), document("Two.", "One.", "One.", "Five."), URL)
    assert found["text_added"] == ["One.", "Five."]
    assert (len(found["paragraphs_removed"]), found["words_removed"], found["words_added"]) == (2, 4, 2)
    unchanged = difference(reported(former), former, URL)
    assert [unchanged[name] for name in ("facts_added", "paragraphs_added", "paragraphs_removed")] == [[]] * 3
    assert unchanged["paragraphs_kept"] == len(former.main)


def test_new_facts_are_reported() -> None:
    former = document("One.")
    assert difference(reported(former), document("One.", row="Bremen"), URL)["facts_added"] == ["Bremen"]
    assert difference(reported(former), document("One.", h1="A page+"), URL)["facts_added"] == ["page+"]


def test_a_long_text_is_truncated() -> None:
    page = document("word " * 300, "other " * 300, "third " * 10)
    found = difference(Reported(b"12345678"), page, URL)
    assert sum(map(len, found["text_added"])) == 2_000
    assert len(found["text_added"]) < len(found["paragraphs_added"]) == len(page.main)
    assert found["is_cut"]


@given(st.binary(min_size=8, max_size=8), st.binary(max_size=20), st.binary(max_size=20))
def test_bytes_are_read_as_written_and_refused_if_truncated(page: bytes, facts: bytes, rest: bytes) -> None:
    written = Reported(page, bytes([len(facts)]) + facts, rest)
    data = written.to_bytes()
    assert Reported.from_bytes(data) == written
    for end in range(len(data) - len(rest)):
        with pytest.raises(ValueError, match="truncated"):
            Reported.from_bytes(data[:end])


def test_a_missing_page_is_reported_with_its_last_time() -> None:
    gone = Reported(b"12345678", b"\0", b"").gone(1_790_000_000, has_moved=True)
    assert (gone.is_gone, gone.has_moved, len(gone.page)) == (True, True, 8)
    assert not gone.gone(1_790_000_001, has_moved=False).has_moved


@pytest.mark.parametrize("sender", ["the crawler", "any"])
@pytest.mark.parametrize("signal", [page_changed, dispatcher.Any], ids=["the signal", "any"])
def test_a_signal_has_receivers_if_sending_it_calls_one(sender: str, signal: Any) -> None:
    manager = SignalManager(object())
    calls: list[object] = []

    def receive(change: object) -> None:
        calls.append(change)

    manager.connect(receive, object())
    assert not _has_receivers(manager, page_changed)
    at = manager.sender if sender == "the crawler" else dispatcher.Any
    manager.connect(receive, signal, sender=at)
    assert _has_receivers(manager, page_changed)
    manager.send_catch_log(page_changed, change="a line")
    assert calls == ["a line"]
    manager.disconnect(receive, signal, sender=at)
    assert not _has_receivers(manager, page_changed)
