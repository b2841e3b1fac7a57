"""The bar that says how far a run is: what it says, and to whom; then every command on a real terminal."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from select import select

import pytest

pytest.importorskip("tqdm", reason="tqdm is not installed")
from scrapy_simhash.cli import progress
from scrapy_simhash.cli.progress import Progress, of, warn
from tests.cli.example_files import READING
from tests.docs.reader import ROOT


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def shown(self) -> list[str]:
        """Return what stood on the line, one after the other."""
        return [text.rstrip() for text in self.getvalue().split("\r")]


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr(progress, "PAUSE", 0)


def test_a_short_run_says_nothing() -> None:
    terminal = Terminal()
    with Progress(terminal) as bar:
        bar.counting("reading")(5)
        bar.share("searching")(0.5)
    assert terminal.getvalue() == ""


@pytest.mark.usefixtures("_at_once")
def test_a_long_run_says_how_far_it_is_and_leaves_the_line_empty() -> None:
    terminal = Terminal()
    with Progress(terminal) as bar:
        export = bar.counting("exporting", of(4_000))
        export(1_000)
        export(2_000)
        bar.share("searching")(0.5)
    shown = terminal.shown()
    assert any(re.match(r"exporting: +50%.* 2000/4000 ", text) for text in shown), shown
    assert any(re.match(r"searching: +50%", text) for text in shown), shown
    assert shown[-1] == ""


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_what_is_no_terminal_hears_nothing(stream: io.StringIO | None) -> None:
    with Progress(stream) as bar:
        bar.counting("reading")(5)
    assert stream is None or stream.getvalue() == ""


@pytest.mark.usefixtures("_at_once")
def test_without_tqdm_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    terminal = Terminal()
    with Progress(terminal) as bar:
        bar.counting("reading")(5)
        bar.share("searching")(0.5)
    assert terminal.getvalue() == ""


@pytest.mark.usefixtures("_at_once")
def test_an_error_wipes_the_line_out_before_its_message() -> None:
    terminal = Terminal()

    def run() -> None:
        with Progress(terminal) as bar:
            bar.counting("reading")(5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert terminal.shown()[-1] == ""


@pytest.mark.usefixtures("_at_once")
def test_a_warning_stands_on_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with Progress(terminal) as bar:
        bar.counting("reading")(5)
        warn("page 7 is damaged")
        assert terminal.shown()[-2:] == ["", "warning: page 7 is damaged"]


#: A run in which two seconds are over at once, and a fifth of a second always.
AT_ONCE = """
import sys
from scrapy_simhash.cli import main, progress
progress.PATIENCE = progress.PAUSE = 0
sys.exit(main.main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such terminals")
# compare reads two pages, at once.
@pytest.mark.parametrize("name", [name for name in READING if name != "compare"])
def test_every_command_that_may_be_long_tells_a_terminal_and_nobody_else(name: str, folder: Path) -> None:
    command = [sys.executable, "-c", AT_ONCE, *READING[name]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    piped = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True, timeout=60)
    assert piped.stderr == b""
    for made in ("new.sqlite", "both.sqlite"):
        (folder / made).unlink(missing_ok=True)
    said = on_terminal(command, folder, environment)
    assert re.search(r"\r[a-z]+[^\r\n:]*: +\d+", said), said
    # Nothing of it is left, also where the answer goes to the same terminal.
    assert [line for line in screen(said) if line] == [
        line for line in piped.stdout.decode().splitlines() if line
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
