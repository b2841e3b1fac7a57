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

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import SupportsIndex

from scrapy_simhash.index._arguments import MAX_VALUE, checked_key, checked_value
from scrapy_simhash.index.files.format import FilePath, IndexFile, IndexFileError, Plans
from scrapy_simhash.index.match import Match, nearest_first
from scrapy_simhash.index.plans.blocks import BITS, key_mask
from scrapy_simhash.index.plans.plan import Plan
from scrapy_simhash.index.plans.probing_plan import ProbingPlan
from scrapy_simhash.index.pure.cells import flips


class Permutation:
    """An order of the 64 bits: those of a mask first, then the others, both as they stood.

    >>> last_block_first = Permutation(0xFFFF)
    >>> hex(last_block_first.apply(0x1111_2222_3333_4444))
    '0x4444111122223333'
    >>> hex(last_block_first.undo(0x4444_1111_2222_3333))
    '0x1111222233334444'
    """

    __slots__ = ("_back", "_forth", "bits")

    def __init__(self, mask: int) -> None:
        """Make the permutation that moves the bits of *mask* to the front."""
        #: How many bits the mask has.
        self.bits = mask.bit_count()
        self._forth: list[tuple[int, int, int]] = []
        self._back: list[tuple[int, int, int]] = []
        place = BITS
        for run in (*_runs(mask), *_runs(mask ^ MAX_VALUE)):
            place -= run.bit_count()
            lowest = (run & -run).bit_length() - 1
            up, down = max(place - lowest, 0), max(lowest - place, 0)
            self._forth.append((run, up, down))
            self._back.append((run << up >> down, down, up))

    @property
    def is_identity(self) -> bool:
        """Whether the bits stay where they are."""
        return not any(up or down for _, up, down in self._forth)

    def apply(self, value: int) -> int:
        """Return *value* with its bits in the new order."""
        permuted = 0
        for run, up, down in self._forth:
            permuted |= (value & run) << up >> down
        return permuted

    def undo(self, permuted: int) -> int:
        """Return the value that ``apply`` made *permuted* of."""
        value = 0
        for run, up, down in self._back:
            value |= (permuted & run) << up >> down
        return value

    def apply_to_all(self, values: array[int]) -> array[int]:
        """Return all *values*, of type ``Q``, permuted. A twentieth of the time of ``apply`` for each."""
        # As in address.Lanes: one huge int with a value in every 64 bits. A run of bits moves within its lane.
        ones = int.from_bytes(array("Q", [1]) * len(values), sys.byteorder)
        lanes = int.from_bytes(values, sys.byteorder)
        permuted = 0
        for run, up, down in self._forth:
            permuted |= (lanes & ones * run) << up >> down
        return array("Q", permuted.to_bytes(8 * len(values), sys.byteorder))


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

    >>> [table.name for table in tables_of(Plan.classic(max_distance=1, blocks=3))]
    ['values', 'table 1', 'table 2']
    """
    radii: list[tuple[int, int]] = [(0, 0)]
    if isinstance(plan, Plan):
        radii = [(key_mask(plan.blocks, key), 0) for key in plan.keys]
    elif isinstance(plan, ProbingPlan):
        radii = [
            (block.mask << block.shift, radius)
            for block, radius in zip(plan.blocks, plan.radii, strict=True)
            if radius >= 0
        ]
    for number, (mask, radius) in enumerate(radii):
        permutation = Permutation(mask)
        name = "values" if permutation.is_identity else f"table {number}"
        rest = BITS - permutation.bits
        yield SearchTable(name, permutation, tuple(flip << rest for flip in flips(permutation.bits, radius)))


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
            asked, end = table.permutation.apply(value), len(column)
            below = 1 << BITS - table.permutation.bits
            for flip in table.flips:
                # The least fingerprint with this key; those with it differ from that one below the key only.
                first = (asked ^ flip) // below * below
                place = bisect_left(column, first)
                while place < end and (stored := column[place]) ^ first < below:
                    if (stored ^ asked).bit_count() <= most:
                        near.add(table.permutation.undo(stored))
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


def _runs(mask: int) -> Iterator[int]:
    """Yield the runs of neighbouring ones of *mask*, the most significant first."""
    while mask:
        highest = 1 << mask.bit_length()
        run = highest - (1 << (highest - 1 - mask).bit_length())
        yield run
        mask ^= run
