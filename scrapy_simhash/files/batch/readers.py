"""Readers: records in, read pages out, in the order of the records. The same, however many processes read them.

A page is read by what its site says of its pieces, and that depends on all pages of the site before it. Another
process reads it by what the site said some pages before. When all earlier pages are known, the site is asked again:
only if it says something else by now, the page is read a second time, by that::

    records  -->  read by workers  -->  in order: does the site say the same?  --> yes -->  learn, hand on
                       ^                                   |
                       `--------- by that answer -------- no
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager

from scrapy_simhash.files.batch.page import Fate, GivenSite, Page, PageReader, Step
from scrapy_simhash.files.batch.pool import (
    BATCH_TASKS,
    Answer,
    Pool,
    ReadTask,
    RuleTask,
    Task,
    answer,
)
from scrapy_simhash.fingerprinter import KnownSite, Reading
from scrapy_simhash.notes import Name, Note
from scrapy_simhash.page.site import SiteProfile, SiteProfiles
from scrapy_simhash.waiting import finished

#: Pages on their way, for each process, and how many bytes they have: what waits for a slow page takes memory.
PAGES_AHEAD = 3 * BATCH_TASKS
BYTES_AHEAD = 1 << 20


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
            if step.fate is Fate.COPY and step.page is not None and step.verdict is not None:
                step.take(self._reader.rule_on(step.page, step.verdict))
            yield step


class _Flight:
    """A step on its way, and the ticket for what is waited for; None if it waits for nothing."""

    __slots__ = ("size", "step", "ticket")

    def __init__(self, step: Step, ticket: int | None) -> None:
        self.step = step
        self.ticket = ticket
        self.size = 0 if step.page is None else len(step.page.page)


class PooledReaders(Readers):
    """Reads in the processes of a pool."""

    def __init__(self, pool: Pool, processes: int) -> None:
        self._pool = pool
        self._pages_ahead = processes * PAGES_AHEAD
        self._bytes_ahead = processes * BYTES_AHEAD

    def read(self, steps: Iterable[Step], sites: BatchSites | None) -> Iterator[Step]:
        """See `Readers.read`."""
        pool = self._pool
        flights: deque[_Flight] = deque()
        unchecked: deque[_Flight] = deque()
        given = None if sites is None else sites.given
        size = 0
        for step in steps:
            ticket = None
            if step.page is not None:
                ticket = pool.submit(ReadTask(step.page, sites is not None, given))
            flight = _Flight(step, ticket)
            size += flight.size
            flights.append(flight)
            unchecked.append(flight)
            # As early as it can be: what must be read again is read meanwhile.
            while unchecked and (unchecked[0].ticket is None or pool.is_done(unchecked[0].ticket)):
                self._check(unchecked.popleft(), sites)
            while len(flights) > self._pages_ahead or size > self._bytes_ahead:
                size -= flights[0].size
                yield self._landed(flights, unchecked, sites)
        while flights:
            yield self._landed(flights, unchecked, sites)

    def rule(self, steps: Iterable[Step]) -> Iterator[Step]:
        """See `Readers.rule`."""
        flights: deque[_Flight] = deque()
        for step in steps:
            ticket = None
            if step.fate is Fate.COPY and step.page is not None and step.verdict is not None:
                ticket = self._pool.submit(RuleTask(step.page, step.verdict))
            flights.append(_Flight(step, ticket))
            while flights and (
                len(flights) > self._pages_ahead
                or flights[0].ticket is None
                or self._pool.is_done(flights[0].ticket)
            ):
                yield self._ruled(flights.popleft())
        while flights:
            yield self._ruled(flights.popleft())

    def _landed(self, flights: deque[_Flight], unchecked: deque[_Flight], sites: BatchSites | None) -> Step:
        """Return the first step, as soon as its page is read."""
        flight = flights.popleft()
        if unchecked and unchecked[0] is flight:
            self._check(unchecked.popleft(), sites)
        if flight.ticket is not None:
            flight.step.read = self._pool.result(flight.ticket)
        return flight.step

    def _check(self, flight: _Flight, sites: BatchSites | None) -> None:
        """Take the answer for the first page that is not checked, and have it read again if it must be."""
        page = flight.step.page
        if flight.ticket is None or page is None:
            return
        read = flight.step.read = self._pool.result(flight.ticket)
        flight.ticket = None
        reading = read.reading
        if sites is None or reading is None or not reading.pieces:
            return
        site = sites.of(page)
        if site is not None:
            answer = site.flags(reading.pieces)
            if answer != read.answer:
                self.read_again += 1
                flight.ticket = self._pool.submit(ReadTask(page, True, GivenSite(answer)))
        # What it learns of is the same in both.
        if sites.learn(page.url, reading):
            self._pool.learned(page.url, reading.pieces, reading.fingerprint.sketch)

    def _ruled(self, flight: _Flight) -> Step:
        if flight.ticket is not None:
            flight.step.take(self._pool.result(flight.ticket))
        return flight.step


@contextmanager
def readers_of(
    reader: PageReader, processes: int, sites: Callable[[], BatchSites | None]
) -> Iterator[Readers]:
    """Open readers in so many processes; one is this. *sites* are those by which pages are read at the moment."""
    if processes == 1:
        yield Readers(reader)
        return

    def profile_of(url: str) -> bytes:
        known = sites()
        return SiteProfile().to_bytes() if known is None else known.profile_of(url)

    def answer_here(task: Task) -> Answer:
        known = sites()
        return answer(reader, task, lambda page: None if known is None else known.of(page))

    with closing(Pool(processes, reader, profile_of, answer_here)) as pool:
        yield PooledReaders(pool, processes)


#: Pages after which profiles go to the disk, if there is a place for them: fewer than there is room for.
_KEPT_EVERY = 500


class BatchSites:
    """The profiles of the sites of a batch, and when they learn."""

    def __init__(
        self, profiles: SiteProfiles, *, learns: bool = True, given: GivenSite | None = None
    ) -> None:
        """Without *learns* the *profiles* stay as they are; *given* takes the place of each when a page is read."""
        self._profiles = profiles
        self._learns = learns
        self._learned = 0
        self.given = given

    @classmethod
    def first_look(cls) -> BatchSites:
        """Return sites that only learn, for a first look at all pages; see also `learned`."""
        return cls(SiteProfiles(_DiskNotes()), given=GivenSite(None))

    def learned(self) -> BatchSites:
        """Return sites that know what these have learned, and learn no more."""
        finished(self._profiles.share())
        return BatchSites(self._profiles, learns=False)

    def of(self, page: Page) -> KnownSite | None:
        """Return by what *page* is read; plain text has no site."""
        return None if page.is_text else self.given or self._profiles.of(page.url)

    def profile_of(self, url: str) -> bytes:
        """Return the profile of the site of *url* as bytes."""
        return self._profiles.of(url).to_bytes()

    def learn(self, url: str, reading: Reading | None) -> bool:
        """Learn from a page, as a detector does, and return whether there was anything to learn."""
        if not self._learns or reading is None or reading.fingerprint is None or not reading.pieces:
            return False
        self._profiles.learn(url, reading.pieces, reading.fingerprint.sketch)
        self._learned += 1
        if self._learned % _KEPT_EVERY == 0:
            finished(self._profiles.share())
        return True


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
