"""The bar that says how far a run is: what it says, and to whom; then every command on a real terminal."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from select import select
from typing import Any

import pytest

pytest.importorskip("tqdm", reason="tqdm is not installed")
from scrapy_simhash.cli import streams
from scrapy_simhash.cli.streams import Progress, of, warn
from tests.cli.example_files import READING
from tests.docs.reader import ROOT


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


#: A run in which nothing waits.
AT_ONCE = """
import sys
from scrapy_simhash.cli import main, streams
streams.PATIENCE = streams.PAUSE = 0
sys.exit(main.main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such terminals")
# text and compare read a page or two, at once; what learned reads is short.
@pytest.mark.parametrize("name", [name for name in READING if name not in ("text", "compare", "learned")])
def test_every_command_that_may_be_long_tells_a_terminal_and_nobody_else(name: str, folder: Path) -> None:
    command = [sys.executable, "-c", AT_ONCE, *READING[name]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    piped = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True, timeout=60)
    assert piped.stderr == (b"records: 3, kept: 2, near-duplicates: 1\n" if name == "dedup" else b"")
    (folder / "new.sqlite").unlink(missing_ok=True)
    said = on_terminal(command, folder, environment)
    assert re.search(r"\r[a-z]+[^\r\n:]*: +\d+", said), said
    # Nothing of it is left, also where the answer goes to the same terminal.
    assert [line for line in screen(said) if line] == [
        line for line in (piped.stdout + piped.stderr).decode().splitlines() if line
    ]


def on_terminal(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Return all that a command writes whose output and errors go to one terminal."""
    import pty

    here, terminal = pty.openpty()
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        said = b""
        # Linux ends a terminal that nobody writes to any more with an error, macOS with nothing.
        while select([here], [], [], 60)[0]:
            try:
                part = os.read(here, 1024)
            except OSError:
                break
            if not part:
                break
            said += part
        assert process.wait(timeout=60) == 0
    os.close(here)
    return said.decode()


def screen(said: str) -> list[str]:
    """Return the lines that a terminal shows after *said*: what follows a carriage return overwrites its line."""
    lines = []
    for line in said.replace("\r\n", "\n").split("\n"):
        shown = ""
        for text in line.split("\r"):
            shown = text + shown[len(text) :]
        lines.append(shown.rstrip())
    return lines
