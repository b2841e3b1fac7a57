"""Verdict: what was concluded about a page, with the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_simhash.page.fingerprint import Fingerprint


class Status(str, Enum):
    """What a page is to the pages seen before it."""

    NEW = "new"
    NEAR_DUPLICATE = "near_duplicate"
    REVISIT = "revisit"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


class Reason(str, Enum):
    """Why a page was skipped, how a revisited page has fared, or why nobody knows."""

    UNCHANGED = "unchanged"
    """A revisit with the very text of last time, title included."""
    DELIVERED = "delivered"
    """The same, and another crawler, which is still at work, has handed it on; see ``SIMHASH_REVISIT_LIVE``."""
    SMALL_CHANGE = "small_change"
    """A revisit whose text is another, but still a near-duplicate of what its cluster began with."""
    CHANGED = "changed"
    """A revisit that says something else than last time, and nothing that another page said first."""
    NOW_NEAR_DUPLICATE = "now_near_duplicate"
    """A revisit that says something else than last time: what another page said first."""

    OPTED_OUT = "opted_out"
    """The request said ``simhash: False``."""
    NO_CALLBACK = "no_callback"
    """Not a page of the spider: ``robots.txt``, a download of a media pipeline."""
    STATUS = "status"
    """The response is not a 2xx one."""
    NOT_HTML = "not_html"
    """Not HTML by its content type or its body."""
    TRUNCATED = "truncated"
    """Scrapy says that the body is not complete."""
    TOO_LARGE = "too_large"
    """Larger than ``SIMHASH_MAXSIZE``."""
    SHORT_TEXT = "short_text"
    """Fewer than ``SIMHASH_MIN_SHINGLES`` shingles of main text; a near-duplicate if its text and title are exactly
    those of another such page."""

    STORE = "store"
    """Unknown, since the store did not answer."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was concluded about one page."""

    status: Status
    fingerprint: Fingerprint | None = None
    """None when the page was skipped or not understood."""
    duplicate_of: str | None = None
    """URL of the page that it repeats: the one that was seen first, not the one that was written first."""
    distance: int | None = None
    """Bits in which it differs, 0-64: from ``duplicate_of``, or for a revisit from its former self."""
    similarity: float | None = None
    """Estimated share of its shingles that ``duplicate_of`` has too, 0-1; see :class:`scrapy_simhash.rule.Rule`."""
    cluster: int | None = None
    """Number of the cluster: the number, counted from 0, of the page that was its first."""
    reason: Reason | None = None
    """Set for ``skipped`` and ``revisit``, for near-duplicates that are too short for a fingerprint, and for
    ``unknown`` pages of which the store could not be asked."""
    last_seen: int | None = None
    """When a revisited page was seen last, in seconds of Unix time."""
    is_settled: bool = False
    """Whether what was made of a revisited page last time is safe; see :class:`~scrapy_simhash.store.Visit`."""
    is_exact: bool = False
    """Whether title and main text are, to the letter, those with which the page in ``duplicate_of`` came."""
    rank: int | None = None
    """How many pages of the cluster came before it: 0 for its first, 1 for the first that repeats it. None when the
    page is in no cluster, or when the store does not count."""
    hints: tuple[str, ...] = ()
    """What markup and addresses say about this page and ``duplicate_of``; they decide nothing by themselves."""
    elsewhere: str | None = None
    """URL of the page of another scope that it repeats; see ``SIMHASH_ACROSS_SCOPES``."""

    @property
    def is_duplicate(self) -> bool:
        """Whether the page repeats another one: near-duplicates, and revisits of such."""
        return self.duplicate_of is not None
