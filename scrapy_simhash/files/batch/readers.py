"""Readers: records in, read pages out, in the order of the records. The same, however many processes read them.

A page is read by what its site says of its pieces, and that depends on all pages of the site before it. Another
process reads it by what the site said some pages before. When all earlier pages are known, the site is asked again:
only if it says something else by now, the page is read a second time, here, by that::

    records  -->  chunks, read by workers  -->  in order: does the site say the same?  --> yes -->  learn, hand on
                                                                  |                          |
                                                                 no  -->  read again  -------'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

from scrapy_simhash.files.batch.page import Fate, GivenSite, PageReader, Read, Ruling, Step
from scrapy_simhash.files.records import Record
from scrapy_simhash.files.workers import Workers, workers
from scrapy_simhash.fingerprinter import KnownSite, Reading
from scrapy_simhash.notes import Name, Note
from scrapy_simhash.page.site import SiteProfile, SiteProfiles
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import host_of
from scrapy_simhash.verdict import Verdict
from scrapy_simhash.waiting import finished

#: Records that a worker gets at once, and bytes of pages after which it gets fewer.
CHUNK_RECORDS, CHUNK_BYTES = 16, 1 << 20


class Readers:
    """Reads the pages of records, and rules on copies: in this process."""

    #: Pages that were read a second time.
    read_again = 0

    def __init__(self, reader: PageReader) -> None:
        self._reader = reader

    def read(self, steps: Iterable[Step], sites: BatchSites | None) -> Iterator[Step]:
        """Yield *steps* in their order, each with its page read by *sites*, None for a batch that has none."""
        for step in steps:
            if step.page is not None:
                site = None if sites is None else sites.of(step.page)
                step.read = self._reader.read(step.page, site)
                if sites is not None:
                    sites.learn(step.page.url, step.read.reading)
            yield step

    def rule(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield *steps* in their order; whether copies among them are protected is known then."""
        for step in steps:
            if (copy := _copy(step)) is not None:
                step.take(self._reader.rule_on(*copy))
            yield step


class PooledReaders(Readers):
    """Reads in other processes."""

    def __init__(self, reader: PageReader, workers: Workers) -> None:
        super().__init__(reader)
        self._workers = workers

    def read(self, steps: Iterable[Step], sites: BatchSites | None) -> Iterator[Step]:
        """See `Readers.read`."""

        def task(chunk: Sequence[Step]) -> tuple[Any, ...]:
            pages = [_sent(step.page) for step in chunk]
            return _read_all, pages, None if sites is None else sites.known_of(pages)

        for chunk, reads in self._workers.in_order(_chunks(steps), task):
            for step, read in zip(chunk, reads, strict=True):
                if step.page is not None:
                    step.read = self._checked(step.page, read, sites)
                yield step

    def rule(self, steps: Iterable[Step]) -> Iterator[Step]:
        """See `Readers.rule`."""

        def task(chunk: Sequence[Step]) -> tuple[Any, ...]:
            return _rule_on_all, [_copy(step) for step in chunk]

        for chunk, rulings in self._workers.in_order(_chunks(steps), task):
            for step, ruling in zip(chunk, rulings, strict=True):
                if ruling is not None:
                    step.take(ruling)
                yield step

    def _checked(self, page: Record, read: Read, sites: BatchSites | None) -> Read:
        """Return what is read of *page* by what its site says now, and let the site learn."""
        reading = read.reading
        if sites is None or reading is None or not reading.pieces:
            return read
        site = sites.of(page)
        if site is not None and (answer := site.flags(reading.pieces)) != read.answer:
            self.read_again += 1
            read = self._reader.read(page, GivenSite(answer))
        # What it learns of is the same in both.
        sites.learn(page.url, reading)
        return read


def _sent(page: Record | None) -> Record | None:
    """Return what a worker gets of *page*: what it came from stays here."""
    return page and replace(page, source=None)


def _copy(step: Step) -> tuple[Record, Verdict] | None:
    """Return what a ruling on a copy needs, None for what is none."""
    page = _sent(step.page) if step.fate is Fate.COPY else None
    return (page, step.verdict) if page is not None and step.verdict is not None else None


def _chunks(steps: Iterable[Step]) -> Iterator[Sequence[Step]]:
    chunk: list[Step] = []
    size = 0
    for step in steps:
        chunk.append(step)
        size += 0 if step.page is None else len(step.page.page)
        if len(chunk) >= CHUNK_RECORDS or size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


@contextmanager
def readers_of(reader: PageReader, processes: int) -> Iterator[Readers]:
    """Open readers in so many processes; one is this, more are others."""
    if processes == 1:
        yield Readers(reader)
        return
    with workers(processes, _begin, reader) as started:
        yield PooledReaders(reader, started)


# --- In a worker.

_Profiles: TypeAlias = "Mapping[str, bytes] | None"
_reader: PageReader


def _begin(reader: PageReader) -> None:
    global _reader
    _reader = reader


def _read_all(pages: Sequence[Record | None], profiles: _Profiles) -> list[Read | None]:
    """Read *pages* by the *profiles* of their hosts, None for a batch in which sites say nothing."""
    nothing = None if profiles is None else GivenSite(None)
    sites = {host: SiteProfile.from_bytes(data) for host, data in (profiles or {}).items()}
    return [
        None
        if page is None
        else _reader.read(page, None if page.is_text else sites.get(host_of(page.url), nothing))
        for page in pages
    ]


def _rule_on_all(copies: Sequence[tuple[Record, Verdict] | None]) -> list[Ruling | None]:
    return [None if copy is None else _reader.rule_on(*copy) for copy in copies]


# --- Sites.

#: Pages after which profiles go to the disk, if there is a place for them: fewer than there is room for.
_KEPT_EVERY = 500
#: Profiles that are kept as bytes for other processes, 64 MB at most; so many times their pages make them anew.
_MOST_PACKED, _NEWS = 1_000, 1.1


class BatchSites:
    """The profiles of the sites of a batch, and when they learn."""

    def __init__(
        self, profiles: SiteProfiles, *, learns: bool = True, given: GivenSite | None = None
    ) -> None:
        """Without *learns* the *profiles* stay as they are; *given* takes the place of each when a page is read."""
        self._profiles = profiles
        self._learns = learns
        self._learned = 0
        self._packed: Recent[str, tuple[int, bytes]] = Recent(_MOST_PACKED)
        self.given = given

    @classmethod
    def first_look(cls) -> BatchSites:
        """Return sites that only learn, for a first look at all pages; see also `learned`."""
        return cls(SiteProfiles(_DiskNotes()), given=GivenSite(None))

    def learned(self) -> BatchSites:
        """Return sites that know what these have learned, and learn no more."""
        finished(self._profiles.share())
        return BatchSites(self._profiles, learns=False)

    def of(self, page: Record) -> KnownSite | None:
        """Return by what *page* is read; plain text has no site."""
        return None if page.is_text else self.given or self._profiles.of(page.url)

    def known_of(self, pages: Iterable[Record | None]) -> dict[str, bytes]:
        """Return the profiles of the hosts of *pages* that are known, as bytes by host."""
        if self.given is not None:
            return {}
        urls = {host_of(page.url): page.url for page in pages if page is not None and not page.is_text}
        profiles = {host: self._profiles.of(url) for host, url in urls.items()}
        return {
            host: self._packed_as(host, profile) for host, profile in profiles.items() if profile.is_known
        }

    def _packed_as(self, host: str, profile: SiteProfile) -> bytes:
        """Return *profile* as bytes, or as it was some pages ago: to make them takes as long as to read a page."""
        pages, data = self._packed.get(host, (0, b""))
        if not data or profile.pages >= pages * _NEWS:
            pages, data = self._packed[host] = profile.pages, profile.to_bytes()
        return data

    def learn(self, url: str, reading: Reading | None) -> None:
        """Learn from a page, as a detector does."""
        if not self._learns or reading is None or reading.fingerprint is None or not reading.pieces:
            return
        self._profiles.learn(url, reading.pieces, reading.fingerprint.sketch)
        self._learned += 1
        if self._learned % _KEPT_EVERY == 0:
            finished(self._profiles.share())


class _DiskNotes:
    """Keeps profiles in a file without a name, which goes with this object: memory holds a thousand only."""

    is_remote = False

    def __init__(self) -> None:
        # Not every batch needs it.
        import sqlite3

        # SQLite's own temporary database: on the disk as soon as it does not fit into its cache.
        self._connection = sqlite3.connect("", isolation_level=None)
        self._connection.execute("CREATE TABLE notes (name TEXT PRIMARY KEY, data BLOB) WITHOUT ROWID")

    def note(self, kind: str, name: Name) -> tuple[int, bytes | None]:
        """See :class:`~scrapy_simhash.notes.Notes`: one version will do, since nobody else writes."""
        found = self._connection.execute("SELECT 1, data FROM notes WHERE name = ?", (name,)).fetchall()
        return found[0] if found else (0, None)

    def notes(self, kind: str) -> Iterator[tuple[Name, bytes]]:
        """See :class:`~scrapy_simhash.notes.Notes`."""
        yield from self._connection.execute("SELECT name, data FROM notes")

    def replace_notes(self, kind: str, notes: Sequence[Note]) -> list[int | None]:
        """See :class:`~scrapy_simhash.notes.Notes`."""
        rows = [(note.name, note.data) for note in notes]
        self._connection.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?)", rows)
        return [1] * len(notes)
