"""Lines on their way out: all of them, or none. See :mod:`scrapy_simhash.replacement`."""

from __future__ import annotations

import errno
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import RawIOBase
from itertools import islice
from pathlib import Path
from typing import cast

from scrapy_simhash.cli.failures import Failed, Refused, failing
from scrapy_simhash.cli.progress import wipe
from scrapy_simhash.replacement import replacing

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
def opened(path: str) -> Iterator[Output]:
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
