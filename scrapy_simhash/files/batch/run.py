"""Run: all records from one end to the other.

    records  -->  readers  -->  judge  -->  readers  -->  journal, ledger  -->  outcomes
                   read          claim        rule on copies

What a journal has of an earlier run that was killed is not read again, but judged again.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, groupby, starmap
from operator import itemgetter
from typing import Any, NamedTuple

from scrapy_simhash.config import Config
from scrapy_simhash.detector import NearDuplicateDetector, nothing_said
from scrapy_simhash.display import html_of
from scrapy_simhash.exceptions import RecordDamaged, SimhashError
from scrapy_simhash.files.batch.journal import Entry, Journal, digest_of
from scrapy_simhash.files.batch.page import Counts, Fate, PageReader, Read, Ruling, Step, fate_of
from scrapy_simhash.files.batch.readers import BatchSites, Readers, readers_of
from scrapy_simhash.files.records import Broken, Record
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.judge.clusters import Contest, Preference, first_of_joined, gathered
from scrapy_simhash.page.site import SiteProfiles
from scrapy_simhash.store import Store
from scrapy_simhash.verdict import Reason, Status, Verdict
from scrapy_simhash.waiting import finished


class Judge:
    """Gives the verdicts that *detector* would give. It learns nothing about sites: whoever reads the pages does."""

    def __init__(
        self,
        config: Config,
        *,
        against: Store | None = None,
        key_of: Callable[[str], bytes | None] = lambda url: None,
    ) -> None:
        """Compare pages with each other, and with those of the store *against*, which stays as it is.

        *key_of* returns the key by which that store knows the page of a URL, None for the URL itself.
        """
        # When a page was fetched, 0 where nobody knows: by the clock of this run no two runs would be the same.
        self._seen = 0
        self._detector = NearDuplicateDetector(config, clock=lambda: self._seen)
        self._known = None if against is None else NearDuplicateDetector(config, against)
        self._key_of = key_of

    @property
    def sites(self) -> SiteProfiles | None:
        """What is known about sites; None where nothing is learned."""
        return (self._known or self._detector).sites

    @property
    def learns(self) -> bool:
        """Whether pages teach what their sites repeat: a store that is compared with knows more than they do."""
        return self._known is None

    def judge(self, step: Step) -> None:
        """Set verdict, content and fate of a step whose page was read. Raises StoreUnavailable."""
        item, read = step.item, step.read
        if isinstance(item, Broken) or read is None:
            return
        self._seen = item.seen or 0
        if read.reading is None:
            step.fault = read.fault
            step.verdict = _TOO_LARGE if not read.fault else Verdict(Status.UNKNOWN)
            return
        try:
            known = None
            if self._known is not None:
                known, _ = _claimed(self._known, read.reading, item.url, self._key_of(item.url), False)
            # Clusters have numbers of this run, not those of the store.
            if known is not None and fate_of(known) is not Fate.KEPT:
                step.verdict = replace(known, cluster=None, also_near=())
            else:
                step.verdict, step.content = _claimed(self._detector, read.reading, item.url, None, True)
                if known is not None and step.verdict.status is Status.NEW:
                    # Its URL may be known to the store, with another text.
                    step.verdict = replace(known, cluster=step.verdict.cluster, also_near=())
        except RecordDamaged as error:
            step.fault = str(error)
            step.verdict = Verdict(Status.UNKNOWN, reason=Reason.STORE)
            return
        step.fate = fate_of(step.verdict)


def _claimed(
    detector: NearDuplicateDetector, reading: Reading, url: str, key: bytes | None, remembers: bool
) -> tuple[Verdict, int | None]:
    """Return the verdict on a page, and the number of its original."""
    posting = detector.posting(reading, url, key)
    if posting is None:
        return nothing_said(reading), None
    claim = finished(detector.claim(posting, remembers))
    return detector.verdict(posting, claim), claim.cluster


_TOO_LARGE = Verdict(Status.SKIPPED, reason=Reason.TOO_LARGE)


_TABLE = """\
CREATE TABLE records (
    number INTEGER PRIMARY KEY, cluster INTEGER, content INTEGER, url BLOB, canonical BLOB, features INTEGER,
    role INTEGER, is_dropped INTEGER, judged BLOB
)
"""
#: For each record that is not broken: what was judged, and how many records were dropped for its content.
_JUDGED_RECORDS = """\
WITH dropped AS (SELECT content, sum(is_dropped) AS copies FROM records GROUP BY content)
SELECT number, judged, role, coalesce(copies, 0) FROM records LEFT JOIN dropped USING (content) ORDER BY number
"""
#: Records that are written at once.
_AT_ONCE = 1_000

#: Which of the records of one content a record may be: the first, a copy that another one may take the place of, or
#: one that is kept or dropped whatever the others are.
_FIRST, _COPY, _ASIDE = range(3)


class PageCluster(NamedTuple):
    """Pages that say the same, two or more.

    Those that repeat one page, and with them the clusters that one of them is near, too: `Verdict.also_near`.
    """

    cluster: int
    """Number of the cluster, as in `Verdict.cluster`; of several the first."""
    members: tuple[str, ...]
    """Their URLs, in the order in which they came."""
    preferred: str
    """The URL that is to be preferred by ``SIMHASH_PREFER``."""

    def to_dict(self) -> dict[str, Any]:
        """Return the cluster as a row of a table; its URLs are one string, with blanks between them."""
        return {
            "cluster": self.cluster,
            "pages": len(self.members),
            "first": self.members[0],
            "preferred": self.preferred,
            "urls": " ".join(self.members),
        }

    def _repr_html_(self) -> str:
        return html_of(self)


class _Row(NamedTuple):
    """A record of the table."""

    content: int
    number: int
    url: bytes
    canonical: bytes | None
    features: int
    role: int


class Ledger:
    """What came of each record, on the disk: for clusters, and to choose which page of them is kept.

    A file without a name: it is gone with the ledger. Memory for one cluster at a time, and a byte for each record.
    """

    def __init__(self, prefer: Sequence[str], *, keeps_all: bool) -> None:
        """Prefer by the criteria *prefer*, see `Preference`; *keeps_all* is for those who ask for `judged`."""
        self._keeps_all = keeps_all
        self._preference = Preference(prefer)
        # Not every batch needs it.
        import sqlite3

        # SQLite's own temporary database: on the disk as soon as it does not fit into its cache.
        self._connection = sqlite3.connect("", isolation_level=None)
        self._connection.execute(_TABLE)
        self._waiting: list[tuple[object, ...]] = []
        #: Clusters that one page is near, and its own.
        self._joined: list[tuple[int, int]] = []
        self._number = 0

    def note(self, step: Step) -> None:
        """Take note of the next step, broken ones included."""
        number = self._number
        self._number += 1
        verdict, page, read = step.verdict, step.page, step.read
        if verdict is None or page is None or not (self._keeps_all or verdict.cluster is not None):
            return
        if step.fate is Fate.COPY:
            role = _COPY
        else:
            role = _FIRST if step.fate is Fate.KEPT and not verdict.is_duplicate else _ASIDE
        if verdict.cluster is not None:
            self._joined += [(verdict.cluster, other) for other in verdict.also_near]
        judged = (verdict, step.fate.value, step.protected, step.fault) if self._keeps_all else None
        row = (
            number,
            verdict.cluster,
            step.content,
            _bytes(page.url),
            _bytes(read.canonical) if read is not None and read.canonical is not None else None,
            0 if verdict.fingerprint is None else verdict.fingerprint.features,
            role,
            step.fate is not Fate.KEPT,
            pickle.dumps(judged, pickle.HIGHEST_PROTOCOL) if judged else None,
        )
        self._waiting.append(row)
        if len(self._waiting) >= _AT_ONCE:
            self._write()

    def judged(self) -> Iterator[tuple[int, Verdict, Fate, str, str, int]]:
        """Yield for each record that is not broken its number, verdict, fate, protected, fault and copies.

        Copies are those dropped because of its content, if it is the first or a copy of it, else 0.
        """
        self._write()
        for number, data, role, copies in self._connection.execute(_JUDGED_RECORDS):
            verdict, fate, protected, fault = pickle.loads(data)
            yield number, verdict, Fate(fate), protected, fault, copies if role != _ASIDE else 0

    def clusters(self) -> Iterator[PageCluster]:
        """Return the clusters of two URLs or more, by their number. Pages that were not compared are in none."""
        self._write()
        first_of = first_of_joined(self._joined)
        self._connection.create_function("first_of", 1, lambda cluster: first_of.get(cluster, cluster))
        rows = self._connection.execute(
            "SELECT first_of(cluster), url, canonical FROM records WHERE cluster IS NOT NULL ORDER BY 1, number"
        )
        pages = (
            (cluster, _text(url), None if named is None else _text(named)) for cluster, url, named in rows
        )
        return starmap(PageCluster, gathered(pages, self._preference))

    def exchanges(self, keep: str) -> Iterator[tuple[int, int]]:
        """Yield the number of each record that was kept though another copy is *longest* or *preferred*, and of that.

        The longest has the most different shingles in its main text; of equal ones the first stays.
        """
        self._write()
        rows = self._connection.execute(
            "SELECT content, number, url, canonical, features, role FROM records WHERE content IS NOT NULL"
            " ORDER BY content, number"
        )
        best_of = self._longest if keep == "longest" else self._preferred
        for _, group in groupby(rows, key=itemgetter(0)):
            first, *others = [_Row(*row) for row in group]
            copies = [row for row in others if row.role == _COPY]
            if first.role == _FIRST and copies:
                best = best_of([first, *copies])
                if best != first.number:
                    yield first.number, best

    def _longest(self, rivals: Sequence[_Row]) -> int:
        return max(rivals, key=lambda row: (row.features, -row.number)).number

    def _preferred(self, rivals: Sequence[_Row]) -> int:
        contest = Contest(self._preference, _text(rivals[0].url))
        for row in rivals:
            contest.enter(_text(row.url), None if row.canonical is None else _text(row.canonical))
        winner = contest.winner.encode("utf-8", "surrogatepass")
        return next(row.number for row in rivals if row.url == winner)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _write(self) -> None:
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", self._waiting)
        self._connection.execute("COMMIT")
        self._waiting.clear()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _bytes(url: str) -> bytes:
    # A lone surrogate has no form that SQLite could keep as text.
    return url.encode("utf-8", "surrogatepass")


#: Which of the pages that say the same is kept.
KEEP = ("first", "longest", "preferred")
_FIRST_LOOK, _JUDGED = 1, 2


class RecordsChanged(SimhashError, RuntimeError):
    """The records were others when they were read for the second time."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a batch is to do."""

    config: Config = field(default_factory=Config)
    keep: str = "first"
    """One of `KEEP`."""
    protect: bool = False
    """Whether copies are kept that a crawl would keep: see ``SIMHASH_PROTECT``."""
    two_pass: bool = False
    """Whether all pages teach what their sites repeat before the first one is judged."""
    processes: int = 1
    with_clusters: bool = False
    """Whether somebody will ask for the clusters."""
    with_copies: bool = False
    """Whether somebody will ask how many records a kept one stands for."""

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
        """Whether it is only known at the end which records are kept, or what they stand for."""
        return self.keep != "first" or self.with_copies

    @property
    def asks_for_canonical(self) -> bool:
        """Whether it matters which URL a page names as its own."""
        is_asked = self.keep == "preferred" or self.with_clusters
        return is_asked and "canonical" in self.config.prefer


class Run:
    """A run over what *records* returns: each time it is called, the same records from the beginning."""

    def __init__(
        self,
        records: Callable[[], Iterator[Record | Broken]],
        options: Options,
        *,
        journal: Journal | None = None,
        judge: Judge | None = None,
        only_reads: bool = False,
        tell: Callable[[str, int], None] = lambda doing, number: None,
    ) -> None:
        """*journal* is for a run that can be killed. *tell* hears what is done, with how many records so far.

        With *only_reads* pages are compared with nothing. *judge* is for pages that are also compared with those of a
        store.
        """
        self.counts = Counts()
        #: Pages that were read a second time, since more was known of their sites.
        self.read_again = 0
        self._records = records
        self._options = options
        self._journal = journal
        self._tell = tell
        config = options.config
        self._reader = PageReader(config, with_canonical=options.asks_for_canonical)
        # Pages that are only read may have fingerprints that no store takes.
        self._judge = None if only_reads else judge or Judge(config)
        self._sites: BatchSites | None = None
        if self._judge is not None and self._judge.sites is not None:
            self._sites = BatchSites(self._judge.sites, learns=self._judge.learns)
        self._ledger: Ledger | None = None
        if options.with_clusters or options.chooses:
            self._ledger = Ledger(config.prefer, keeps_all=options.chooses)

    def steps(self) -> Generator[Step]:
        """Yield what became of each record, broken ones included, in their order."""
        with ExitStack() as stack:
            steps = self._judged(stack)
            if not self._options.chooses:
                yield from steps
                return
            for _ in steps:
                pass
        yield from self._exchanged()

    def clusters(self) -> Iterator[PageCluster]:
        """Yield the clusters, when all steps are through."""
        return iter(()) if self._ledger is None else self._ledger.clusters()

    def _judged(self, stack: ExitStack) -> Iterator[Step]:
        opened: list[Readers] = []

        def readers() -> Readers:
            # When the first page is to be read: all may be in the journal.
            if not opened:
                opened.append(stack.enter_context(readers_of(self._reader, self._options.processes)))
            return opened[0]

        if self._options.two_pass and self._sites is not None:
            self._sites = BatchSites.first_look()
            for number, _ in enumerate(self._read(_FIRST_LOOK, readers), 1):
                self._tell("learning", number)
            self._sites = self._sites.learned()
        for step in self._read(_JUDGED, readers):
            self.counts.add(step)
            if self._ledger is not None:
                self._ledger.note(step)
            self._tell("reading", self.counts.records)
            yield step
        if opened:
            self.read_again = opened[0].read_again

    def _read(self, part: int, readers: Callable[[], Readers]) -> Iterator[Step]:
        """Yield the steps of one pass over the records; those of the last one are judged."""
        waiting: Iterator[Step] = map(Step, self._records())
        journal = self._journal
        for step in waiting:
            entry = None if journal is None else journal.next(part, step.page, step.item.place)
            if entry is None:
                waiting = chain((step,), waiting)
                break
            yield self._replayed(step, entry)
        else:
            return
        steps: Iterator[Step] = readers().read(waiting, self._sites)
        if part == _JUDGED and self._judge is not None:
            steps = map(partial(_with_verdict, self._judge), steps)
            if self._options.protect:
                steps = readers().rule(steps)
        for step in steps:
            if journal is not None:
                ruling = step.fate is Fate.KEPT, step.protected, step.fault
                journal.add(Entry(part, digest_of(step.page), step.read or Read(None), *ruling))
            yield step

    def _replayed(self, step: Step, entry: Entry) -> Step:
        if step.page is None:
            return step
        step.read = entry.read
        if self._sites is not None:
            self._sites.learn(step.page.url, entry.read.reading)
        if entry.part == _JUDGED and self._judge is not None:
            self._judge.judge(step)
            if self._options.protect and step.fate is Fate.COPY:
                step.take(Ruling(entry.is_kept, entry.protected, entry.fault))
        return step

    def _exchanged(self) -> Iterator[Step]:
        """Yield the steps again, with other records kept in the place of some."""
        if self._ledger is None:
            raise RuntimeError("nothing was recorded")
        # A byte for each record.
        fates = bytearray(self.counts.records)
        if self._options.keep != "first":
            for first, best in self._ledger.exchanges(self._options.keep):
                fates[first], fates[best] = 1, 2
        judged = self._ledger.judged()
        for number, step in enumerate(map(Step, self._records())):
            if step.page is not None:
                found = next(judged, None)
                if found is None or found[0] != number:
                    raise RecordsChanged(f"{step.item.place} is another record than at the first time")
                _, step.verdict, step.fate, step.protected, step.fault, copies = found
                if fates[number]:
                    step.fate = Fate.COPY if fates[number] == 1 else Fate.KEPT
                step.copies = 1 + copies
            self._tell("writing", number + 1)
            yield step


def _with_verdict(judge: Judge, step: Step) -> Step:
    judge.judge(step)
    return step
