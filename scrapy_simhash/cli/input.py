"""Where a command reads: a file, or standard input for ``-``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO, NamedTuple

from scrapy_simhash.cli.failures import Failed, failing

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
def opened(path: str, buffering: int = -1) -> Iterator[Input]:
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
