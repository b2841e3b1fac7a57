"""SimhashIndex: an index that uses the C extension or, without it, a scan."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, NoReturn, SupportsIndex

from scrapy_simhash import kernel
from scrapy_simhash.index.pairs import pairs
from scrapy_simhash.index.plans import Key, plan_for, probes_of
from scrapy_simhash.index.scan import Scan
from scrapy_simhash.index.values import (
    Match,
    checked_distance,
    checked_key,
    checked_value,
    row_of,
    row_of_keys,
)

if TYPE_CHECKING:
    from scrapy_simhash.kernel._hamming import Postings

#: Values per call to the C extension, so many that the cost of a call is negligible, and so few that other threads
#: can run every millisecond.
BATCH = 4096
#: Values per search call. Each value may have many matches, which are in memory until they are read.
FOUND_BATCH = 256
#: An index with fewer records has no tables and compares all fingerprints: records per probe, min, max. C compares
#: five fingerprints per nanosecond. For random fingerprints, tables are faster from 40 records per probe on. But if
#: pages share a title and most words, each probe finds a large part of the index: a search took 95 us in tables of
#: 3,000, and 10 us in a scan of 2,300. Ten thousand small indexes without tables take only 16 bytes per page.
ROW_LIMIT = 300, 2_000, 20_000


class Callbacks:
    """The functions that the C extension calls."""

    checked_value = staticmethod(checked_value)
    checked_key = staticmethod(checked_key)
    match = Match


def core_for(max_distance: int, plan: list[Key]) -> Postings | Scan:
    """Return an empty core of an index: the tables of *plan* with the C extension, a scan without it."""
    if kernel.hamming is None:
        return Scan(max_distance)
    for_each_probe, least, most = ROW_LIMIT
    row_limit = max(least, min(most, for_each_probe * probes_of(plan)))
    core: Postings = kernel.hamming.Postings(Callbacks, max_distance, plan, row_limit)
    return core


class SimhashIndex:
    """An index of records (value, key), searched by Hamming distance. A search is exact: it finds all matches.

    A *value* is a fingerprint, 0 to 2**64 - 1; a *key* is the caller's number for a document, 0 to 2**63 - 1. Several
    keys may have the same value; equal records are stored once. Integers of numpy are accepted, but bools are not;
    every method raises TypeError or ValueError for invalid values. Several values are passed as an iterable of ints,
    or as a buffer of 64-bit numbers (``array("Q")``, numpy's uint64, a memoryview cast to ``"Q"``), which is not
    copied.

    A search looks up buckets in each table and compares all 64 bits of their fingerprints. Both a search and an
    insert compare all fingerprints with an equal key. Below a few thousand fingerprints, and without the C extension,
    there are no tables, and all fingerprints are compared.

    An index is not thread-safe. Methods are not coroutines, so a lookup and its insert are atomic in an event loop.
    With the C extension, an insert takes a few milliseconds at most, whatever the size, because tables grow by one
    64th at a time.

    >>> index = SimhashIndex(max_distance=3, blocks=6)
    >>> index.add(0x4BBB22FBBC29D9B5, key=1)
    >>> index.find(0x4BBB62FB9C29C9B5)
    [Match(key=1, value=5456993838078482869, distance=3)]
    >>> index.find(0)
    []
    """

    __slots__ = ("core", "max_distance")
    core: Postings | Scan
    """The tables or the scan."""
    max_distance: int
    """The greatest distance of a match, in bits."""

    def __init__(self, max_distance: SupportsIndex = 3, blocks: SupportsIndex | Literal["auto"] = 6) -> None:
        """Make an empty index with the classic plan of ``comb(blocks, max_distance)`` tables, or the best plan.

        With few blocks there are few tables, but their keys are short and have more candidates. ``"auto"`` uses one
        block more than *max_distance* up to a distance of 3. For greater distances it uses five blocks, and a search
        looks up all keys near the key of the query. Search times among random fingerprints, see
        ``benchmarks/index.py``:

        ========  ======  ======  ======  ==================  ====================
        ..                                microseconds among  bytes a fingerprint
        --------------------------------  ------------------  --------------------
        distance  blocks  tables  probes  100,000   million   of a million
        ========  ======  ======  ======  ========  ========  ====================
        3         auto    4       4       .3        .6        38
        3         6       20      20      1.3       2.4       198
        8         auto    5       56      2.0       11        54
        10        auto    5       135     4.4       29        54
        12        auto    5       291     8.4       52        54
        ========  ======  ======  ======  ========  ========  ====================

        Raises ValueError unless 0 <= *max_distance* < *blocks* <= 64, or if there would be more than 1,000 tables.

        >>> SimhashIndex(max_distance=8, blocks="auto").max_distance
        8
        """
        self.max_distance = checked_distance(max_distance)
        self.core = core_for(self.max_distance, plan_for(self.max_distance, blocks))

    @property
    def nbytes(self) -> int:
        """The memory of the index in bytes: tables, values, keys, and reserved space."""
        return self.core.nbytes

    def __len__(self) -> int:
        """Return the number of records. O(1)."""
        return len(self.core)

    def __repr__(self) -> str:
        """Return the number of records and the distance.

        >>> SimhashIndex()
        <SimhashIndex: 0 postings within 3 bits>
        """
        return f"<{type(self).__name__}: {len(self):,} postings within {self.max_distance} bits>"

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield every record as (value, key), in arbitrary order. All records are copied first, 16 bytes each."""
        values, keys = self.core.columns()
        return zip(array("Q", values), array("Q", keys), strict=True)

    def __contains__(self, posting: tuple[SupportsIndex, SupportsIndex]) -> bool:
        """Return whether the record (value, key) is stored.

        >>> index = SimhashIndex()
        >>> index.add(5, key=1)
        >>> (5, 1) in index, (5, 2) in index
        (True, False)
        """
        value, key = posting
        return self.core.has(value, key)

    def __reduce__(self) -> NoReturn:
        """Raise TypeError: an index cannot be pickled or copied."""
        name = type(self).__name__
        raise TypeError(f"a {name} cannot be pickled or copied: add its fingerprints to a new index")

    def find(self, value: SupportsIndex) -> list[Match]:
        """Return the records within ``max_distance`` bits of *value*, nearest first, then by key.

        Each key is returned once, with the nearest of its values. The list is empty if there are none.
        """
        return self.core.find(value)

    def find_many(self, values: Iterable[SupportsIndex]) -> Iterator[list[Match]]:
        """Yield the result of ``find`` for every value, in order.

        All values are checked first. A few hundred are searched at a time, and only their matches are in memory. The
        index must not change during the search.

        >>> index = SimhashIndex()
        >>> index.add(0b0011, key=1)
        >>> list(index.find_many([0b0001, 2**64 - 1]))
        [[Match(key=1, value=3, distance=1)], []]
        """
        row = row_of(values)
        starts = range(0, len(row), FOUND_BATCH)
        return (
            matches
            for start in starts
            for matches in self.core.find_many(row[start : start + FOUND_BATCH].tobytes())
        )

    def nearest(self, values: Iterable[SupportsIndex], most: int) -> tuple[list[Match], list[int]]:
        """Return the *most* nearest matches of all *values* together, and the number of matches of each value.

        The order is that of ``find``; a key with several of these matches is returned once, with the nearest. Only
        returned matches become objects, so thousands of other matches cost little.

        >>> index = SimhashIndex()
        >>> index.add_many([0b0000, 0b0001, 0b0011])
        >>> index.nearest([0b0000, 2**64 - 1], most=2)
        ([Match(key=0, value=0, distance=0), Match(key=1, value=1, distance=1)], [3, 0])
        """
        return self.core.nearest(list(values), most)

    def keys_of(self, value: SupportsIndex) -> list[int]:
        """Return the keys that are stored with exactly this *value*, smallest first.

        >>> index = SimhashIndex()
        >>> index.add_many([0b0001, 0b0011, 0b0001])
        >>> index.keys_of(0b0001), index.keys_of(0b0000)
        ([0, 2], [])
        """
        return self.core.keys_of(value)

    def find_or_add(self, value: SupportsIndex, key: SupportsIndex) -> list[Match]:
        """Return the result of ``find``; if it is empty, add the record.

        >>> index = SimhashIndex()
        >>> index.find_or_add(0b0011, key=1)
        []
        >>> index.find_or_add(0b0111, key=2)
        [Match(key=1, value=3, distance=1)]
        >>> len(index)
        1
        """
        return self.core.find_or_add(value, key)

    def add(self, value: SupportsIndex, key: SupportsIndex) -> None:
        """Store the record of *value* and *key*; storing it again changes nothing."""
        self.core.add(value, key)

    def add_many(self, values: Iterable[SupportsIndex], keys: Iterable[SupportsIndex] | None = None) -> None:
        """Add every record of *values* with *keys*, faster than calling ``add`` for each.

        If *keys* is None, keys continue from the greatest key ever added, or start at 0. All arguments are checked
        before anything is added. Also raises ValueError if the numbers of keys and values differ.

        >>> index = SimhashIndex()
        >>> index.add_many([2**20, 2**40])
        >>> sorted(index)
        [(1048576, 0), (1099511627776, 1)]
        """
        row = row_of(values)
        numbers = None if keys is None else row_of_keys(keys)
        first = self.core.next_key
        if numbers is None and len(row):
            checked_key(first + len(row) - 1)
        if numbers is not None and len(numbers) != len(row):
            raise ValueError(f"there must be one key for each value, got {len(numbers)} keys for {len(row)}")
        for start in range(0, len(row), BATCH):
            of_batch = slice(start, start + BATCH)
            batch_keys = None if numbers is None else numbers[of_batch].tobytes()
            self.core.add_many(row[of_batch].tobytes(), batch_keys, first + start)

    def discard(self, value: SupportsIndex, key: SupportsIndex) -> bool:
        """Remove the record and return whether it was stored.

        Later records reuse the memory; the tables do not shrink.

        >>> index = SimhashIndex()
        >>> index.add(5, key=1)
        >>> index.discard(5, key=1), index.discard(5, key=1), len(index)
        (True, False, 0)
        """
        return self.core.discard(value, key)

    def pairs(self) -> Iterator[tuple[int, int, int]]:
        """Return an iterator over all pairs of stored values within ``max_distance``; see ``index.pairs``.

        A pair is (smaller value, larger value, distance), and each pair of different values is returned once. All
        values are copied before this returns.

        >>> index = SimhashIndex()
        >>> index.add_many([0b0000, 0b0111, 0b1111])
        >>> list(index.pairs())
        [(0, 7, 3), (7, 15, 1)]
        """
        return pairs(array("Q", self.core.columns()[0]), self.max_distance)

    def _check(self) -> None:
        """Check the invariants of all tables. For tests."""
        self.core.check()
