"""One page of a batch: its reading and its result."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from scrapy_simhash.action import Action
from scrapy_simhash.config import Config
from scrapy_simhash.files.records import Broken, Record
from scrapy_simhash.fingerprinter import KnownSite, PageFingerprinter, Reading
from scrapy_simhash.judge.hints import evidence, protections, read_canonical, read_hints
from scrapy_simhash.judge.policy import Judged, SimhashPolicy
from scrapy_simhash.page.text import parse
from scrapy_simhash.times import written
from scrapy_simhash.verdict import Reason, Status, Verdict


class GivenSite(NamedTuple):
    """A `KnownSite` that returns given flags for a single page. Equal pages with equal flags have equal readings."""

    answer: bytes | None

    def flags(self, keys: bytes, /) -> bytes | None:
        """See `KnownSite`."""
        return self.answer


class Read(NamedTuple):
    """The result of reading a page."""

    reading: Reading | None
    """The reading; None for a page that is too large or could not be read."""
    canonical: str | None = None
    """The canonical URL, if requested."""
    fault: str = ""
    """The error in this package that prevented reading the page; empty if there was none."""


class PageReader:
    """Reads pages and finds protected copies with the settings of a batch. Can be pickled."""

    def __init__(self, config: Config, *, with_canonical: bool = False) -> None:
        """With *with_canonical*, also read the canonical URL."""
        self.config = config
        self._fingerprinter = PageFingerprinter(config)
        self._with_canonical = with_canonical
        self._policy = _DropItems(config)

    def read(self, page: Record, site: KnownSite | None) -> Read:
        """Read *page* with the boilerplate model *site*; never raises."""
        try:
            return self._read(page, site)
        except Exception as error:  # unreadable pages are kept, as in a crawl
            return Read(None, fault=f"{type(error).__name__}: {error}")

    def _read(self, page: Record, site: KnownSite | None) -> Read:
        maxsize = self.config.maxsize
        if maxsize and len(page.page) > maxsize:
            return Read(None)
        if page.is_text:
            text = page.page if isinstance(page.page, str) else page.page.decode("utf-8", "replace")
            return Read(self._fingerprinter.read_text(text))
        root = parse(page.page, page.content_type)
        reading = self._fingerprinter.read(
            root, content_language=page.content_language or None, site=site, url=page.url
        )
        return Read(reading, read_canonical(root, page.url) if self._with_canonical else None)

    def protect(self, step: Step) -> None:
        """Keep a copy that a crawl with ``SIMHASH_ACTION = "drop_items"`` protects; never raises."""
        if step.selection is not Selection.COPY or step.page is None or step.verdict is None:
            return
        try:
            decision = self._policy.decide(_Copy(step.page, step.verdict))
        except Exception as error:
            step.selection, step.fault = Selection.KEPT, f"{type(error).__name__}: {error}"
            return
        if Action.DROP_ITEMS not in decision.action:
            step.selection = Selection.KEPT
            step.protected = "" if decision.protected is None else decision.protected.value


class _DropItems(SimhashPolicy):
    """Drops copies, regardless of ``SIMHASH_ACTION``. A record has no links to follow."""

    def copy_action(self, page: Judged) -> Action:
        return Action.DROP_ITEMS

    def unchanged_action(self, page: Judged) -> Action:
        return Action.MARK


class _Copy:
    """A copy among stored pages, as the policy needs it."""

    def __init__(self, page: Record, verdict: Verdict) -> None:
        self._page = page
        self.verdict, self.url = verdict, page.url
        # A stored page has no request, and is not a start page (depth 0).
        self.depth, self.asked = 1, dict[str, Any]()

    def protections(self, wanted: Collection[str]) -> Iterable[str]:
        page, original = self._page, self.verdict.duplicate_of or self.url
        if page.is_text:
            return ()
        # The copy is parsed again, because its original was unknown when the page was read.
        root = parse(page.page, page.content_type)
        hints = read_hints(root, page.url)
        found = evidence(hints, page.url, original, ())
        return protections(root, page.url, original, hints, found, wanted, self.verdict.contradicts)


def report_line(step: Step) -> dict[str, object]:
    """Return the line about a record that is not broken, with the keys of ``SIMHASH_REPORT``."""
    page, verdict = step.outcome[:2]
    is_dropped = step.selection is not Selection.KEPT
    as_unchanged = step.selection is Selection.REPEATED
    action = Action.DROP_ITEMS if is_dropped else Action.MARK if step.protected else None
    return {
        "url": page.url,
        **verdict.to_dict(),
        "action": action and str(action),
        "dropped_as": ("unchanged" if as_unchanged else "near_duplicate") if is_dropped else None,
        "protected": step.protected or None,
        "preferred": None,
        "time": None if page.seen is None else written(page.seen),
    }


#: Fields that ``mark`` adds to a record: the same names for each record, with plain values for every file format.
Marks: TypeAlias = "dict[str, str | int | float | bool | None]"
#: Prefix of these fields (the keys of a report have no prefix), and the types of their values except None.
PREFIX = "simhash_"
MARKS: Mapping[str, type] = {
    f"{PREFIX}kept": bool,
    f"{PREFIX}status": str,
    f"{PREFIX}reason": str,
    f"{PREFIX}duplicate_of": str,
    f"{PREFIX}distance": int,
    f"{PREFIX}similarity": float,
    f"{PREFIX}cluster": int,
    f"{PREFIX}protected": str,
}


def marks_of(verdict: Verdict, is_kept: bool, protected: str | None) -> Marks:
    """Return the fields that ``mark`` adds to a record with this verdict."""
    row = verdict.to_dict() | {"kept": is_kept, "protected": protected}
    return {name: row[name.removeprefix(PREFIX)] for name in MARKS}


class Selection(str, Enum):
    """Whether a record is written to the output, or the reason why it is not."""

    KEPT = "kept"
    COPY = "copy"
    """Dropped as a near-duplicate of another page."""
    REPEATED = "repeated"
    """Dropped because an earlier record has the same URL and text."""


class Outcome(NamedTuple):
    """The result for one record."""

    record: Record
    verdict: Verdict
    is_kept: bool
    protected: str | None = None
    """The protection of a copy that was kept, a value of ``SIMHASH_PROTECT`` such as ``pagination``."""

    @property
    def fields(self) -> Marks:
        """The verdict as plain values for the fields of a record."""
        return marks_of(self.verdict, self.is_kept, self.protected)


@dataclass(slots=True)
class Step:
    """A record, and its result so far."""

    item: Record | Broken
    read: Read | None = None
    verdict: Verdict | None = None
    selection: Selection = Selection.KEPT
    protected: str = ""
    fault: str = ""

    @property
    def page(self) -> Record | None:
        """The record; None for a broken record."""
        return None if isinstance(self.item, Broken) else self.item

    @property
    def outcome(self) -> Outcome:
        """The result for a record that is not broken."""
        if self.page is None or self.verdict is None:
            raise TypeError("there is no outcome yet")
        return Outcome(self.page, self.verdict, self.selection is Selection.KEPT, self.protected or None)

    @property
    def text(self) -> int | None:
        """Number of the text of the page or of its original. One record of each text is kept."""
        return None if self.verdict is None else self.verdict.text_number


@dataclass(slots=True)
class Counts:
    """Numbers of records by their result."""

    records: int = 0
    """Pages and broken records."""
    kept: int = 0
    near_duplicates: int = 0
    """Dropped as near-duplicates of another page."""
    repeated: int = 0
    """Dropped because an earlier record has the same URL and the same text."""
    changed: int = 0
    """Kept, although an earlier record has the same URL, because the text differs."""
    protected: int = 0
    """Kept, although they are near-duplicates."""
    skipped: int = 0
    """Kept without a comparison: too little text, or too large."""
    failed: int = 0
    """Kept because an error in this package prevented reading or comparing them."""
    broken: int = 0
    """Unreadable records, which no output contains."""

    def add(self, step: Step) -> None:
        """Count a record."""
        self.records += 1
        if step.page is None:
            self.broken += 1
            return
        is_kept, status = step.selection is Selection.KEPT, step.verdict and step.verdict.status
        self.kept += is_kept
        self.near_duplicates += step.selection is Selection.COPY
        self.repeated += step.selection is Selection.REPEATED
        self.protected += is_kept and bool(step.protected)
        self.changed += is_kept and status is Status.REVISIT
        self.skipped += status is Status.SKIPPED
        self.failed += bool(step.fault)


def selection_of(verdict: Verdict) -> Selection:
    """Return the result for an unprotected record."""
    if verdict.status is Status.REVISIT and verdict.reason is Reason.UNCHANGED:
        return Selection.REPEATED
    return Selection.COPY if verdict.is_duplicate else Selection.KEPT
