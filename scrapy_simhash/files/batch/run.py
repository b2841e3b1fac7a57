"""Run: read and judge all records, and choose the records to keep."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import starmap, zip_longest
from operator import itemgetter
from typing import Any, NamedTuple

from scrapy_simhash.config import Config
from scrapy_simhash.detector import NearDuplicateDetector, verdict_of, verdict_without_text
from scrapy_simhash.exceptions import RecordDamaged, SimhashError
from scrapy_simhash.files.batch.page import Counts, PageReader, Read, Selection, Step, selection_of
from scrapy_simhash.files.batch.readers import FIRST, ONLY, SECOND, readers_of
from scrapy_simhash.files.records import Broken, Record
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.judge.clusters import Contest, first_of_joined, gathered
from scrapy_simhash.page.site import SiteProfiles
from scrapy_simhash.store import Store
from scrapy_simhash.verdict import Reason, Status, Verdict
from scrapy_simhash.waiting import run_sync


class Judge:
    """Sets the verdicts on pages that were read. Does not learn boilerplate."""

    def __init__(
        self,
        config: Config,
        *,
        against: Store | None = None,
        key_of: Callable[[str], bytes | None] = lambda url: None,
    ) -> None:
        """Compare pages with each other, and with the pages of the store *against*, which is not changed.

        *key_of* returns the key of a URL in that store; None means that the URL is the key.
        """
        # The time of the fetch; 0 if unknown, because with the current time the results of two runs would differ.
        self._seen = 0
        self._detector = NearDuplicateDetector(config, clock=lambda: self._seen)
        self._known = None if against is None else NearDuplicateDetector(config, against)
        self._key_of = key_of

    @property
    def sites(self) -> SiteProfiles | None:
        """The boilerplate models in the store of ``--against``; None without such a store."""
        return None if self._known is None else self._known.sites

    @property
    def learns(self) -> bool:
        """Whether boilerplate is learned from the pages; False with a store, whose models are used instead."""
        return self._known is None and self._detector.sites is not None

    def judge(self, step: Step) -> None:
        """Set the verdict and the result of a step whose page was read. Raises StoreUnavailable."""
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
        step.selection = selection_of(step.verdict)

    def _verdict(self, reading: Reading, url: str) -> Verdict:
        known = None
        if self._known is not None:
            known = _claimed(self._known, reading, url, self._key_of(url), False)
            # Clusters are numbered by this run, not by the store.
            known = replace(known, cluster=None, also_near=(), text_number=None)
            if selection_of(known) is not Selection.KEPT:
                return known
        verdict = _claimed(self._detector, reading, url, None, True)
        if known is not None and verdict.status is Status.NEW:
            # The store may contain the same URL with a different text.
            return replace(known, cluster=verdict.cluster, text_number=verdict.text_number)
        return verdict


def _claimed(
    detector: NearDuplicateDetector, reading: Reading, url: str, key: bytes | None, remembers: bool
) -> Verdict:
    posting = detector.posting(reading, url, key)
    if posting is None:
        return verdict_without_text(reading)
    return verdict_of(posting, run_sync(detector.claim(posting, remembers)), detector.explains_by)


_TOO_LARGE = Verdict(Status.SKIPPED, reason=Reason.TOO_LARGE)


class PageCluster(NamedTuple):
    """Two or more pages that are near-duplicates of one of them.

    Clusters that are similar to one page are merged, see `Verdict.also_near`.
    """

    cluster: int
    """Number of the cluster, as in `Verdict.cluster`; for merged clusters, the first number."""
    members: tuple[str, ...]
    """The URLs of the pages, in order of arrival."""
    preferred: str
    """The preferred URL: https before http, then the most frequent canonical URL, then the shorter URL, then the
    first."""

    def to_dict(self) -> dict[str, Any]:
        """Return the cluster as a row of a table; its URLs are one string, separated by spaces."""
        return {
            "cluster": self.cluster,
            "pages": len(self.members),
            "first": self.members[0],
            "preferred": self.preferred,
            "urls": " ".join(self.members),
        }


#: Values of ``keep``: which page of a cluster is kept.
KEEP = ("first", "longest", "preferred")


class RecordsChanged(SimhashError, RuntimeError):
    """The records were different when they were read again."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a batch."""

    config: Config = field(default_factory=Config)
    keep: str = "first"
    """One of `KEEP`."""
    protect: bool = False
    """Whether to keep copies that a crawl protects: see ``SIMHASH_PROTECT``."""
    two_pass: bool = False
    """Whether boilerplate is learned from all pages before the first page is judged."""
    processes: int = 1
    """Number of processes that read pages."""
    with_clusters: bool = False
    """Whether the clusters are needed."""

    def __post_init__(self) -> None:
        if self.keep not in KEEP:
            raise ValueError(f"keep must be one of {', '.join(KEEP)}, got {self.keep!r}")
        if self.processes < 1:
            raise ValueError(f"processes must be 1 or more, got {self.processes}")

    @property
    def reads_twice(self) -> bool:
        """Whether the records are read twice."""
        return self.two_pass or self.chooses

    @property
    def chooses(self) -> bool:
        """Whether the records to keep are known only after all records were judged."""
        return self.keep != "first"

    @property
    def asks_for_canonical(self) -> bool:
        """Whether canonical URLs are needed."""
        return self.keep == "preferred" or self.with_clusters


class Run:
    """A run over the records that *records* returns; each call must return the same records from the beginning."""

    def __init__(
        self,
        records: Callable[[], Iterator[Record | Broken]],
        options: Options,
        *,
        judge: Judge | None = None,
        only_reads: bool = False,
    ) -> None:
        """With *only_reads*, pages are not compared. *judge* compares pages with those of a store."""
        self.counts = Counts()
        self._records = records
        self._options = options
        self._reader = PageReader(options.config, with_canonical=options.asks_for_canonical)
        # Without a judge, any scheme is supported, including 128-bit schemes, which no store accepts.
        self._judge = None if only_reads else judge or Judge(options.config)
        #: The results of all records, without their pages, if they are needed at the end.
        self._results: list[Step] = []

    def steps(self) -> Generator[Step]:
        """Yield the result for each record in order, including broken records."""
        options = self._options
        with closing(self._judged()) as steps:
            if not options.chooses:
                yield from steps
                return
            for _ in steps:
                pass
        self._choose()
        for item, step in zip_longest(self._records(), self._results):
            if item is None or step is None or _url_of(item) != _url_of(step.item):
                place = "the end" if item is None else item.place
                raise RecordsChanged(
                    f"the input has changed: {place} is not the same record as in the first pass"
                )
            yield replace(step, item=item)

    def clusters(self) -> Iterator[PageCluster]:
        """Yield the clusters of two or more URLs, by number; call this after steps(). Skipped pages are left out."""
        steps = [step for step in self._results if step.text is not None]
        # A page without a fingerprint has no cluster; its text has a number, which is the cluster of its copies.
        number_of = first_of_joined(
            (step.verdict.cluster, other)
            for step in steps
            if step.verdict is not None and step.verdict.cluster is not None
            for other in step.verdict.also_near
        )
        pages = [
            (number_of.get(step.text or 0, step.text or 0), step.item.url, step.read and step.read.canonical)
            for step in steps
            if isinstance(step.item, Record)
        ]
        pages.sort(key=itemgetter(0))
        return starmap(PageCluster, gathered(pages))

    def _judged(self) -> Generator[Step]:
        options, judge = self._options, self._judge
        sites = None if judge is None else judge.sites
        with readers_of(self._reader, sites, options.processes, learns=judge is not None) as readers:
            turn = ONLY if sites is None else SECOND
            if options.two_pass and judge is not None and judge.learns:
                for _ in readers.read(map(Step, self._records()), FIRST):
                    pass
                turn = SECOND
            for step in readers.read(map(Step, self._records()), turn):
                if judge is not None:
                    judge.judge(step)
                if options.protect:
                    self._reader.protect(step)
                self.counts.add(step)
                if options.with_clusters or options.chooses:
                    self._results.append(_without_page(step))
                yield step

    def _choose(self) -> None:
        """Keep the longest or the preferred page of each text instead of the first.

        The longest page has the most distinct shingles in its main text; of equal pages, the first is kept.
        """
        rivals: dict[int, list[Step]] = {}
        for step in self._results:
            if step.text is None or step.verdict is None:
                continue
            if step.text not in rivals:
                is_first = step.selection is Selection.KEPT and not step.verdict.is_duplicate
                rivals[step.text] = [step] if is_first else []
            elif step.selection is Selection.COPY and rivals[step.text]:
                rivals[step.text].append(step)
        for steps in filter(None, rivals.values()):
            best = max(steps, key=_features) if self._options.keep == "longest" else _preferred(steps)
            steps[0].selection = Selection.COPY
            best.selection = Selection.KEPT


def _without_page(step: Step) -> Step:
    item, read = step.item, step.read
    if isinstance(item, Record):
        item = Record(item.url, "", item.place)
    return replace(step, item=item, read=read and Read(None, read.canonical))


def _url_of(item: Record | Broken) -> str | None:
    return item.url if isinstance(item, Record) else None


def _features(step: Step) -> int:
    fingerprint = step.verdict and step.verdict.fingerprint
    return fingerprint.features if fingerprint else 0


def _preferred(steps: list[Step]) -> Step:
    urls = [_url_of(step.item) or "" for step in steps]
    contest = Contest(urls[0])
    for step, url in zip(steps, urls, strict=True):
        contest.enter(url, step.read and step.read.canonical)
    return steps[urls.index(contest.winner)]
