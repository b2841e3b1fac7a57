"""The progress bar."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest

pytest.importorskip("tqdm")
from scrapy_simhash.cli import streams
from scrapy_simhash.cli.streams import bar, warn


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Terminal]:
    """Return a function that makes standard error a terminal, where bars appear after some seconds."""

    def show(seconds: float = 0) -> Terminal:
        monkeypatch.setattr(streams, "BAR_DELAY", seconds)
        monkeypatch.setattr("sys.stderr", terminal := Terminal())
        return terminal

    return show


def test_a_long_run_shows_its_progress_and_clears_the_line(show: Callable[..., Terminal]) -> None:
    terminal = show()
    for _ in bar(range(4), "exporting", 4):
        # A warning has its own line.
        warn("page 7 is damaged")
        assert "\rwarning: page 7 is damaged\n" in terminal.getvalue()
    shown = [text.rstrip() for text in terminal.getvalue().split("\r")]
    assert any(text.startswith("exporting:   0%") and "0/4" in text for text in shown), shown
    assert shown[-1] == ""


@pytest.mark.parametrize("case", ["short", "no terminal", "closed", "no tqdm"])
def test_no_bar_is_shown_for_a_short_run_nor_without_a_terminal_or_tqdm(
    case: str, show: Callable[..., Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = show(60 if case == "short" else 0)
    if case == "no tqdm":
        monkeypatch.setitem(sys.modules, "tqdm", None)
    stream = {"closed": None, "no terminal": io.StringIO()}.get(case, terminal)
    monkeypatch.setattr("sys.stderr", stream)
    assert list(bar([1], "reading")) == [1]
    assert stream is None or stream.getvalue() == ""
