from __future__ import annotations

import io

import pytest

from scrapy_simhash.cli.progress import PATIENCE, PAUSE, Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def shown(self) -> list[str]:
        """Return what stood on the line, one after the other, without the blanks that wipe the last one out."""
        return [text.rstrip() for text in self.getvalue().split("\r")[1:]]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_short_run_says_nothing() -> None:
    terminal, clock = Terminal(), Clock()
    with Progress(terminal, clock) as progress:
        clock.now += PATIENCE - 0.01
        progress.count("reading", 5)
    assert terminal.getvalue() == ""


def test_a_long_run_says_how_far_it_is_not_too_often_and_leaves_the_line_empty() -> None:
    terminal, clock = Terminal(), Clock()
    with Progress(terminal, clock) as progress:
        clock.now += PATIENCE
        progress.count("reading", 1_234_567)
        progress.count("reading", 1_234_568)
        clock.now += PAUSE
        progress.share("searching")(0.5)
    assert terminal.shown() == ["reading: 1,234,567", "searching: 50%", "", ""]
    # What was longer before is overwritten.
    assert [len(text) for text in terminal.getvalue().split("\r")] == [0, 18, 18, 14, 0]


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_what_is_no_terminal_hears_nothing(stream: io.StringIO | None) -> None:
    clock = Clock()
    with Progress(stream, clock) as progress:
        clock.now += 60
        progress.count("reading", 5)
    assert stream is None or stream.getvalue() == ""


def test_an_error_wipes_the_line_out_before_its_message() -> None:
    terminal, clock = Terminal(), Clock()

    def run() -> None:
        with Progress(terminal, clock) as progress:
            clock.now += 60
            progress.count("reading", 5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert terminal.shown() == ["reading: 5", "", ""]
