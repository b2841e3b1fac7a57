"""Step: one record on its way through a batch. Outcome: what came of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import NamedTuple

from scrapy_simhash.files.batch.marks import Marks, marks_of
from scrapy_simhash.files.batch.page_reader import Page, Read, Ruling
from scrapy_simhash.files.records import Broken, Record
from scrapy_simhash.verdict import Reason, Status, Verdict


class Fate(str, Enum):
    """What becomes of a record."""

    KEPT = "kept"
    COPY = "copy"
    """Dropped: it repeats another page."""
    REPEATED = "repeated"
    """Dropped: its URL came before, with the same text."""


class Outcome(NamedTuple):
    """What came of one record."""

    record: Record
    verdict: Verdict
    is_kept: bool
    exemption: str | None = None
    """Why a copy was kept: ``pagination``, ``language``, ``product``, ...; see ``SIMHASH_PROTECT``."""

    @property
    def fields(self) -> Marks:
        """The verdict as plain values, to be put into the fields of a record."""
        return marks_of(self.verdict, self.is_kept, self.exemption)


@dataclass(slots=True)
class Step:
    """A record, and what is known of it so far; of a broken one there is never more."""

    item: Record | Broken
    page: Page | None
    """None for a broken record."""
    read: Read | None = None
    verdict: Verdict | None = None
    content: int | None = None
    """Number of the content that it has or repeats: of all records with one of them, one is kept."""
    fate: Fate = Fate.KEPT
    exemption: str = ""
    fault: str = ""

    @classmethod
    def of(cls, item: Record | Broken) -> Step:
        """Return the beginning of a record's way."""
        return cls(item, None if isinstance(item, Broken) else Page.of(item))

    def take(self, ruling: Ruling) -> None:
        """Take note of the ruling on a copy."""
        self.fate = Fate.KEPT if ruling.is_kept else Fate.COPY
        self.exemption = ruling.exemption
        self.fault = ruling.fault

    @property
    def outcome(self) -> Outcome:
        """What came of a record that is not broken."""
        if isinstance(self.item, Broken) or self.verdict is None:
            raise TypeError("there is no outcome yet")
        return Outcome(self.item, self.verdict, self.fate is Fate.KEPT, self.exemption or None)


@dataclass(slots=True)
class Counts:
    """What came of all records so far."""

    records: int = 0
    """Pages and broken records."""
    kept: int = 0
    near_duplicates: int = 0
    """Dropped, since they repeat another page."""
    repeated: int = 0
    """Dropped, since the same URL came before with the same text."""
    changed: int = 0
    """Kept, though the same URL came before, with another text."""
    protected: int = 0
    """Kept, though they repeat another page."""
    skipped: int = 0
    """Kept without a comparison: too little text, or too large."""
    failed: int = 0
    """Kept, since they could not be read or compared: a fault of ours."""
    broken: int = 0
    """No pages: in no output."""

    def add(self, step: Step) -> None:
        """Count a record that is through."""
        self.records += 1
        if isinstance(step.item, Broken):
            self.broken += 1
            return
        verdict = step.verdict
        self.kept += step.fate is Fate.KEPT
        self.near_duplicates += step.fate is Fate.COPY
        self.repeated += step.fate is Fate.REPEATED
        self.protected += bool(step.exemption) and step.fate is Fate.KEPT
        if verdict is not None:
            self.changed += step.fate is Fate.KEPT and verdict.status is Status.REVISIT
            self.skipped += verdict.status is Status.SKIPPED
        self.failed += bool(step.fault)

    @property
    def facts(self) -> dict[str, int]:
        """All of them by name."""
        return asdict(self)


def fate_of(verdict: Verdict) -> Fate:
    """Return what becomes of a record that nothing protects.

    >>> fate_of(Verdict(Status.REVISIT, reason=Reason.UNCHANGED)).value
    'repeated'
    """
    if verdict.status is Status.REVISIT and verdict.reason is Reason.UNCHANGED:
        return Fate.REPEATED
    return Fate.COPY if verdict.is_duplicate else Fate.KEPT
