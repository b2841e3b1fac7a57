"""One page of a batch: how it is read and ruled on, in this process or in another one, and what comes of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from lxml import etree

from scrapy_simhash.action import Action
from scrapy_simhash.config import Config
from scrapy_simhash.files.records import Broken, Record
from scrapy_simhash.fingerprinter import KnownSite, PageFingerprinter, Reading
from scrapy_simhash.judge.hints import evidence, protections, read_canonical, read_hints
from scrapy_simhash.judge.policy import Judged, SimhashPolicy
from scrapy_simhash.page.text import parse
from scrapy_simhash.verdict import Reason, Status, Verdict


class GivenSite(NamedTuple):
    """A `KnownSite` of which only the answer for one page is known: by equal answers pages are read alike."""

    answer: bytes | None

    def flags(self, keys: bytes, /) -> bytes | None:
        """See `KnownSite`."""
        return self.answer


class Read(NamedTuple):
    """A page that was read."""

    reading: Reading | None
    """None for a page that is too large, and for one with a fault."""
    answer: bytes | None = None
    """What the site said by which it was read; see `KnownSite`."""
    canonical: str | None = None
    """The URL that it names as its own, if that was asked for."""
    fault: str = ""
    """Why it could not be read: a fault of ours, since bad markup is none."""


class Ruling(NamedTuple):
    """Whether a copy is kept all the same."""

    is_kept: bool
    protected: str = ""
    """Why it was spared: a value of `Protection`; empty if it was not."""
    fault: str = ""
    """What went wrong: the page is kept then, as in a crawl."""


class PageReader:
    """Reads pages, and rules on copies, by the settings of a batch. Can be pickled."""

    def __init__(self, config: Config, *, with_canonical: bool = False) -> None:
        """*with_canonical* is for those who ask which URL of a cluster is to be preferred."""
        self.config = config
        self._fingerprinter = PageFingerprinter(config)
        self._with_canonical = with_canonical
        self._policy = _DropItems(config)

    def read(self, page: Record, site: KnownSite | None) -> Read:
        """Return what is needed to compare *page*; never raises."""
        try:
            return self._read(page, site)
        except Exception as error:  # a page that cannot be read is kept, as in a crawl
            return Read(None, fault=_told(error))

    def _read(self, page: Record, site: KnownSite | None) -> Read:
        maxsize = self.config.maxsize
        if maxsize and len(page.page) > maxsize:
            return Read(None)
        if page.is_text:
            return Read(self._fingerprinter.read_text(_text(page.page)))
        root = parse(page.page, page.content_type)
        reading = self._fingerprinter.read(
            root, content_language=page.content_language or None, site=site, url=page.url
        )
        answer = None if site is None or not reading.pieces else site.flags(reading.pieces)
        canonical = read_canonical(root, page.url) if self._with_canonical else None
        return Read(reading, answer, canonical)

    def rule_on(self, page: Record, verdict: Verdict) -> Ruling:
        """Return what a crawl with ``SIMHASH_ACTION = "drop_items"`` does about *page*; never raises."""
        try:
            return self._rule_on(page, verdict)
        except Exception as error:
            return Ruling(True, fault=_told(error))

    def _rule_on(self, page: Record, verdict: Verdict) -> Ruling:
        decision = self._policy.decide(_Copy(page, verdict))
        protected = decision.protected
        return Ruling(Action.DROP_ITEMS not in decision.action, "" if protected is None else protected.value)


class _DropItems(SimhashPolicy):
    """Drops the items of copies, whatever the settings say."""

    def copy_action(self, page: Judged) -> Action:
        return Action.DROP_ITEMS

    def unchanged_action(self, page: Judged) -> Action:
        return Action.MARK


class _Copy:
    """A stored page, for the policy."""

    def __init__(self, page: Record, verdict: Verdict) -> None:
        self._page = page
        self.verdict, self.url = verdict, page.url
        # A stored page has no request, and is no start page.
        self.depth, self.asked = 1, dict[str, Any]()

    def protections(self, wanted: Collection[str]) -> Iterable[str]:
        page, original = self._page, self.verdict.duplicate_of or self.url
        if page.is_text:
            return ()
        root: etree._Element = parse(page.page, page.content_type)
        hints = read_hints(root, page.url)
        found = evidence(hints, page.url, original, ())
        return protections(root, page.url, original, hints, found, wanted, self.verdict.contradicts)


def _text(page: str | bytes) -> str:
    return page if isinstance(page, str) else page.decode("utf-8", "replace")


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


#: Plain values, which every kind of file can hold. Each record has the same names.
Marks: TypeAlias = "dict[str, str | int | float | bool | None]"


#: Before the names that a verdict has in a report as well, and the types of the values where there are any.
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
    """Return the fields of a record with this verdict.

    >>> from scrapy_simhash import Status
    >>> marks = marks_of(Verdict(Status.NEW, cluster=4), True, None)
    >>> marks["simhash_kept"], marks["simhash_status"], marks["simhash_cluster"], marks["simhash_duplicate_of"]
    (True, 'new', 4, None)
    """
    row = verdict.to_dict() | {"kept": is_kept, "protected": protected}
    return {name: row[name.removeprefix(PREFIX)] for name in MARKS}


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
    protected: str | None = None
    """Why a copy was kept: ``pagination``, ``language``, ``product``, ...; see ``SIMHASH_PROTECT``."""

    @property
    def fields(self) -> Marks:
        """The verdict as plain values, to be put into the fields of a record."""
        return marks_of(self.verdict, self.is_kept, self.protected)


@dataclass(slots=True)
class Step:
    """A record, and what is known of it so far; of a broken one there is never more."""

    item: Record | Broken
    read: Read | None = None
    verdict: Verdict | None = None
    content: int | None = None
    """Number of the content that it has or repeats: of all records with one of them, one is kept."""
    fate: Fate = Fate.KEPT
    protected: str = ""
    fault: str = ""
    copies: int = 1
    """How many records a kept one stands for, itself included, if that was asked for."""

    @property
    def page(self) -> Record | None:
        """The record, None for a broken one."""
        return None if isinstance(self.item, Broken) else self.item

    def take(self, ruling: Ruling) -> None:
        """Take note of the ruling on a copy."""
        self.fate = Fate.KEPT if ruling.is_kept else Fate.COPY
        self.protected = ruling.protected
        self.fault = ruling.fault

    @property
    def outcome(self) -> Outcome:
        """What came of a record that is not broken."""
        if self.page is None or self.verdict is None:
            raise TypeError("there is no outcome yet")
        return Outcome(self.page, self.verdict, self.fate is Fate.KEPT, self.protected or None)


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
        self.protected += bool(step.protected) and step.fate is Fate.KEPT
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
