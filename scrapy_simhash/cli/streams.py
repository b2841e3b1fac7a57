"""Where a verb reads and writes, what it says on standard error, and what ends a run in one sentence.

    SimhashError
    ├── Refused       what was wanted, or what was read, cannot be; exit status 2    (also ValueError)
    └── FileError     reading or writing did not work; exit status 1                 (also OSError)
        └── NothingRead     all that was read is broken

Results go to standard output; counts, warnings and a bar of tqdm, if that is installed, to standard error. Lines that
are written are all written, or none: see :mod:`scrapy_simhash.replacement`.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from threading import RLock
from types import TracebackType
from typing import IO, Any, BinaryIO, NamedTuple, TextIO, TypeAlias

from scrapy_simhash.display import printable
from scrapy_simhash.exceptions import FileError, SimhashError, failing
from scrapy_simhash.replacement import STDOUT, writing

#: The exit statuses.
FAILED = 1
REFUSED = 2
#: The path that stands for standard input.
STDIN = "-"
#: What editors on Windows write before the first line.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Lines that are written in one go, some 200 KB.
BATCH = 4096
#: Seconds without a word: most runs are over by then.
PATIENCE = 0.5
#: Seconds between two words.
PAUSE = 0.2
#: Columns of a terminal that does not say, and of a line where there is none.
COLUMNS = 80


class Refused(SimhashError, ValueError):
    """A wrong argument or line; the message names it."""


class NothingRead(FileError):
    """There was something to be read, and all of it is broken."""


class Input(NamedTuple):
    """Something to read, and what messages call it."""

    stream: BinaryIO
    name: str
    """What stands before the number of a line."""
    source: str
    """What could not be read, in a sentence."""

    def share(self, _: int = 0) -> float | None:
        """Return which share of a file was read, 0.0 to 1.0; None for what has no size, as a pipe."""
        try:
            status = os.fstat(self.stream.fileno())
            is_file = S_ISREG(status.st_mode) and status.st_size > 0
            return min(1.0, self.stream.tell() / status.st_size) if is_file else None
        except (OSError, ValueError):
            return None


@contextmanager
def open_input(path: str) -> Iterator[Input]:
    """Open the file at *path*, or standard input for ``-``. Raises FileError if that is not possible.

    For what goes wrong while it is read, put ``failing`` around that.
    """
    if path == STDIN:
        if sys.stdin is None:
            raise FileError("cannot read standard input: it is closed")
        yield Input(sys.stdin.buffer, "<stdin>", "standard input")
        return
    with ExitStack() as stack:
        with failing(f"read {path}"):
            file = stack.enter_context(Path(path).open("rb"))
        yield Input(file, path, path)


def add_output(parser: ArgumentParser, what: str) -> None:
    """Add ``--output``, a file or standard output, which gets *what*."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=STDOUT,
        help=f"where to write {what} (default: standard output)",
    )


def check_outputs(options: Namespace, inputs: Iterable[str | None]) -> None:
    """Raise Refused or FileError for outputs that would replace an input or each other, or that cannot be written.

    Outputs are the options below; an input or output may be ``-`` or None.
    """
    read = {Path(name).resolve(): name for name in inputs if name not in (None, STDIN)}
    taken: dict[Path | str, str] = {}
    for option in ("output", "clusters", "report", "broken", "html"):
        name = getattr(options, option, None)
        # A URL of a file system, of which only the output may be one.
        if name is None or "://" in name:
            continue
        path = Path(name).resolve()
        if name == STDOUT or (path.exists() and not path.is_file() and not path.is_dir()):
            # A pipe or /dev/null replaces nothing, and may take two.
            if name == STDOUT and taken.setdefault(STDOUT, option) != option:
                raise Refused(
                    f"--{taken[STDOUT]} and --{option} are both standard output: give one of them a file"
                )
            continue
        if path in read:
            raise Refused(f"--{option} {name} is an input, and would replace it: give another name")
        for folder in path.parents:
            if folder in read:
                raise Refused(
                    f"--{option} {name} is in {read[folder]}, and would be read as an input: give another place"
                )
        if path in taken:
            raise Refused(f"--{taken[path]} and --{option} are the same file, {name}")
        taken[path] = option
        if not path.parent.is_dir():
            raise FileError(f"cannot write {name}: there is no folder {Path(name).parent}")
        if path.is_dir():
            raise FileError(f"cannot write {name}: it is a folder")


class Output:
    """Where a verb writes its lines."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        """Write to *stream*, which messages call *name*."""
        self._stream = stream
        self._name = name

    def write(self, lines: Iterable[str]) -> None:
        """Write *lines*, which end as lines do. Raises FileError, or BrokenPipeError if nobody reads any more."""
        waiting = iter(lines)
        while text := "".join(islice(waiting, BATCH)):
            if self._stream.isatty():
                wipe()
            with failing(f"write {self._name}"):
                self._stream.write(text.encode("ascii"))
                self._stream.flush()


@contextmanager
def open_output(path: str) -> Iterator[Output]:
    """Open the file at *path*, or standard output for ``-``; see above for what becomes of it.

    Raises FileError, before anything is written, if it cannot be opened.
    """
    with writing(path) as stream:
        yield Output(stream, "standard output" if path == STDOUT else path)


def write_html(options: Namespace, lines: Callable[[], Iterable[str]]) -> bool:
    """Write *lines* to the file of ``--html``, if that was given, and tell whether it was."""
    if options.html is None:
        return False
    with open_output(options.html) as output:
        output.write(lines())
    return True


#: Takes how many things are done, and returns the share of all that they are, 0.0 to 1.0, None if nobody knows.
Share: TypeAlias = "Callable[[int], float | None]"

#: The one whose bar is on the terminal: there is only one.
_running: Progress | None = None


def say(text: str, stream: TextIO) -> None:
    """Write lines of text to *stream*; whatever a site or the name of a file put there, nothing moves a cursor."""
    print(encodable("\n".join(map(printable, text.split("\n"))), stream), file=stream)


def encodable(text: str, stream: TextIO) -> str:
    """Return *text* with the number of each sign that *stream* cannot write."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def show(facts: Mapping[str, Any], lines: Iterable[str], is_json: bool) -> None:
    """Write *facts* to standard output as JSON, or else as *lines*."""
    with failing("write standard output"):
        say(json.dumps(facts, indent=2) if is_json else "\n".join(lines), sys.stdout)


def counted(counts: Mapping[str, int], always: Container[str], is_json: bool) -> str:
    """Return *counts* as a JSON object, or in a line without those that are 0, unless they are among *always*.

    >>> counted({"pages": 3_000, "new": 0, "near_duplicates": 1}, ("pages",), is_json=False)
    'pages: 3,000, near-duplicates: 1'
    """
    if is_json:
        return json.dumps(counts)
    told = (item for item in counts.items() if item[1] or item[0] in always)
    return ", ".join(f"{name.replace('_', '-')}: {number:,}" for name, number in told)


def warn(message: str) -> None:
    """Write a warning to standard error, on a line of its own."""
    wipe()
    say(f"warning: {message}", sys.stderr)


def wipe() -> None:
    """Take the bar off the terminal, before anything else is written there."""
    if _running is not None:
        _running.wipe()


def of(total: int) -> Share:
    """Return the function that says which share of *total* things some of them are.

    >>> of(200)(50), of(0)(3), of(10)(11)
    (0.25, None, 1.0)
    """
    return lambda done: min(1.0, done / total) if total else None


def _unknown(_: int) -> None:
    """Return None: nobody knows how many there will be."""


class Progress:
    """One bar on a terminal, rewritten a few times a second; nothing on what is no terminal, or without tqdm."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._make = _tqdm() if self._stream is not None and self._stream.isatty() else None
        self._bar: Any = None

    def counting(self, doing: str, share: Share = _unknown) -> Callable[[int], None]:
        """Return a function that takes how many things are through *doing*, and says so.

        If *share* knows which share they are, it also says when all will be through. What *doing* is begins now.
        """
        bar = self._begin(doing)

        def tell(done: int) -> None:
            # True if it was shown: then the next time shows how many there will be.
            if bar is not None and bar.update(done - bar.n) and (known := share(done)):
                bar.total = round(done / known)

        return tell

    def share(self, doing: str) -> Callable[[float], None]:
        """Return a function that takes which share of *doing* is done, 0.0 to 1.0, and says so."""
        bar = self._begin(doing, total=1.0, bar_format="{l_bar}{bar}| [{elapsed}<{remaining}]")
        return lambda share: None if bar is None else bar.update(share - bar.n)

    def wipe(self) -> None:
        """Take the bar off the terminal, for what comes next."""
        if self._bar is not None:
            self._bar.clear()

    def __enter__(self) -> Progress:
        """Return itself."""
        global _running
        _running = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar off."""
        global _running
        _running = None
        self._end()

    def _begin(self, doing: str, **more: Any) -> Any:
        self._end()
        if self._make is not None:
            self._bar = self._make(
                desc=doing,
                file=self._stream,
                delay=PATIENCE,
                mininterval=PAUSE,
                miniters=0,
                leave=False,
                ncols=_columns(self._stream),
                # Where a terminal says 0 rows, nothing would be shown either.
                nrows=2,
                **more,
            )
        return self._bar

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _columns(stream: TextIO | None) -> int:
    """Return the columns of a terminal; some say 0, and tqdm would show nothing."""
    try:
        return os.get_terminal_size(stream.fileno() if stream else -1).columns or COLUMNS
    except (OSError, ValueError):
        return COLUMNS


def _tqdm() -> Any:
    """Return the class of a bar, None if tqdm is not installed."""
    try:
        tqdm = import_module("tqdm").tqdm
    except ImportError:
        return None
    # No thread that looks after it, and no lock for other processes: batches fork.
    bar: Any = type("Bar", (tqdm,), {"monitor_interval": 0})
    bar.set_lock(RLock())
    return bar
