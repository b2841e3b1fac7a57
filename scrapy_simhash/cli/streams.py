"""Inputs and outputs of verbs, warnings, progress, and the errors that end a run.

    SimhashError
    ├── Refused       wrong usage or a wrong input; exit status 2     (also ValueError)
    └── FileError     reading or writing failed; exit status 1        (also OSError)

Results go to standard output; counts, warnings and a progress bar to standard error. A file is written whole or not
at all: see :mod:`scrapy_simhash.replacement`.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from io import BufferedReader, RawIOBase
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from threading import RLock
from typing import IO, Any, BinaryIO, NamedTuple, TextIO, TypeAlias, cast

from scrapy_simhash.display import printable
from scrapy_simhash.exceptions import FileError, SimhashError, failing
from scrapy_simhash.replacement import STDOUT, writing

#: The exit statuses.
FAILED = 1
REFUSED = 2
#: The path that stands for standard input.
STDIN = "-"
#: Editors on Windows write it before the first line.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: The beginning of data that gzip has compressed.
GZIP = b"\x1f\x8b"
#: Lines that are written at once, some 200 KB.
BATCH = 4096
#: Seconds before a bar is drawn, and between two updates.
PATIENCE, PAUSE = 0.5, 0.2
#: Columns of a line if the terminal has no width, or the output is no terminal.
COLUMNS = 80


class Refused(SimhashError, ValueError):
    """A wrong argument or input; the message names it."""


class Input(NamedTuple):
    """An open input, and its names in messages."""

    stream: BinaryIO
    name: str
    """Prefix of a line number."""
    source: str
    """Follows "cannot read"."""

    def share(self, _: int = 0) -> float | None:
        """Return the share of a file that was read, 0.0 to 1.0; None for a pipe, which has no size."""
        try:
            status = os.fstat(self.stream.fileno())
            is_file = S_ISREG(status.st_mode) and status.st_size > 0
            return min(1.0, self.stream.tell() / status.st_size) if is_file else None
        except (OSError, ValueError):
            return None


@contextmanager
def open_input(path: str) -> Iterator[Input]:
    """Open the file at *path*, or standard input for ``-``, compressed with gzip or not. Raises FileError.

    Errors during reading need ``failing`` around it.
    """
    if path == STDIN and sys.stdin is None:
        raise FileError("cannot read standard input: it is closed")
    name, source = ("<stdin>", "standard input") if path == STDIN else (path, path)
    with ExitStack() as stack:
        with failing(f"read {source}"):
            stream: Any = sys.stdin.buffer if path == STDIN else stack.enter_context(Path(path).open("rb"))
            is_packed = isinstance(stream, BufferedReader) and stream.peek(2).startswith(GZIP)
        try:
            yield Input(BufferedReader(_unpacked(stream)) if is_packed else stream, name, source)
        # The errors of damaged gzip data, besides OSErrors.
        except (EOFError, zlib.error) as error:
            raise FileError(f"cannot read {source}: {error}") from error


def _unpacked(stream: BinaryIO) -> RawIOBase:
    # Compressed inputs are rare.
    from gzip import GzipFile

    return cast(RawIOBase, GzipFile(fileobj=stream))


def check_stdin(*inputs: str | None) -> None:
    """Raise Refused if more than one of *inputs* is standard input."""
    if inputs.count(STDIN) > 1:
        raise Refused("standard input can be read once only: give one -")


def add_output(parser: ArgumentParser, what: str) -> None:
    """Add ``--output``, a file or standard output, for *what*."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=STDOUT,
        help=f"where to write {what} (default: standard output)",
    )


def check_outputs(options: Namespace, inputs: Iterable[str | None]) -> None:
    """Raise Refused or FileError for outputs that would replace an input or each other, or that cannot be written.

    *outputs* are by option; an input or output may be ``-`` or None.
    """
    read = {Path(name).resolve(): name for name in inputs if name not in (None, STDIN)}
    taken: dict[Path | str, str] = {}
    for option in ("output", "clusters", "report", "html"):
        name = getattr(options, option, None)
        # Outputs may be URLs of file systems, which are no local files.
        if name is None or "://" in name:
            continue
        path = Path(name).resolve()
        if name == STDOUT:
            if taken.setdefault(STDOUT, option) != option:
                raise Refused(f"--{taken[STDOUT]} and --{option} are both standard output: give one a file")
            continue
        if path.is_dir():
            raise FileError(f"cannot write {name}: it is a folder")
        if path.exists() and not path.is_file():
            # Pipes and /dev/null replace nothing, and may get two outputs.
            continue
        if any(place in read for place in (path, *path.parents)):
            raise Refused(f"--{option} {name} is an input, or in one, and would be read: give another name")
        if taken.setdefault(path, option) != option:
            raise Refused(f"--{taken[path]} and --{option} are the same file, {name}: give one another name")
        if not path.parent.is_dir():
            raise FileError(f"cannot write {name}: there is no folder {Path(name).parent}")


class Output:
    """The output of a verb, written in batches of lines."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        """Write to *stream*; *name* is its name in messages."""
        self._stream = stream
        self._name = name

    def write(self, lines: Iterable[str]) -> None:
        """Write *lines* of ASCII, with their line ends. Raises FileError, or BrokenPipeError without a reader."""
        waiting = iter(lines)
        while text := "".join(islice(waiting, BATCH)):
            if self._stream.isatty():
                wipe()
            with failing(f"write {self._name}"):
                self._stream.write(text.encode("ascii"))
                self._stream.flush()


@contextmanager
def open_output(path: str) -> Iterator[Output]:
    """Open the file at *path*, or standard output for ``-``.

    Raises FileError, before anything is written, if it cannot be opened.
    """
    with writing(path) as stream:
        yield Output(stream, "standard output" if path == STDOUT else path)


def write_html(options: Namespace, lines: Callable[[], Iterable[str]]) -> bool:
    """Write *lines* to the file of ``--html``, if given, and return whether it was given."""
    if options.html is None:
        return False
    with open_output(options.html) as output:
        output.write(lines())
    return True


def say(text: str, stream: TextIO) -> None:
    """Write lines of text to *stream*; control characters in URLs or names of files are replaced."""
    wipe()
    print(encodable("\n".join(map(printable, text.split("\n"))), stream), file=stream)


def encodable(text: str, stream: TextIO) -> str:
    """Return *text* with escapes for characters that *stream* cannot encode."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def show(facts: Mapping[str, Any], lines: Iterable[str], is_json: bool) -> None:
    """Write *facts* to standard output as JSON, or else as *lines*."""
    with failing("write standard output"):
        say(json.dumps(facts, indent=2) if is_json else "\n".join(lines), sys.stdout)


def counted(counts: Mapping[str, int], always: Iterable[str]) -> str:
    """Return *counts* in a line, without zeros unless they are among *always*.

    >>> counted({"pages": 3_000, "new": 0, "near_duplicates": 1}, ("pages",))
    'pages: 3,000, near-duplicates: 1'
    """
    shown = (item for item in counts.items() if item[1] or item[0] in always)
    return ", ".join(f"{name.replace('_', '-')}: {number:,}" for name, number in shown)


def warn(message: str) -> None:
    """Write a warning to standard error."""
    say(f"warning: {message}", sys.stderr)


#: Converts the number of things done to the share of all, 0.0 to 1.0; None if their number is unknown.
Share: TypeAlias = "Callable[[int], float | None]"

#: The only bar on the terminal.
_running: Progress | None = None


def wipe() -> None:
    """Remove the bar from the terminal, before anything else is written there."""
    if _running is not None:
        _running.wipe()


def of(total: int) -> Share:
    """Return a function that converts a number of things to the share of *total*.

    >>> of(200)(50), of(0)(3), of(10)(11)
    (0.25, None, 1.0)
    """
    return lambda done: min(1.0, done / total) if total else None


class Progress:
    """One bar of tqdm, after half a second; nothing if the output is no terminal, or without tqdm."""

    def __init__(self) -> None:
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._make = _tqdm() if is_terminal else None
        self._bar: Any = None

    def counting(self, doing: str, share: Share = lambda done: None) -> Callable[[int], None]:
        """Begin the bar *doing*, and return a function that takes the number of things done."""
        bar = self._begin(desc=doing)

        def tell(done: int) -> None:
            # True if it was drawn; then it shows the total the next time.
            if bar is not None and bar.update(done - bar.n) and (known := share(done)):
                bar.total = round(done / known)

        return tell

    def share(self, doing: str) -> Callable[[float], None]:
        """Begin the bar *doing*, and return a function that takes the share that is done, 0.0 to 1.0."""
        bar = self._begin(desc=doing, total=1.0, bar_format="{l_bar}{bar}| [{elapsed}<{remaining}]")
        return lambda share: None if bar is None else bar.update(share - bar.n)

    def wipe(self) -> None:
        """Remove the bar from the terminal until it is drawn again."""
        if self._bar is not None:
            self._bar.clear()

    def __enter__(self) -> Progress:
        """Return itself."""
        global _running
        _running = self
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar."""
        global _running
        _running = None
        self._end()

    def _begin(self, **more: Any) -> Any:
        self._end()
        if self._make is not None:
            self._bar = self._make(
                file=sys.stderr, delay=PATIENCE, mininterval=PAUSE, miniters=0, leave=False, **more
            )
        return self._bar

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _tqdm() -> Any:
    """Return the class of a bar, None if tqdm is not installed."""
    try:
        tqdm = import_module("tqdm").tqdm
    except ImportError:
        return None
    # Without a monitor thread or a lock for other processes, since dedup starts processes.
    bar: Any = type("Bar", (tqdm,), {"monitor_interval": 0})
    bar.set_lock(RLock())
    return bar
