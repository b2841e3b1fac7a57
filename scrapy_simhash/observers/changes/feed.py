"""Feed: the file of ``SIMHASH_CHANGES``. Each line of the register gets into it once, whatever happens in between."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_simhash.exceptions import SettingError

if TYPE_CHECKING:
    from scrapy_simhash.observers.changes.register import Register

#: Bytes at the end of the file among which its last line is looked for, at first.
_TAIL = 65_536


class Feed:
    """Appends lines to a file, and finds out which are there after a kill: each begins with its number."""

    def __init__(self, path: Path) -> None:
        """Make sure that *path* can be written; raises SettingError if not. Missing folders are made."""
        self.path = path
        #: Number of the last line in the file, once recover() has looked.
        self.last = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and not path.is_file():
                raise OSError("is not a file")
            path.open("ab").close()
        except (OSError, ValueError) as error:
            raise SettingError(
                f"SIMHASH_CHANGES must be a file that can be written, got {str(path)!r}:"
                f" {getattr(error, 'strerror', None) or error}"
            ) from error

    def recover(self, newest: int) -> None:
        """Find the last whole line, and cut off what a kill has left behind it. Raises OSError.

        *newest* is the number of the latest line of the register: a greater one came from another register.
        """
        with self.path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            tail, start = b"", size
            # Up to the beginning of the last whole line.
            while start and tail.count(b"\n") < 2:
                step = min(start, max(_TAIL, len(tail)))
                start -= step
                file.seek(start)
                tail = file.read(step) + tail
            whole, newline, torn = tail.rpartition(b"\n")
            if torn:
                file.truncate(size - len(torn))
        last = _number(whole.rpartition(b"\n")[2]) if newline else 0
        self.last = last if last <= newest else 0

    def write(self, register: Register) -> None:
        """Append what *register* has and the file has not. Raises OSError; the next change writes it then."""
        lines = list(register.lines(self.last))
        if not lines:
            return
        end = self.path.stat().st_size if self.path.exists() else 0
        try:
            with self.path.open("ab") as file:
                file.write(b"".join(line for _, line in lines))
        except OSError:
            # A full disk: half a line must not stand before the next one.
            os.truncate(self.path, end)
            raise
        self.last = lines[-1][0]


def _number(line: bytes) -> int:
    """Return the number of a line; 0 for one that is not ours."""
    try:
        found = json.loads(line)["number"]
    except (ValueError, TypeError, KeyError):
        return 0
    return found if isinstance(found, int) else 0
