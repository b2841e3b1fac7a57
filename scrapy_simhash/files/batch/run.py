"""Run: process all records.

records  -->  readers  -->  judge  -->  ledger  -->  steps
               read          claim      if asked for
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import starmap
from operator import itemgetter
from typing import Any, NamedTuple

from scrapy_simhash.config import Config
from scrapy_simhash.detector import NearDuplicateDetector, nothing_said
from scrapy_simhash.display import html_of
from scrapy_simhash.exceptions import RecordDamaged, SimhashError
from scrapy_simhash.files.batch.page import Counts, Fate, PageReader, Step, fate_of
from scrapy_simhash.files.batch.readers import FIRST, ONLY, SECOND, readers_of
from scrapy_simhash.files.records import Broken, Record
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.judge.clusters import Contest, Preference, first_of_joined, gathered
from scrapy_simhash.page.site import SiteProfiles
from scrapy_simhash.store import Store
from scrapy_simhash.verdict import Reason, Status, Verdict
from scrapy_simhash.waiting import finished


class Judge:
    """Gives the verdicts of a detector to pages that were read. Does not learn boilerplate."""

    def __init__(
        self,
        config: Config,
        *,
        against: Store | None = None,
        key_of: Callable[[str], bytes | None] = lambda url: None,
    ) -> None:
        """Compare pages with each other, and with those of the store *against*, which is not changed.

        *key_of* returns the key of a URL in that store, None for the URL itself.
        """
        # The time of the fetch, 0 if unknown. The current time would make runs differ.
        self._seen = 0
        self._detector = NearDuplicateDetector(config, clock=lambda: self._seen)
        self._known = None if against is None else NearDuplicateDetector(config, against)
        self._key_of = key_of

    @property
    def sites(self) -> SiteProfiles | None:
        """The boilerplate models of the store of ``--against``, None without one."""
        return None if self._known is None else self._known.sites

    @property
    def learns(self) -> bool:
        """Whether boilerplate is learned from the pages; not with a store, which has learned more."""
        return self._known is None and self._detector.sites is not None

    def judge(self, step: Step) -> None:
        """Set verdict and result of a step whose page was read. Raises StoreUnavailable."""
        page, read = step.page, step.read
        if page is None or read is None:
            return
        self._seen = page.seen or 0
        if read.reading is None:
            step.fault = read.fault
            step.verdict = _TOO_LARGE if not read.fault else Verdict(Status.UNKNOWN)
            return
        try:
            step.verdict = self._verdict(read.reading, page.url)
        except RecordDamaged as error:
            step.fault = str(error)
            step.verdict = Verdict(Status.UNKNOWN, reason=Reason.STORE)
            return
        step.fate = fate_of(step.verdict)

    def _verdict(self, reading: Reading, url: str) -> Verdict:
        known = None
        if self._known is not None:
            known = _claimed(self._known, reading, url, self._key_of(url), False)
            # Clusters are numbered by this run, not by the store.
            known = replace(known, cluster=None, also_near=(), text_number=None)
            if fate_of(known) is not Fate.KEPT:
                return known
        verdict = _claimed(self._detector, reading, url, None, True)
        if known is not None and verdict.status is Status.NEW:
            # The store may have its URL with another text.
            return replace(known, cluster=verdict.cluster, text_number=verdict.text_number)
        return verdict


def _claimed(
    detector: NearDuplicateDetector, reading: Reading, url: str, key: bytes | None, remembers: bool
) -> Verdict:
    posting = detector.posting(reading, url, key)
    if posting is None:
        return nothing_said(reading)
    return detector.verdict(posting, finished(detector.claim(posting, remembers)))


_TOO_LARGE = Verdict(Status.SKIPPED, reason=Reason.TOO_LARGE)


class PageCluster(NamedTuple):
    """Two or more pages, near-duplicates of one of them.

    Clusters connected by a page near to both are merged: `Verdict.also_near`.
    """

    cluster: int
    """Number of the cluster, as in `Verdict.cluster`; the first of merged clusters."""
    members: tuple[str, ...]
    """Their URLs, in the order in which they came."""
    preferred: str
    """The preferred URL: https before http, then the most frequent canonical URL, the shorter, the first."""

    def to_dict(self) -> dict[str, Any]:
        """Return the cluster as a row of a table; its URLs are one string, separated by spaces."""
        return {
            "cluster": self.cluster,
            "pages": len(self.members),
            "first": self.members[0],
            "preferred": self.preferred,
            "urls": " ".join(self.members),
        }

    def _repr_html_(self) -> str:
        return html_of(self)


class _Entry(NamedTuple):
    """A record in the ledger: everything except the page."""

    url: str
    canonical: str | None
    verdict: Verdict
    fate: Fate
    protected: str
    fault: str

    @property
    def text(self) -> int | None:
        """Number of the text of the page or its original; one record of each text is kept."""
        return self.verdict.text_number

    @property
    def is_first(self) -> bool:
        """Whether it is kept as the first with its text."""
        return self.fate is Fate.KEPT and not self.verdict.is_duplicate


class Ledger:
    """The results of all records, in memory: for clusters, and to choose the page of a text that is kept."""

    def __init__(self, preference: Preference) -> None:
        self._preference = preference
        self._entries: list[_Entry | None] = []

    def note(self, step: Step) -> None:
        """Add the next step, broken ones included."""
        page, verdict, read = step.page, step.verdict, step.read
        if page is None or verdict is None:
            self._entries.append(None)
            return
        canonical = None if read is None else read.canonical
        self._entries.append(_Entry(page.url, canonical, verdict, step.fate, step.protected, step.fault))

    def clusters(self) -> Iterator[PageCluster]:
        """Yield the clusters of two or more URLs, by number. Pages that were not compared are in none."""
        entries = [entry for entry in self._entries if entry is not None and entry.text is not None]
        # A page too short for a fingerprint has no cluster, but its copies have that of its text.
        number_of = first_of_joined(
            (entry.verdict.cluster, other)
            for entry in entries
            if entry.verdict.cluster is not None
            for other in entry.verdict.also_near
        )
        pages = sorted(
            (
                (number_of.get(entry.text or 0, entry.text or 0), entry.url, entry.canonical)
                for entry in entries
            ),
            key=itemgetter(0),
        )
        return starmap(PageCluster, gathered(pages, self._preference))

    def choose(self, keep: str) -> None:
        """Keep the *longest* or the *preferred* page of each text instead of the first.

        The longest has the most distinct shingles in its main text; the first of equal ones is kept.
        """
        rivals: dict[int, list[int]] = {}
        for number, entry in enumerate(self._entries):
            if entry is None or entry.text is None:
                continue
            if entry.text not in rivals:
                rivals[entry.text] = [number] if entry.is_first else []
            elif entry.fate is Fate.COPY and rivals[entry.text]:
                rivals[entry.text].append(number)
        for numbers in rivals.values():
            if not numbers:
                continue
            best = max(numbers, key=self._features) if keep == "longest" else self._preferred(numbers)
            if best != numbers[0]:
                self._set_fate(numbers[0], Fate.COPY)
                self._set_fate(best, Fate.KEPT)

    def results(self, items: Iterator[Record | Broken]) -> Iterator[Step]:
        """Yield a step for each of *items*, which must be the records of the first pass."""
        dropped = Counter(
            entry.text for entry in self._entries if entry is not None and entry.fate is not Fate.KEPT
        )
        for number, item in enumerate(items):
            step = Step(item)
            entry = self._entries[number] if number < len(self._entries) else None
            url = None if isinstance(item, Broken) else item.url
            if url != (entry and entry.url):
                raise RecordsChanged(f"{item.place} is another record than at the first time")
            if entry is not None:
                step.verdict, step.fate = entry.verdict, entry.fate
                step.protected, step.fault = entry.protected, entry.fault
                represents = step.fate is Fate.KEPT and entry.text is not None and not entry.protected
                step.copies = 1 + dropped.pop(entry.text, 0) if represents else 1
            yield step

    def _features(self, number: int) -> int:
        entry = self._entries[number]
        fingerprint = entry and entry.verdict.fingerprint
        return fingerprint.features if fingerprint else 0

    def _preferred(self, numbers: list[int]) -> int:
        entries = [(number, entry) for number in numbers if (entry := self._entries[number]) is not None]
        contest = Contest(self._preference, entries[0][1].url)
        for _, entry in entries:
            contest.enter(entry.url, entry.canonical)
        return next(number for number, entry in entries if entry.url == contest.winner)

    def _set_fate(self, number: int, fate: Fate) -> None:
        entry = self._entries[number]
        if entry is not None:
            self._entries[number] = entry._replace(fate=fate)


#: The page of a text that is kept.
KEEP = ("first", "longest", "preferred")


class RecordsChanged(SimhashError, RuntimeError):
    """The records differed when they were read again."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a batch."""

    config: Config = field(default_factory=Config)
    keep: str = "first"
    """One of `KEEP`."""
    protect: bool = False
    """Whether to keep copies that a crawl protects: see ``SIMHASH_PROTECT``."""
    two_pass: bool = False
    """Whether boilerplate is learned from all pages before the first one is judged."""
    processes: int = 1
    """Number of processes that read pages, each host in one of them."""
    with_clusters: bool = False
    """Whether the clusters are needed."""
    with_copies: bool = False
    """Whether the number of records that a kept one represents is needed."""

    def __post_init__(self) -> None:
        if self.keep not in KEEP:
            raise ValueError(f"keep must be one of {', '.join(KEEP)}, got {self.keep!r}")
        if self.processes < 1:
            raise ValueError(f"processes must be 1 or more, got {self.processes}")

    @property
    def reads_twice(self) -> bool:
        """Whether the records are needed more than once."""
        return self.two_pass or self.chooses

    @property
    def chooses(self) -> bool:
        """Whether kept records, or what they represent, are known only at the end."""
        return self.keep != "first" or self.with_copies

    @property
    def asks_for_canonical(self) -> bool:
        """Whether canonical URLs are needed."""
        return self.keep == "preferred" or self.with_clusters


class Run:
    """A run over the result of *records*; each call must return the same records from the beginning."""

    def __init__(
        self,
        records: Callable[[], Iterator[Record | Broken]],
        options: Options,
        *,
        judge: Judge | None = None,
        only_reads: bool = False,
        tell: Callable[[str, int], None] = lambda doing, number: None,
    ) -> None:
        """*tell* is called with the name of the step and the number of records so far.

        With *only_reads* pages are not compared. *judge* is for comparison with the pages of a store.
        """
        self.counts = Counts()
        self._records = records
        self._options = options
        self._tell = tell
        self._reader = PageReader(options.config, with_canonical=options.asks_for_canonical)
        # A batch that only reads supports any scheme, also schemes that no store accepts.
        self._judge = None if only_reads else judge or Judge(options.config)
        self._ledger = Ledger(Preference())

    def steps(self) -> Generator[Step]:
        """Yield the result for each record in order, including broken ones."""
        options = self._options
        with closing(self._judged()) as steps:
            if not options.chooses:
                yield from steps
                return
            for _ in steps:
                pass
        if options.keep != "first":
            self._ledger.choose(options.keep)
        for number, step in enumerate(self._ledger.results(self._records()), 1):
            self._tell("writing", number)
            yield step

    def clusters(self) -> Iterator[PageCluster]:
        """Yield the clusters, after all steps."""
        return self._ledger.clusters()

    def _judged(self) -> Generator[Step]:
        options, judge = self._options, self._judge
        sites = None if judge is None else judge.sites
        with readers_of(self._reader, sites, options.processes, learns=judge is not None) as readers:
            turn = ONLY if sites is None else SECOND
            if options.two_pass and judge is not None and judge.learns:
                for number, _ in enumerate(readers.read(map(Step, self._records()), FIRST), 1):
                    self._tell("learning", number)
                turn = SECOND
            for step in readers.read(map(Step, self._records()), turn):
                if judge is not None:
                    judge.judge(step)
                if options.protect:
                    self._reader.protect(step)
                self.counts.add(step)
                if options.with_clusters or options.chooses:
                    self._ledger.note(step)
                self._tell("reading", self.counts.records)
                yield step
