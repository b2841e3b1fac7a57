"""Run: all records from one end to the other.

    records  -->  readers  -->  judge  -->  readers  -->  journal, ledger  -->  outcomes
                   read          claim        rule on copies

What a journal has of an earlier run that was killed is not read again, but judged again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from scrapy_simhash.config import Config
from scrapy_simhash.exceptions import SimhashError
from scrapy_simhash.files.batch.journal import Entry, Journal, digest_of
from scrapy_simhash.files.batch.judge import Judge
from scrapy_simhash.files.batch.ledger import Ledger, PageCluster
from scrapy_simhash.files.batch.page_reader import PageReader, Read, Ruling
from scrapy_simhash.files.batch.readers import Readers, readers_of
from scrapy_simhash.files.batch.sites import BatchSites
from scrapy_simhash.files.batch.steps import Counts, Fate, Step
from scrapy_simhash.files.records import Broken, Record

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

    def __post_init__(self) -> None:
        if self.keep not in KEEP:
            raise ValueError(f"keep must be one of {', '.join(KEEP)}, got {self.keep!r}")
        if self.processes < 1:
            raise ValueError(f"processes must be 1 or more, got {self.processes}")

    @property
    def reads_twice(self) -> bool:
        """Whether the records are needed more than once."""
        return self.two_pass or self.keep != "first"

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

        With *only_reads* pages are compared with nothing. *judge* is for pages that are compared with those of a
        store, which learns nothing from them.
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
            self._sites = BatchSites(self._judge.sites, learns=judge is None)
        self._ledger: Ledger | None = None
        if options.with_clusters or options.keep != "first":
            self._ledger = Ledger(config.prefer, keeps_all=options.keep != "first")

    def steps(self) -> Generator[Step]:
        """Yield what became of each record, broken ones included, in their order."""
        with ExitStack() as stack:
            steps = self._judged(stack)
            if self._options.keep == "first":
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
                opened.append(
                    stack.enter_context(
                        readers_of(self._reader, self._options.processes, lambda: self._sites)
                    )
                )
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
        waiting: Iterator[Step] = map(Step.of, self._records())
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
                ruling = step.fate is Fate.KEPT, step.exemption, step.fault
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
                step.take(Ruling(entry.is_kept, entry.exemption, entry.fault))
        return step

    def _exchanged(self) -> Iterator[Step]:
        """Yield the steps again, with other records kept in the place of some."""
        if self._ledger is None:
            raise RuntimeError("nothing was noted")
        # A byte for each record.
        fates = bytearray(self.counts.records)
        for first, best in self._ledger.exchanges(self._options.keep):
            fates[first], fates[best] = 1, 2
        judged = self._ledger.judged()
        for number, step in enumerate(map(Step.of, self._records())):
            if step.page is not None:
                found = next(judged, None)
                if found is None or found[0] != number:
                    raise RecordsChanged(f"{step.item.place} is another record than at the first time")
                _, step.verdict, step.fate, step.exemption, step.fault = found
                if fates[number]:
                    step.fate = Fate.COPY if fates[number] == 1 else Fate.KEPT
            self._tell("writing", number + 1)
            yield step


def _with_verdict(judge: Judge, step: Step) -> Step:
    judge.judge(step)
    return step
