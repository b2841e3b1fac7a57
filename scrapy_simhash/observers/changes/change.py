"""Change and PageChange: what has become of a page since it was seen last, and the line that tells it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from scrapy_simhash.observers.changes.page_text import Difference
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


#: Why a page is gone.
ANSWERED, NOT_LINKED = "status", "not_linked"


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
