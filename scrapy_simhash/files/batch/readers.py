"""Readers: read the pages of records with the boilerplate models of their hosts, in the order of the records.

A boilerplate model depends only on the pages of its host. So one process reads all pages of a host, one after
another, and the number of processes does not affect the results::

    records  -->  a worker for each host: read, learn  -->  in the order of the records
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from scrapy_simhash.detector import NearDuplicateDetector
from scrapy_simhash.files.batch.page import GivenSite, PageReader, Read, Step
from scrapy_simhash.files.records import Record
from scrapy_simhash.files.workers import Workers, result_of, workers
from scrapy_simhash.fingerprinter import KnownSite
from scrapy_simhash.page.site import SiteProfile, SiteProfiles
from scrapy_simhash.scope import host_of
from scrapy_simhash.waiting import finished


class Pass(NamedTuple):
    """One pass over the pages."""

    knows: bool
    """Whether boilerplate models are used."""
    learns: bool


#: A pass as in a crawl; the first of two passes, which only learns; the second pass, or one with a store.
ONLY, FIRST, SECOND = Pass(True, True), Pass(False, True), Pass(True, False)
#: Pages after which boilerplate models go to the store of a reader; fewer than the models that it keeps.
_KEPT_EVERY = 500
#: An unknown host.
_UNKNOWN = GivenSite(None)


class HostReader:
    """Reads pages and learns the boilerplate of their hosts, in this process."""

    def __init__(self, reader: PageReader, sites: SiteProfiles | None) -> None:
        """*sites* are the boilerplate models of hosts; None for none."""
        self._reader = reader
        self._sites = sites
        self._learned = 0

    def read(self, page: Record, turn: Pass, profile: bytes | None = None) -> Read:
        """Return *page* as read in one pass; *profile* is the model of its host in a store of another process."""
        site: KnownSite | None = None
        if profile is not None:
            site = SiteProfile.from_bytes(profile)
        elif self._sites is not None and not page.is_text:
            site = self._sites.of(page.url) if turn.knows else _UNKNOWN
        read = self._reader.read(page, site)
        reading = read.reading
        if reading is None or not reading.pieces:
            return read
        if turn.learns and self._sites is not None and reading.fingerprint is not None:
            self._sites.learn(page.url, reading.pieces, reading.fingerprint.sketch)
            self._learned += 1
            if self._learned % _KEPT_EVERY == 0:
                finished(self._sites.share())
        # Other processes do not need the text blocks of a page.
        return read._replace(reading=reading._replace(pieces=b""))


class Readers:
    """Reads the pages of records in this process."""

    def __init__(self, reader: PageReader, sites: SiteProfiles | None) -> None:
        self._host_reader = HostReader(reader, sites)

    def read(self, steps: Iterable[Step], turn: Pass) -> Iterator[Step]:
        """Yield *steps* in order, with their pages read."""
        for step in steps:
            if step.page is not None:
                step.read = self._host_reader.read(step.page, turn)
            yield step


#: Max records per chunk for a worker, and bytes of pages above which a chunk is smaller.
CHUNK_RECORDS, CHUNK_BYTES = 16, 1 << 20
#: Max waiting records, and max bytes of their pages: room for hosts whose pages follow each other.
MOST_RECORDS, MOST_BYTES = 1_000, 16 << 20


class _Chunk:
    """Pages of several hosts for one worker, and the results."""

    def __init__(self, worker: int) -> None:
        self.worker = worker
        self.pages: list[tuple[Record, bytes | None]] = []
        self.size = 0
        self.reads: Future[Any] | None = None


class PooledReaders(Readers):
    """Reads pages in other processes, each host in one of them."""

    def __init__(self, reader: PageReader, sites: SiteProfiles | None, workers: Workers) -> None:
        self._sites = sites
        self._workers = workers
        self._worker_of: dict[str, int] = {}
        #: Bytes of pages that each worker got so far.
        self._given = [0] * len(workers)

    def read(self, steps: Iterable[Step], turn: Pass) -> Iterator[Step]:
        """See `Readers.read`."""
        waiting: deque[tuple[Step, _Chunk | None, int]] = deque()
        open_chunks: dict[int, _Chunk] = {}
        size = 0
        for step in steps:
            chunk, at = None, 0
            if step.page is not None:
                chunk, at = self._put(step.page, open_chunks, turn)
                size += len(step.page.page)
            waiting.append((step, chunk, at))
            while len(waiting) > MOST_RECORDS or size > MOST_BYTES:
                step = self._taken(waiting, open_chunks, turn)
                size -= 0 if step.page is None else len(step.page.page)
                yield step
        while waiting:
            yield self._taken(waiting, open_chunks, turn)

    def _put(self, page: Record, open_chunks: dict[int, _Chunk], turn: Pass) -> tuple[_Chunk, int]:
        """Put *page* into the chunk of the worker of its host, and send the chunk if it is full."""
        host = host_of(page.url)
        worker = self._worker_of.get(host)
        if worker is None:
            worker = self._worker_of[host] = min(range(len(self._given)), key=self._given.__getitem__)
        self._given[worker] += len(page.page)
        chunk = open_chunks.setdefault(worker, _Chunk(worker))
        # The source stays here, since a worker does not need it.
        chunk.pages.append((replace(page, source=None), self._profile_of(page)))
        chunk.size += len(page.page)
        if len(chunk.pages) >= CHUNK_RECORDS or chunk.size >= CHUNK_BYTES:
            self._send(chunk, open_chunks, turn)
        return chunk, len(chunk.pages) - 1

    def _profile_of(self, page: Record) -> bytes | None:
        if self._sites is None or page.is_text:
            return None
        profile = self._sites.of(page.url)
        return profile.to_bytes() if profile.is_known else None

    def _send(self, chunk: _Chunk, open_chunks: dict[int, _Chunk], turn: Pass) -> None:
        del open_chunks[chunk.worker]
        chunk.reads = self._workers.submit(chunk.worker, _read_all, chunk.pages, turn)

    def _taken(
        self,
        waiting: deque[tuple[Step, _Chunk | None, int]],
        open_chunks: dict[int, _Chunk],
        turn: Pass,
    ) -> Step:
        """Return the oldest waiting step, with its page read."""
        step, chunk, at = waiting.popleft()
        if chunk is not None:
            if chunk.reads is None:
                self._send(chunk, open_chunks, turn)
            if chunk.reads is not None:
                step.read = result_of(chunk.reads)[at]
        return step


@contextmanager
def readers_of(
    reader: PageReader, sites: SiteProfiles | None, processes: int, *, learns: bool
) -> Iterator[Readers]:
    """Open readers: in this process if *processes* is 1, else in that many others.

    *sites* are those of the store of ``--against``, None without one. *learns*: whether models are used at all.
    """
    if processes == 1:
        yield Readers(reader, sites or _new_sites(reader, learns))
        return
    with workers(processes, _begin, reader, learns) as started:
        yield PooledReaders(reader, sites, started)


# --- In a worker.

_reader: HostReader


def _begin(reader: PageReader, learns: bool) -> None:
    global _reader
    _reader = HostReader(reader, _new_sites(reader, learns))


def _new_sites(reader: PageReader, learns: bool) -> SiteProfiles | None:
    """Return boilerplate models to learn, kept in a store in memory; None if the settings need none."""
    return NearDuplicateDetector(reader.config).sites if learns else None


def _read_all(pages: list[tuple[Record, bytes | None]], turn: Pass) -> list[Read]:
    return [_reader.read(page, turn, profile) for page, profile in pages]
