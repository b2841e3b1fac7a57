"""The exact search in a file: nothing is built in memory, so that an index is ready at once and may exceed it.

A file saved as searchable has a column for each table of its plan: all fingerprints *permuted*, the key of the
table first, and then sorted. Those with the key of a query are neighbours, and binary search finds them::

    fingerprint   |    A    |    B    |    C    |    D    |    E    |    F    |
    permuted      |    A    |    C    |    F    |    B    |    D    |    E    |      the table of A, C, F
                  '------- the key -------------'

Permuting two fingerprints does not change their distance, so candidates are compared as they stand. A table whose
key leads the fingerprint anyway has no column: the fingerprints themselves, which are sorted, are it.

Here the order is that of the paper, not the scattered one of ``address``: binary search needs no directory, however
uneven the fingerprints are, and a file should depend on no constant of ours.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import SupportsIndex

from scrapy_simhash.index._arguments import checked_key, checked_value
from scrapy_simhash.index.files.format import FilePath, IndexFile, IndexFileError, Plans
from scrapy_simhash.index.match import Match, nearest_first
from scrapy_simhash.index.plans.blocks import BITS
from scrapy_simhash.index.plans.growth import keys_of
from scrapy_simhash.index.plans.permutation import Permutation
from scrapy_simhash.index.pure.cells import flips


@dataclass(frozen=True, slots=True)
class SearchTable:
    """A table as a file has it: the column, and the keys to look up in it."""

    #: The section of the file.
    name: str
    permutation: Permutation
    #: What the key of a query differs by from those looked up, in place.
    flips: tuple[int, ...]


def tables_of(plan: Plans) -> Iterator[SearchTable]:
    """Yield a table for each of *plan*, in its order; for None, the plan of ``LinearScan``, one without a key.

    >>> from scrapy_simhash.index.plans.plan import Plan
    >>> [table.name for table in tables_of(Plan.classic(max_distance=1, blocks=3))]
    ['values', 'table 1', 'table 2']
    """
    for number, (mask, radius) in enumerate([(0, 0)] if plan is None else keys_of(plan)):
        permutation = Permutation(mask)
        name = "values" if permutation.is_identity else f"table {number}"
        width = permutation.key_bits
        yield SearchTable(name, permutation, tuple(flip << BITS - width for flip in flips(width, radius)))


class MappedIndex:
    """The index in a file, searched where it lies; it cannot change. Same matches as the index that was saved.

    Wants a file saved with ``searchable=True``; one of a ``LinearScan`` needs no tables. Memory is what the system
    caches of the file, and gives back under pressure. Any number of threads and processes may search at once. The
    file may be replaced meanwhile, by ``save`` for instance: this one stays what it was until it is closed. (On
    Windows an open file cannot be replaced.) Writing into it or cutting it would be felt here.

    Raises OSError if *path* cannot be read, and IndexFileError if it is no index file, or none to be searched.
    *verify* compares all checksums, which reads the whole file once; without, it opens at once and nothing worse
    than wrong matches comes of damage. O(tables * log n) a search, and the candidates.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from scrapy_simhash.index import SimhashIndex
    >>> from scrapy_simhash.index.files.saved import save
    >>> index = SimhashIndex()
    >>> index.add(0b1011, key=7)
    >>> with TemporaryDirectory() as folder:
    ...     save(index, Path(folder, "pages.simhash"), searchable=True)
    ...     with MappedIndex(Path(folder, "pages.simhash")) as mapped:
    ...         mapped.find(0b1111)
    [Match(key=7, value=11, distance=1)]
    """

    def __init__(self, path: FilePath, verify: bool = True) -> None:
        """Open the file at *path*."""
        self._file = IndexFile(path, verify)
        header = self._file.header
        self.max_distance: int = header.max_distance
        self.plan: Plans = header.plan
        tables = list(tables_of(header.plan))
        if missing := {table.name for table in tables} - set(self._file.names):
            self._file.close()
            raise IndexFileError(
                f"{self._file.path} has no tables to search ({len(missing)} are missing): "
                "save it with searchable=True, or load() it"
            )
        self._tables = [(table, self._file.column(table.name)) for table in tables]
        self._values = self._file.column("values")
        self._keys = self._file.column("keys")
        self._is_closed = False

    def __enter__(self) -> MappedIndex:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. A later search raises ValueError; closing again does nothing."""
        self._is_closed = True
        self._file.close()

    def __len__(self) -> int:
        """Return the number of postings."""
        return len(self._file)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield every posting as (value, key), sorted."""
        self._check_open()
        return zip(self._values, self._keys, strict=True)

    def __contains__(self, posting: tuple[SupportsIndex, SupportsIndex]) -> bool:
        """Return whether the posting (value, key) is stored."""
        self._check_open()
        value, key = posting
        return checked_key(key) in self._keys_of(checked_value(value))

    def find(self, value: SupportsIndex) -> list[Match]:
        """Return the keys within ``max_distance`` of *value*, nearest first, then by key.

        A key is returned once, with the nearest of its values. An empty list if there is none.
        """
        self._check_open()
        value = checked_value(value)
        most = self.max_distance
        near: set[int] = set()
        for table, column in self._tables:
            asked, end = table.permutation.permute(value), len(column)
            below = 1 << BITS - table.permutation.key_bits
            for flip in table.flips:
                # The least fingerprint with this key; those with it differ from that one below the key only.
                first = (asked ^ flip) // below * below
                place = bisect_left(column, first)
                while place < end and (stored := column[place]) ^ first < below:
                    if (stored ^ asked).bit_count() <= most:
                        near.add(table.permutation.unpermute(stored))
                    place += 1
        return nearest_first(
            Match(key, stored, (stored ^ value).bit_count())
            for stored in near
            for key in self._keys_of(stored)
        )

    def _keys_of(self, value: int) -> Iterator[int]:
        """Yield the keys of *value*, rising."""
        values, keys = self._values, self._keys
        for place in range(bisect_left(values, value), len(values)):
            if values[place] != value:
                break
            yield keys[place]

    def _columns(self) -> Iterator[tuple[memoryview, memoryview]]:
        """Yield the values and keys, for ``save`` and ``merge``."""
        self._check_open()
        return iter([(self._values, self._keys)])

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError(f"the index in {self._file.path} is closed")
