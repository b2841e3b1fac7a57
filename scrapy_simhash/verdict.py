"""Verdict: whether a page is new, a near-duplicate or a revisit, with the evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_simhash.names import META_RESULT
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.times import parsed, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request
    from scrapy.http import Response

    from scrapy_simhash.store.base import Row


class Status(str, Enum):
    """The relation of a page to earlier pages."""

    NEW = "new"
    NEAR_DUPLICATE = "near_duplicate"
    REVISIT = "revisit"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


class Reason(str, Enum):
    """The reason why a page was skipped or is unknown, or the kind of change of a revisited page."""

    UNCHANGED = "unchanged"
    """A revisit of a page whose text is equal, character for character."""
    SMALL_CHANGE = "small_change"
    """A revisit whose text has changed, but is still a near-duplicate of the first page of its cluster."""
    CHANGED = "changed"
    """A revisit whose text has changed and is not a near-duplicate of another page."""
    NOW_NEAR_DUPLICATE = "now_near_duplicate"
    """A revisit whose text has changed and is now a near-duplicate of another page."""

    OPTED_OUT = "opted_out"
    """The request has ``simhash: False`` in its meta."""
    NO_CALLBACK = "no_callback"
    """The response is not for the spider, such as ``robots.txt`` or the download of a media pipeline."""
    STATUS = "status"
    """The HTTP status of the response is not 2xx."""
    NOT_HTML = "not_html"
    """The content type or the body is not HTML."""
    TRUNCATED = "truncated"
    """The body is incomplete: the response has Scrapy's flag ``dataloss`` or ``download_stopped``."""
    TOO_LARGE = "too_large"
    """The page is larger than ``SIMHASH_MAXSIZE``."""
    SHORT_TEXT = "short_text"
    """The main text has fewer than ``SIMHASH_MIN_SHINGLES`` shingles. With exactly the text and title of another such
    page, the page is a near-duplicate."""
    INTERSTITIAL = "interstitial"
    """A login, a consent page or a captcha in place of a page."""

    STORE = "store"
    """The store did not answer, so the page is unknown."""


class NearMiss(NamedTuple):
    """The most similar page that a new page was compared with."""

    url: str
    distance: int
    """Hamming distance of the two pages in bits: of all text or of unique text, whichever is smaller."""
    similarity: float
    """Estimated share of shingles in common, 0-1: of all text or of unique text, whichever is greater."""
    threshold: float
    """The greatest ``SIMHASH_MIN_SIMILARITY`` at which the new page would be a near-duplicate of this page, in steps
    of 0.001; 0 if there is no such value."""
    decided_by: str = ""
    """The basis of the decision, one of ``scrapy_simhash.judge.rule.BASES``."""
    required: float = 0.0
    """The required similarity, 0-1."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return {
            **self._asdict(),
            "similarity": round(self.similarity, 3),
            "required": round(self.required, 3),
        }


@dataclass(frozen=True)
class Verdict:
    """The verdict on one page."""

    status: Status
    fingerprint: Fingerprint | None = None
    """The fingerprint; None if the page was skipped, is unknown or is too short."""
    duplicate_of: str | None = None
    """URL of the original: the page that was crawled first, even if the other page was published earlier."""
    distance: int | None = None
    """Hamming distance in bits, 0-64: from ``duplicate_of``, or for a revisit from the previous fingerprint of the
    page."""
    similarity: float | None = None
    """Estimated share of shingles in common with ``duplicate_of``, 0-1; see
    :class:`scrapy_simhash.judge.rule.Rule`."""
    cluster: int | None = None
    """Number of the cluster, from 0."""
    reason: Reason | None = None
    """Set for ``skipped`` and ``revisit``, for near-duplicates that are too short for a fingerprint, and for
    ``unknown`` pages if the store did not answer."""
    last_seen: int | None = None
    """Time of the previous visit of a revisited page, in seconds of Unix time; else None."""
    is_delivered: bool = False
    """Whether the page is unchanged and an item with its current text was already delivered."""
    is_exact: bool = False
    """Whether the text is equal to that of ``duplicate_of``, character for character."""
    rank: int | None = None
    """Number of earlier pages in the cluster: 0 for the original, 1 for its first near-duplicate. None if the page is
    in no cluster, or the store does not count pages."""
    hints: tuple[str, ...] = ()
    """Hints in markup and URLs that connect this page with ``duplicate_of``; they do not change the verdict."""
    is_by_learning: bool = False
    """Whether ``SIMHASH_SITE_LEARNING`` changed the verdict: compared by its whole text, the page would be ``new``
    instead of a near-duplicate, or vice versa."""

    threshold: float | None = None
    """The greatest ``SIMHASH_MIN_SIMILARITY`` at which the page is a near-duplicate, in steps of 0.001. None for new
    pages, for pages too short for a fingerprint, under the classic rule, and if the store does not explain
    verdicts."""
    near_miss: NearMiss | None = None
    """The most similar page that a new page was compared with. None if there was no candidate, under the classic
    rule, and if the store does not explain verdicts."""
    decided_by: str | None = None
    """The basis of the decision for a near-duplicate, one of ``scrapy_simhash.judge.rule.BASES``: ``all text``,
    ``unique text``, ... None if ``threshold`` is None."""
    required: float | None = None
    """The required similarity, 0-1: ``SIMHASH_MIN_SIMILARITY``, or less for versions of one page on a known site, or
    more for pages with different titles."""
    also_near: tuple[int, ...] = ()
    """Numbers of other clusters whose original, or one of whose first two copies, is similar to the page. These
    clusters do not affect ``duplicate_of``."""
    contradicts: bool = False
    """Whether the facts contradict those of ``duplicate_of``, which protects the page; see `Protection.FACTS`."""
    text_number: int | None = field(default=None, compare=False, repr=False)
    """Number of the cluster of the page's text, also for a page that is skipped as too short; None for other skipped
    pages."""
    page_hash: int | None = field(default=None, compare=False, repr=False)
    """The page hash; None if unknown."""
    original_key: bytes | None = field(default=None, compare=False, repr=False)
    """Key of the page ``duplicate_of``; None if the store does not return it."""

    former: Row | None = field(default=None, compare=False, repr=False)
    """The previous row of the page; None for a new page or a page without text."""

    @property
    def is_duplicate(self) -> bool:
        """Whether the page has an original: it is a near-duplicate, or a revisit of a near-duplicate."""
        return self.duplicate_of is not None

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values, always with the same keys, as in meta, items, reports and tables.

        The value of ``fingerprint`` has 16 hexadecimal digits.
        """
        # This runs for every page, so calls are avoided: `Enum.value` would take two.
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
        """Return the verdict for a result of ``to_dict()``; unknown keys are ignored.

        The ``fingerprint`` has only the value, which is enough for a search, but not to verify candidates.
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
            bool(row["by_learning"]),
            row["threshold"],
            miss and NearMiss(**miss),
            row["decided_by"],
            row["required"],
            tuple(row["also_near"]),
            bool(row["contradicts"]),
        )


def result(page: Request | Response) -> Verdict | None:
    """Return the verdict on *page*, a response in a callback or its request, from ``simhash_result`` in its meta.

    None without a result: the add-on is not enabled, or the page is not for the spider, such as ``robots.txt``.
    """
    row = getattr(page, "meta", {}).get(META_RESULT)
    return None if row is None else Verdict.from_dict(row)
