"""Verdict: whether a page is new, a near-duplicate or a revisit, with the evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_simhash.display import html_of
from scrapy_simhash.names import META_RESULT
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.times import parsed, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request
    from scrapy.http import Response

    from scrapy_simhash.store.base import Visit


class Status(str, Enum):
    """How a page relates to the pages before it."""

    NEW = "new"
    NEAR_DUPLICATE = "near_duplicate"
    REVISIT = "revisit"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


class Reason(str, Enum):
    """Why a page was skipped or is unknown, or how a revisited page has changed."""

    UNCHANGED = "unchanged"
    """A revisit of a page that is equal to last time, character for character."""
    SMALL_CHANGE = "small_change"
    """A revisit whose text has changed, but is still a near-duplicate of the first page of its cluster."""
    CHANGED = "changed"
    """A revisit whose text has changed and repeats no other page."""
    NOW_NEAR_DUPLICATE = "now_near_duplicate"
    """A revisit whose text has changed and now repeats another page."""

    OPTED_OUT = "opted_out"
    """The request said ``simhash: False``."""
    NO_CALLBACK = "no_callback"
    """Not a page of the spider: ``robots.txt``, a download of a media pipeline."""
    STATUS = "status"
    """The HTTP status of the response is not 2xx."""
    NOT_HTML = "not_html"
    """Not HTML by its content type or its body."""
    TRUNCATED = "truncated"
    """The response has Scrapy's flag ``dataloss`` or ``download_stopped``: its body is not complete."""
    TOO_LARGE = "too_large"
    """Larger than ``SIMHASH_MAXSIZE``."""
    SHORT_TEXT = "short_text"
    """Fewer than ``SIMHASH_MIN_SHINGLES`` shingles of main text; a near-duplicate if its text and title are exactly
    those of another such page."""
    INTERSTITIAL = "interstitial"
    """A page in front of others: a login, a consent page or a captcha."""

    STORE = "store"
    """Unknown, because the store did not answer."""


class NearMiss(NamedTuple):
    """The most alike of the pages that a new page was compared with."""

    url: str
    distance: int
    """Bits by which the nearest values of the two differ, of all text or of own parts."""
    similarity: float
    """Estimated share of shingles in common, 0-1: of all text or of own parts, whichever is more."""
    threshold: float
    """The greatest ``SIMHASH_MIN_SIMILARITY`` by which it would have been a near-duplicate of that page, in steps of
    0.001; 0 if by none."""
    decided_by: str = ""
    """What kept the two apart, one of ``scrapy_simhash.judge.rule.BASES``."""
    required: float = 0.0
    """The similarity that it would have had to reach, 0-1."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values by the names of the fields."""
        return {
            **self._asdict(),
            "similarity": round(self.similarity, 3),
            "required": round(self.required, 3),
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one page."""

    status: Status
    fingerprint: Fingerprint | None = None
    """None when the page was skipped or is unknown."""
    duplicate_of: str | None = None
    """URL of the page that it repeats: the one crawled first, which need not be the older one."""
    distance: int | None = None
    """Hamming distance in bits, 0-64: from ``duplicate_of``, or for a revisit from its previous fingerprint."""
    similarity: float | None = None
    """Estimated share of its shingles that ``duplicate_of`` has too, 0-1; see
    :class:`scrapy_simhash.judge.rule.Rule`."""
    cluster: int | None = None
    """Number of the cluster, counted from 0: that of the first page in it."""
    reason: Reason | None = None
    """Set for ``skipped`` and ``revisit``, for near-duplicates that are too short for a fingerprint, and for
    ``unknown`` pages when the store did not answer."""
    last_seen: int | None = None
    """Time of the previous visit of a revisited page, in seconds of Unix time."""
    is_delivered: bool = False
    """Whether the page is unchanged, and an earlier crawl delivered an item of it since it has this text."""
    is_exact: bool = False
    """Whether it is equal to the page in ``duplicate_of``, character for character."""
    rank: int | None = None
    """How many pages of the cluster came before it: 0 for its first, 1 for the first that repeats it. None when the
    page is in no cluster, or when the store does not count."""
    hints: tuple[str, ...] = ()
    """Hints in markup and URLs that connect this page with ``duplicate_of``; they do not change the verdict."""
    elsewhere: str | None = None
    """URL of the page of another scope that it repeats; see ``across`` in ``SIMHASH_SCOPE``."""
    is_by_learning: bool = False
    """Whether ``SIMHASH_SITE_LEARNING`` made the difference: by all its text the page would be ``new`` instead of a
    near-duplicate, or the other way round."""

    threshold: float | None = None
    """The greatest ``SIMHASH_MIN_SIMILARITY`` by which it repeats what decided, in steps of 0.001. None for a new
    page, for one too short for a fingerprint, under the classic rule, and from a store that does not explain."""
    near_miss: NearMiss | None = None
    """Of a page that repeats none, the most alike page that it was compared with. None if there was no candidate,
    under the classic rule, and from a store that does not explain."""
    decided_by: str | None = None
    """What made a page a near-duplicate, one of ``scrapy_simhash.judge.rule.BASES``: ``all text``, ``unique text``,
    ... None for a new page, and where ``threshold`` is None."""
    required: float | None = None
    """The similarity that this had to reach, 0-1: ``SIMHASH_MIN_SIMILARITY``, less for versions of one page on a site
    that is known, more for pages whose titles differ; always relative to the setting."""
    also_near: tuple[int, ...] = ()
    """Numbers of other clusters that it is near, by their first page or one of the first two copies: they are one
    group with its own. Which page is its original they do not change."""
    contradicts: bool = False
    """Whether its facts contradict those of ``duplicate_of``, so that it is not dropped; see `Protection.FACTS`."""
    text_number: int | None = field(default=None, compare=False, repr=False)
    """Number of the cluster whose text it has, also for a page that is skipped because its text is short; None for
    other pages that are skipped."""
    page_hash: int | None = field(default=None, compare=False, repr=False)
    """Hash of its text; None if that is not known."""
    original_key: bytes | None = field(default=None, compare=False, repr=False)
    """Key of the page in ``duplicate_of``; None if the store does not return it."""

    former: Visit | None = field(default=None, compare=False, repr=False)
    """Its row before; None for a page that is new, or says nothing."""

    @property
    def is_duplicate(self) -> bool:
        """Whether the page repeats another one: a near-duplicate, or a revisit of one."""
        return self.duplicate_of is not None

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values, always with the same keys: what meta, items, reports and tables show.

        ``fingerprint`` is its value as 16 hexadecimal digits.
        """
        # Of every page of a crawl: what is None calls nothing. An enumeration's value would take two calls.
        repeats, is_revisit = self.duplicate_of is not None, self.status is Status.REVISIT
        return {
            "status": self.status._value_,
            "reason": self.reason and self.reason._value_,
            "duplicate_of": self.duplicate_of,
            "distance": self.distance,
            "similarity": self.similarity and round(self.similarity, 3),
            "exact": self.is_exact if repeats else None,
            "cluster": self.cluster,
            "rank": self.rank,
            "also_near": [*self.also_near],
            "hints": [*self.hints],
            "elsewhere": self.elsewhere,
            "contradicts": self.contradicts if repeats else None,
            "by_learning": self.is_by_learning or None,
            "threshold": self.threshold,
            "decided_by": self.decided_by,
            "required": self.required and round(self.required, 3),
            "near_miss": self.near_miss and self.near_miss.to_dict(),
            "last_seen": None if self.last_seen is None else written(self.last_seen),
            "delivered": self.is_delivered if is_revisit else None,
            "fingerprint": self.fingerprint and f"{self.fingerprint.value:016x}",
        }

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Verdict:
        """Return the verdict that ``to_dict()`` wrote; other keys are ignored.

        Its ``fingerprint`` has the value only, so that it can be searched for, but not verified.
        """
        value, miss = row["fingerprint"], row["near_miss"]
        return cls(
            Status(row["status"]),
            None if value is None else Fingerprint(int(value, 16)),
            row["duplicate_of"],
            row["distance"],
            row["similarity"],
            row["cluster"],
            row["reason"] and Reason(row["reason"]),
            None if row["last_seen"] is None else parsed(row["last_seen"]),
            bool(row["delivered"]),
            bool(row["exact"]),
            row["rank"],
            tuple(row["hints"]),
            row["elsewhere"],
            bool(row["by_learning"]),
            row["threshold"],
            miss and NearMiss(**miss),
            row["decided_by"],
            row["required"],
            tuple(row["also_near"]),
            bool(row["contradicts"]),
        )

    def _repr_html_(self) -> str:
        return html_of(self)


def result(page: Request | Response) -> Verdict | None:
    """Return the verdict on *page*, a response in a callback or its request, from ``simhash_result`` in its meta.

    None if there is none: the add-on is not enabled, or the page is not one of the spider's, such as ``robots.txt``.
    """
    row = getattr(page, "meta", {}).get(META_RESULT)
    return None if row is None else Verdict.from_dict(row)
