"""The bar that says how far a run is: what it says, and to whom."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("tqdm")
from scrapy_simhash.cli import streams
from scrapy_simhash.cli.streams import Progress, of, warn


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def shown(self) -> list[str]:
        """Return what stood on the line, one after the other."""
        return [text.rstrip() for text in self.getvalue().split("\r")]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that shows progress on a stream, at once unless it is told to wait."""

    def run(stream: io.StringIO | None, *, waits: bool = False) -> Progress:
        monkeypatch.setattr(streams, "PAUSE", 0)
        monkeypatch.setattr(streams, "PATIENCE", 60 if waits else 0)
        monkeypatch.setattr("sys.stderr", stream)
        return Progress()

    return run


def test_a_long_run_says_how_far_it_is_and_leaves_the_line_empty(run: Callable[..., Any]) -> None:
    terminal = Terminal()
    with run(terminal) as bar:
        export = bar.counting("exporting", of(4_000))
        export(1_000)
        export(2_000)
        bar.share("searching")(0.5)
    shown = terminal.shown()
    assert any(re.match(r"exporting: +50%.* 2000/4000 ", text) for text in shown), shown
    assert any(re.match(r"searching: +50%", text) for text in shown), shown
    assert shown[-1] == ""


@pytest.mark.parametrize("case", ["short", "no terminal", "closed", "no tqdm"])
def test_a_short_run_and_what_shows_nothing_say_nothing(
    case: str, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if case == "no tqdm":
        monkeypatch.setitem(sys.modules, "tqdm", None)
    stream = {"closed": None, "no terminal": io.StringIO()}.get(case, Terminal())
    with run(stream, waits=case == "short") as bar:
        bar.counting("reading")(5)
        bar.share("searching")(0.5)
    assert stream is None or stream.getvalue() == ""


def test_a_warning_stands_on_a_line_of_its_own_and_an_error_wipes_the_line_out(
    run: Callable[..., Any],
) -> None:
    terminal = Terminal()

    def interrupted() -> None:
        with run(terminal) as bar:
            bar.counting("reading")(5)
            warn("page 7 is damaged")
            assert terminal.shown()[-2:] == ["", "warning: page 7 is damaged"]
            bar.counting("reading")(6)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert terminal.shown()[-1] == ""
