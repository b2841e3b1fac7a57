"""Where a command reads and writes, and what ends a run in one sentence for whoever typed it.

    SimhashError
    ├── Refused     what was asked for, or what was read, cannot be; exit status 2    (also ValueError)
    └── FileError
        └── Failed  reading or writing did not work; exit status 1                    (also OSError)
            └── NothingRead     all that was read is broken

These are told as they are: their messages need nothing added but the name of the program. Lines that are written are
all written, or none: see :mod:`scrapy_simhash.replacement`.
"""

from __future__ import annotations

import errno
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from io import RawIOBase
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO, NamedTuple, cast

from scrapy_simhash.cli.progress import wipe
from scrapy_simhash.exceptions import FileError, SimhashError
from scrapy_simhash.exceptions import failing as told
from scrapy_simhash.replacement import replacing

#: The exit statuses.
FAILED = 1
REFUSED = 2


class Refused(SimhashError, ValueError):
    """A wrong argument or line; the message names it."""


class Failed(FileError):
    """A file that could not be read or written; the message names it and says why."""


class NothingRead(Failed):
    """There was something to be read, and all of it is broken."""


def failing(doing: str) -> AbstractContextManager[None]:
    """Turn an OSError inside into `Failed`, which says that *doing* was impossible, and why."""
    return told(doing, Failed)


#: The path that stands for standard input.
STDIN = "-"
#: What editors on Windows write before the first line.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: How a message about one of its lines calls it.
STDIN_NAME = "<stdin>"


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
def open_input(path: str, buffering: int = -1) -> Iterator[Input]:
    """Open the file at *path*, or standard input for ``-``. Raises Failed if that is not possible.

    What goes wrong while it is read is not told here: put ``failing`` around that.
    """
    if path == STDIN:
        if sys.stdin is None:
            raise Failed("cannot read standard input: it is closed")
        yield Input(sys.stdin.buffer, STDIN_NAME, "standard input")
        return
    with ExitStack() as stack:
        with failing(f"read {path}"):
            file = stack.enter_context(Path(path).open("rb", buffering=buffering))
        yield Input(file, path, path)


#: The path that stands for standard output.
STDOUT = "-"
#: Lines that are written in one go, some 200 KB.
BATCH = 4096


def add_output(parser: ArgumentParser, what: str) -> None:
    """Add ``--output``, a file or standard output, which gets *what*."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=STDOUT,
        help=f"where to write {what} (default: -, standard output)",
    )


def check_outputs(outputs: Mapping[str, str | None], inputs: Iterable[str | None]) -> None:
    """Raise Refused for a file that would take the place of an input, of another output, or lie among the inputs.

    *outputs* are by their options; an input or output may be ``-`` or None.
    """
    read = {Path(name).resolve(): name for name in inputs if name not in (None, STDOUT)}
    taken: dict[Path, str] = {}
    for option, name in outputs.items():
        if name in (None, STDOUT):
            continue
        path = Path(name).resolve()
        if path.exists() and not path.is_file() and not path.is_dir():
            continue  # A pipe or /dev/null replaces nothing.
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


class Output:
    """Where a command writes its lines."""

    def __init__(self, raw: RawIOBase, name: str) -> None:
        """Write to *raw*, which messages call *name*."""
        self._raw = raw
        self._name = name

    def write(self, lines: Iterable[str]) -> None:
        """Write *lines*, which end as lines do. Raises Failed, or BrokenPipeError if nobody reads any more."""
        waiting = iter(lines)
        while text := "".join(islice(waiting, BATCH)):
            if self._raw.isatty():
                wipe()
            with failing(f"write {self._name}"):
                _write_all(self._raw, text.encode("ascii"))


@contextmanager
def open_output(path: str) -> Iterator[Output]:
    """Open the file at *path*, or standard output for ``-``; see above for what becomes of it.

    Raises Failed, before anything is written, if it cannot be opened.
    """
    if path == STDOUT:
        if sys.stdout is None:
            raise Failed("cannot write standard output: it is closed")
        # Past the buffer of sys.stdout, which would try once more at exit to write what could not be written.
        with open(sys.stdout.fileno(), "wb", buffering=0, closefd=False) as raw:
            yield Output(raw, "standard output")
        return
    with replacing(path, Failed) as raw:
        yield Output(raw, path)


def _write_all(raw: RawIOBase, content: bytes) -> None:
    left = memoryview(content)
    while left:
        written = cast("int | None", raw.write(left))
        if written is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        left = left[written:]
