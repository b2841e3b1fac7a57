"""Readers: read the pages of records with the boilerplate models of their hosts, in the order of the records.

A boilerplate model depends only on the pages of its host. So a single process reads all pages of a host in order, and
the number of processes does not affect the results.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from scrapy_simhash.detector import NearDuplicateDetector
from scrapy_simhash.files.batch.page import GivenSite, PageReader, Read, Step
from scrapy_simhash.files.records import Record
from scrapy_simhash.files.workers import Workers, result_of, workers
from scrapy_simhash.fingerprinter import KnownSite
from scrapy_simhash.page.site import SiteProfile, SiteProfiles
from scrapy_simhash.scope import host_of
from scrapy_simhash.waiting import run_sync


class Pass(NamedTuple):
    """One pass over the pages."""

    knows: bool
    """Whether boilerplate models are used."""
    learns: bool


#: A single pass, which learns as a crawl does; the first of two passes, which only learns; the second pass, or a
#: single pass with the models of a store.
ONLY, FIRST, SECOND = Pass(True, True), Pass(False, True), Pass(True, False)
#: Number of pages after which boilerplate models are written to the store of a reader, so that its cache drops no
#: model that is not stored.
_KEPT_EVERY = 500
#: Max records per block; bytes of pages at which a block ends earlier; max blocks in progress, enough if the pages of
#: each host are adjacent.
BLOCK_RECORDS, BLOCK_BYTES, BLOCKS = 64, 1 << 20, 16
#: The steps of one process in a block, and their future results.
_Share: TypeAlias = "tuple[list[Step], Future[Any]]"


class HostReader:
    """Reads pages and learns the boilerplate of their hosts, in this process."""

    def __init__(self, reader: PageReader, sites: SiteProfiles | None) -> None:
        """*sites* are the boilerplate models of hosts; None if boilerplate is not learned."""
        self._reader = reader
        self._sites = sites
        self._learned = 0

    def read(self, page: Record, turn: Pass, profile: bytes | None = None) -> Read:
        """Read *page* in the pass *turn*. *profile* is the model of its host, if another process has the store."""
        site: KnownSite | None = None
        if profile is not None:
            site = SiteProfile.from_bytes(profile)
        elif self._sites is not None and not page.is_text:
            site = self._sites.of(page.url) if turn.knows else GivenSite(None)
        read = self._reader.read(page, site)
        reading = read.reading
        if reading is None or not reading.pieces:
            return read
        if turn.learns and self._sites is not None and reading.fingerprint is not None:
            self._sites.learn(page.url, reading.pieces, reading.fingerprint.sketch)
            self._learned += 1
            if self._learned % _KEPT_EVERY == 0:
                run_sync(self._sites.share())
        # The process that judges the page does not need its text blocks.
        return read._replace(reading=reading._replace(pieces=b""))


class Readers:
    """Reads the pages of records in this process or in workers. One process reads all pages of a host."""

    def __init__(self, reader: PageReader, sites: SiteProfiles | None, pool: Workers | None = None) -> None:
        self._host_reader = HostReader(reader, sites)
        self._sites = sites
        self._pool = pool
        self._worker_of: dict[str, int] = {}
        #: Bytes of pages that each worker has received so far.
        self._given = [0] * len(pool or ())

    def read(self, steps: Iterable[Step], turn: Pass) -> Iterator[Step]:
        """Read the pages of *steps*, and yield the steps in order."""
        if self._pool is None:
            for step in steps:
                if step.page is not None:
                    step.read = self._host_reader.read(step.page, turn)
                yield step
            return
        pending: deque[tuple[list[Step], list[_Share]]] = deque()
        for block in _blocks(steps):
            pending.append((block, self._submit(self._pool, block, turn)))
            if len(pending) >= BLOCKS:
                yield from _taken(*pending.popleft())
        for block, shares in pending:
            yield from _taken(block, shares)

    def _submit(self, pool: Workers, block: list[Step], turn: Pass) -> list[_Share]:
        shares: dict[int, tuple[list[Step], list[Any]]] = {}
        for step in block:
            if (page := step.page) is not None:
                steps, pages = shares.setdefault(self._worker_for(page), ([], []))
                steps.append(step)
                # The source stays in this process, because a worker does not need it.
                pages.append((replace(page, source=None), self._profile_of(page)))
        return [
            (steps, pool.submit(worker, _read_all, pages, turn)) for worker, (steps, pages) in shares.items()
        ]

    def _worker_for(self, page: Record) -> int:
        host = host_of(page.url)
        worker = self._worker_of.get(host)
        if worker is None:
            worker = self._worker_of[host] = min(range(len(self._given)), key=self._given.__getitem__)
        self._given[worker] += len(page.page)
        return worker

    def _profile_of(self, page: Record) -> bytes | None:
        if self._sites is None or page.is_text:
            return None
        profile = self._sites.of(page.url)
        return profile.to_bytes() if profile.is_known else None


def _blocks(steps: Iterable[Step]) -> Iterator[list[Step]]:
    block: list[Step] = []
    size = 0
    for step in steps:
        block.append(step)
        size += 0 if step.page is None else len(step.page.page)
        if len(block) >= BLOCK_RECORDS or size >= BLOCK_BYTES:
            yield block
            block, size = [], 0
    yield block


def _taken(block: list[Step], shares: list[_Share]) -> list[Step]:
    """Wait until the pages of a block are read, and return its steps."""
    for steps, reads in shares:
        for step, read in zip(steps, result_of(reads), strict=True):
            step.read = read
    return block


@contextmanager
def readers_of(
    reader: PageReader, sites: SiteProfiles | None, processes: int, *, learns: bool
) -> Iterator[Readers]:
    """Open readers in this process if *processes* is 1, else in that many workers.

    *sites* are the models in the store of ``--against``; None without such a store. *learns* is whether the readers
    may learn models.
    """
    if processes == 1:
        yield Readers(reader, sites or _new_sites(reader, learns))
        return
    with workers(processes, _begin, reader, learns) as started:
        yield Readers(reader, sites, started)


# --- In a worker.

_reader: HostReader


def _begin(reader: PageReader, learns: bool) -> None:
    global _reader
    _reader = HostReader(reader, _new_sites(reader, learns))


def _new_sites(reader: PageReader, learns: bool) -> SiteProfiles | None:
    """Return empty boilerplate models, kept in a store in memory; None if the settings do not need models."""
    return NearDuplicateDetector(reader.config).sites if learns else None


def _read_all(pages: list[tuple[Record, bytes | None]], turn: Pass) -> list[Read]:
    return [_reader.read(page, turn, profile) for page, profile in pages]
