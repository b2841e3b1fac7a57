"""Inputs and outputs of subcommands, warnings, progress bars, and the errors that end a run.

    SimhashError
    ├── Refused       wrong usage or a wrong input; exit status 2 (also ValueError)
    └── FileError     reading or writing failed; exit status 1 (also OSError)

Results go to standard output; counts, warnings and progress bars to standard error. A file is written completely or
not at all, see :mod:`scrapy_simhash.files.replacement`.
"""

from __future__ import annotations

import json
import sys
import zlib
from argparse import ArgumentParser, Namespace, _ActionsContainer
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from importlib import import_module
from io import BufferedReader
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import IO, Any, TextIO, TypeVar

from scrapy_simhash.display import printable
from scrapy_simhash.exceptions import FileError, SimhashError, failing
from scrapy_simhash.files.replacement import STDOUT, writing

#: The exit statuses.
FAILED = 1
REFUSED = 2
#: The path that means standard input.
STDIN = "-"
#: The byte order mark that editors on Windows write before the first line.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: The beginning of data that gzip has compressed.
GZIP = b"\x1f\x8b"
#: Lines per write, about 200 KB.
BATCH = 4096
#: Seconds before a progress bar is shown.
BAR_DELAY = 0.5
_T = TypeVar("_T")


class Refused(SimhashError, ValueError):
    """An argument or an input is wrong; the message names it."""


def name_of(path: str) -> str:
    """Return the name of an input for messages."""
    return "<stdin>" if path == STDIN else path


@contextmanager
def open_input(path: str) -> Iterator[BufferedReader]:
    """Open the file at *path*, or standard input for ``-``, compressed with gzip or not.

    Raises FileError if it cannot be opened, or cannot be read within the context.
    """
    with ExitStack() as stack:
        stack.enter_context(failing(f"read {name_of(path)}"))
        stream: Any = sys.stdin.buffer if path == STDIN else stack.enter_context(Path(path).open("rb"))
        if not stream.peek(2).startswith(GZIP):
            yield stream
            return
        # Imported here, because compressed inputs are rare.
        from gzip import GzipFile

        try:
            yield BufferedReader(GzipFile(fileobj=stream))
        # Damaged gzip data raises one of these, or an OSError, which failing() converts.
        except (EOFError, zlib.error) as error:
            raise FileError(f"cannot read {name_of(path)}: {error}") from error


def check_stdin(*inputs: str | None) -> None:
    """Raise Refused if more than one of *inputs* is standard input."""
    if inputs.count(STDIN) > 1:
        raise Refused("standard input can be read only once: pass - only once")


def add_options(parser: _ActionsContainer, options: Mapping[str, str]) -> None:
    """Add *options*, a dictionary of usage and help: ``--mark`` is a flag, ``--report FILE`` takes a value."""
    for usage, text in options.items():
        *names, last = usage.split()
        if last.startswith("-"):
            parser.add_argument(*names, last, action="store_true", help=text)
        else:
            parser.add_argument(*names, metavar=last, help=text)


def add_output(parser: ArgumentParser, what: str) -> None:
    """Add ``--output``, a file or standard output, for *what*."""
    add_options(parser, {"-o --output FILE": f"where to write {what} (default: standard output)"})
    parser.set_defaults(output=STDOUT)


def check_outputs(options: Namespace, inputs: Iterable[str | None]) -> None:
    """Raise Refused for an output that is also an input or output, FileError if it cannot be written."""
    read = {Path(name).resolve() for name in inputs if name not in (None, STDIN)}
    taken: dict[Path, str] = {}
    for option in ("output", "clusters", "report", "html"):
        name = getattr(options, option, None)
        # Outputs may be URLs of file systems, which are not local files.
        if name is None or "://" in name:
            continue
        path = Path(name).resolve()
        if name != STDOUT:
            if path.is_dir():
                raise FileError(f"cannot write {name}: it is a folder")
            if path.exists() and not path.is_file():
                # A pipe or /dev/null is not replaced, and may get two outputs.
                continue
            if not read.isdisjoint((path, *path.parents)):
                raise Refused(
                    f"--{option} {name} is an input, or in a folder that is one: choose a different name"
                )
            if not path.parent.is_dir():
                raise FileError(f"cannot write {name}: there is no folder {Path(name).parent}")
        if path in taken:
            raise Refused(f"--{taken[path]} and --{option} are both {name}: choose different names")
        taken[path] = option


@contextmanager
def open_output(path: str) -> Iterator[IO[bytes]]:
    """Open the file at *path*, or standard output for ``-``. Raises FileError if it cannot be opened or written."""
    with failing("write standard output" if path == STDOUT else f"write {path}"), writing(path) as stream:
        yield stream


def write_lines(stream: IO[bytes], lines: Iterable[str]) -> None:
    """Write *lines* of ASCII, which include their line ends."""
    waiting = iter(lines)
    while text := "".join(islice(waiting, BATCH)):
        with _above_bars():
            stream.write(text.encode("ascii"))
            stream.flush()


def say(text: str, stream: TextIO) -> None:
    """Write lines of text to *stream*; control characters in URLs or names of files are replaced."""
    with _above_bars():
        print("\n".join(map(printable, text.split("\n"))), file=stream)


def show(facts: Mapping[str, Any], lines: Iterable[str], is_json: bool) -> None:
    """Write *facts* to standard output as JSON, or else as *lines*."""
    with failing("write standard output"):
        say(json.dumps(facts, indent=2) if is_json else "\n".join(lines), sys.stdout)


def counted(counts: Mapping[str, int], always: Iterable[str]) -> str:
    """Return *counts* in a line, without those that are 0 unless their names are in *always*.

    >>> counted({"pages": 3_000, "new": 0, "near_duplicates": 1}, ("pages",))
    'pages: 3,000, near-duplicates: 1'
    """
    shown = (item for item in counts.items() if item[1] or item[0] in always)
    return ", ".join(f"{name.replace('_', '-')}: {number:,}" for name, number in shown)


def warn(message: str) -> None:
    """Write a warning to standard error."""
    say(f"warning: {message}", sys.stderr)


def bar(items: Iterable[_T], doing: str, total: int | None = None) -> Iterable[_T]:
    """Return *items*, with a progress bar if they take long, standard error is a terminal and tqdm is installed."""
    if sys.stderr is None or not sys.stderr.isatty():
        return items
    try:
        tqdm = import_module("tqdm").tqdm
    except ImportError:
        return items
    # The bar has no monitor thread and no lock for other processes, because dedup starts processes.
    tqdm.monitor_interval = 0
    tqdm.set_lock(RLock())
    bar: Iterable[_T] = tqdm(items, doing, total, file=sys.stderr, delay=BAR_DELAY, leave=False)
    return bar


def _above_bars() -> AbstractContextManager[Any]:
    """Return a context for writing to the terminal, which hides a progress bar in the meantime."""
    tqdm = sys.modules.get("tqdm")
    return nullcontext() if tqdm is None else tqdm.tqdm.external_write_mode(sys.stderr)
