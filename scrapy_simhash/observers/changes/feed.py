"""Feed: what has become of pages since they were seen last, and the file that tells it, a line of JSON each."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from scrapy_simhash.observers.changes.page_text import Difference
from scrapy_simhash.observers.own_file import make_ready
from scrapy_simhash.times import written


class Change(str, Enum):
    """What has become of a page since an earlier crawl."""

    NEW = "new"
    CHANGED = "changed"
    """Title or main text have other words."""
    SMALL_CHANGE = "small_change"
    """The same, and the text is still a near-duplicate of what it was."""
    UNCHANGED = "unchanged"
    """Never told in the feed, nor by the signal."""
    MOVED = "moved"
    """A new page with the text of another one, which is gone or redirects."""
    GONE = "gone"
    BACK = "back"
    """It was told as gone, and answers again."""


@dataclass(frozen=True, slots=True)
class PageChange:
    """What is told of one page: a line of ``SIMHASH_CHANGES``, and what the signal ``page_changed`` brings."""

    url: str
    change: Change
    time: int
    """When it was found, in seconds of Unix time."""
    text_hash: int | None = None
    """64-bit hash of title and text; None for a page that is gone."""
    previous_url: str | None = None
    """Where a page that has moved was before."""
    previous_text_hash: int | None = None
    previous_time: int | None = None
    """When that text was seen last; None for a new page."""
    reason: str | None = None
    """Why a page is gone: ``status`` for 404 and 410, ``not_linked`` if nothing led to it any more."""
    difference: Difference | None = None
    """Which paragraphs came and went; None where there is no former text, or nobody knows it."""

    def to_dict(self, size: int) -> dict[str, Any]:
        """Return the keys of a line, with at most *size* characters of new paragraphs."""
        return {
            "url": self.url,
            "change": self.change.value,
            "previous_url": self.previous_url,
            "reason": self.reason,
            "text_hash": _hex(self.text_hash),
            "previous_text_hash": _hex(self.previous_text_hash),
            "time": written(self.time),
            "previous_time": None if self.previous_time is None else written(self.previous_time),
            "difference": None if self.difference is None else self.difference.to_dict(size),
        }


def _hex(text_hash: int | None) -> str | None:
    return None if text_hash is None else f"{text_hash:016x}"


class Feed:
    """Appends lines to a file, and finds out which are there after a kill: each begins with its number."""

    def __init__(self, path: Path) -> None:
        """Make sure that *path* can be written; raises SettingError if not. Missing folders are made."""
        self.path = path
        #: Number of the last line in the file, once recover() has looked.
        self.last = 0
        make_ready(path, "SIMHASH_CHANGES")

    def recover(self, newest: int) -> None:
        """Find the last whole line, and cut off what a kill has left behind it. Raises OSError.

        *newest* is the number of the latest line of the register: a greater one came from another register.
        """
        line, end, size = b"", 0, self.path.stat().st_size
        with self.path.open("r+b") as file:
            if size:
                # Looked at from its end, however long it is.
                with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as text:
                    end = text.rfind(b"\n") + 1
                    line = text[text.rfind(b"\n", 0, max(end - 1, 0)) + 1 : end]
            if end < size:
                file.truncate(end)
        last = _number(line)
        self.last = last if last <= newest else 0

    def write(self, lines: Sequence[tuple[int, bytes]]) -> None:
        """Append lines, each behind its number. Raises OSError; then none of them is there."""
        if not lines:
            return
        file = self.path.open("ab")
        end = file.tell()
        try:
            with file:
                file.write(b"".join([line for _, line in lines]))
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
