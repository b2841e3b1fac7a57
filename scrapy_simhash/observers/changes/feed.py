"""Feed: the file of ``SIMHASH_CHANGES``, a line of JSON for each change."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Mapping
from enum import Enum
from hashlib import blake2b
from pathlib import Path
from typing import Any

from scrapy_simhash.observers.own_file import make_ready

#: Max lines that wait while the file cannot be written; the oldest are dropped.
MOST_WAITING = 10_000
#: Bytes per read to find the end of the last line.
_CHUNK = 64 * 1024


class Change(str, Enum):
    """The kind of change of a page since its last visit."""

    NEW = "new"
    CHANGED = "changed"
    SMALL_CHANGE = "small_change"
    """The page is still a near-duplicate of its former text."""
    MOVED = "moved"
    """The page is gone or was not seen, and its text is at another URL."""
    GONE = "gone"
    """The page answers 404 or 410."""
    NOT_SEEN = "not_seen"
    """A complete crawl did not request it."""
    BACK = "back"
    """The page was gone or not seen, and exists again."""


def line_id(key: bytes, change: Change, *about: object) -> str:
    """Return 16 hexadecimal digits, the same if the same change is reported again."""
    text = "\0".join(map(str, (key.hex(), change.value, *about)))
    return blake2b(text.encode(), digest_size=8).hexdigest()


class Feed:
    """Appends lines to a file, unbuffered."""

    def __init__(self, path: Path) -> None:
        """Check that *path* can be written; create missing folders. Raises SettingError."""
        self.path = path
        self._waiting: deque[bytes] = deque(maxlen=MOST_WAITING)
        make_ready(path, "SIMHASH_CHANGES")

    def open(self) -> None:
        """Remove an incomplete last line, left by a kill. Raises OSError."""
        with self.path.open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            while end:
                begin = max(end - _CHUNK, 0)
                file.seek(begin)
                found = file.read(end - begin).rfind(b"\n")
                end = begin if found < 0 else begin + found + 1
                if found >= 0:
                    break
            file.truncate(end)

    def write(self, line: Mapping[str, Any]) -> None:
        """Append *line*, and waiting lines before it. Raises OSError; then all of them wait."""
        self._waiting.append(json.dumps(line).encode("ascii") + b"\n")
        with self.path.open("ab", buffering=0) as file:
            end = file.tell()
            try:
                while self._waiting:
                    data = self._waiting[0]
                    if file.write(data) != len(data):
                        raise OSError("the disk is full")
                    end += len(self._waiting.popleft())
            except OSError:
                os.truncate(self.path, end)
                raise
