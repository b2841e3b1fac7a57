"""What every index can do: one face over a core, which is compiled or pure Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn, SupportsIndex

from scrapy_simhash import kernel
from scrapy_simhash.index.growth import native_steps, pure_steps
from scrapy_simhash.index.pairs import pairs
from scrapy_simhash.index.plans import Plan
from scrapy_simhash.index.probing_plan import ProbingPlan
from scrapy_simhash.index.pure.postings import Postings
from scrapy_simhash.index.values import (
    Match,
    Progress,
    checked_key,
    checked_value,
    lying,
    nearest_first,
    row_of,
)

#: What one call of the kernel takes: enough that a call weighs nothing, and others get a turn every millisecond.
NATIVE_BATCH = 4096
#: Searches at a time: what they find may be many matches each, which stay until they are asked for.
FOUND_BATCH = 256


class Door:
    """What the kernel asks of Python."""

    checked_value = staticmethod(checked_value)
    checked_key = staticmethod(checked_key)
    match = Match
    nearest_first = staticmethod(nearest_first)


def core_for(max_distance: int, plans: Sequence[tuple[int, Plan | ProbingPlan]]) -> Postings:
    """Return an empty core, the kernel's or that of pure Python, that goes through *plans*.

    Each has the number of fingerprints up to which it serves.
    """
    if kernel.hamming is not None:
        twin: Postings = kernel.hamming.Postings(Door, max_distance, native_steps(plans))
        return twin
    return Postings(max_distance, pure_steps(plans))


class HammingIndex(ABC):
    """Postings (value, key), searched by Hamming distance: the base of every index.

    A *value* is a fingerprint, 0 to 2**64 - 1; a *key* is the caller's number for a document, 0 to 2**63 - 1.
    Several keys may have one value, which the tables hold once; the same posting twice is stored once.
    Integers of numpy are taken, bools are not; every method raises TypeError or ValueError for what is
    neither. Many values come as any iterable of ints, or as a buffer of 64-bit numbers (``array("Q")``, numpy's
    uint64, a memoryview cast to ``"Q"``), which is read where it lies.

    Not thread-safe: one thread at a time. No method yields to others (there is no ``await``), so that a
    look-up and its insert are one step for an event loop.
    """

    __slots__ = ("_core",)
    _core: Postings

    @property
    @abstractmethod
    def max_distance(self) -> int:
        """The greatest distance of a match, in bits."""

    @property
    def nbytes(self) -> int:
        """The memory of the index in bytes: tables, values, keys, and the room they keep for growth.

        With the kernel what it says is what the process takes. Pure Python: O(n), 30 ms for a million in 20
        tables, without what the allocator adds to each block (up to 16 bytes in some 1,000). Ask for it now and
        then, not for every page.
        """
        return self._core.nbytes

    def __len__(self) -> int:
        """Return the number of postings. O(1)."""
        return len(self._core)

    def __repr__(self) -> str:
        """Return what a person wants to know first.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> SimhashIndex()
        <SimhashIndex: 0 postings within 3 bits>
        """
        return f"<{type(self).__name__}: {len(self):,} postings within {self.max_distance} bits>"

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield every posting as (value, key), in no promised order. The index must not change meanwhile."""
        for values, keys in self._columns():
            yield from zip(array("Q", values), array("Q", keys), strict=True)

    def __contains__(self, posting: tuple[SupportsIndex, SupportsIndex]) -> bool:
        """Return whether the posting (value, key) is stored.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> index = SimhashIndex()
        >>> index.add(5, key=1)
        >>> (5, 1) in index, (5, 2) in index
        (True, False)
        """
        value, key = posting
        return self._core.has(value, key)

    def __reduce__(self) -> NoReturn:
        """Refuse: an index is not pickled, nor copied by ``copy``."""
        name = type(self).__name__
        raise TypeError(f"a {name} cannot be pickled or copied: save() and load() it")

    def find(self, value: SupportsIndex) -> list[Match]:
        """Return the keys within ``max_distance`` of *value*, nearest first, then by key.

        A key is returned once, with the nearest of its values. An empty list if there is none.
        """
        return self._core.find(value)

    def nearest(self, values: Iterable[SupportsIndex], most: int) -> tuple[list[Match], list[int]]:
        """Return the *most* nearest postings of all *values* together, and how many each value has within reach.

        In the order of ``find``; a key with several postings among them is returned once, with the nearest. So crowds
        cost little: no object is made of a posting that is not returned.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> index = SimhashIndex()
        >>> index.add_many([0b0000, 0b0001, 0b0011])
        >>> index.nearest([0b0000, 2**64 - 1], most=2)
        ([Match(key=0, value=0, distance=0), Match(key=1, value=1, distance=1)], [3, 0])
        """
        return self._core.nearest(list(values), most)

    def keys_of(self, value: SupportsIndex) -> list[int]:
        """Return the keys that are stored with this very *value*, smallest first.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> index = SimhashIndex()
        >>> index.add_many([0b0001, 0b0011, 0b0001])
        >>> index.keys_of(0b0001), index.keys_of(0b0000)
        ([0, 2], [])
        """
        return self._core.keys_of(value)

    def find_or_add(self, value: SupportsIndex, key: SupportsIndex) -> list[Match]:
        """Return what ``find`` returns; if that is nothing, add the posting.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> index = SimhashIndex()
        >>> index.find_or_add(0b0011, key=1)
        []
        >>> index.find_or_add(0b0111, key=2)
        [Match(key=1, value=3, distance=1)]
        >>> len(index)
        1
        """
        return self._core.find_or_add(value, key)

    def add(self, value: SupportsIndex, key: SupportsIndex) -> None:
        """Store the posting of *value* and *key*; storing it again changes nothing."""
        self._core.add(value, key)

    def discard(self, value: SupportsIndex, key: SupportsIndex) -> bool:
        """Take the posting out and return whether it was there.

        The memory is used again by what is added later; the tables do not shrink.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> index = SimhashIndex()
        >>> index.add(5, key=1)
        >>> index.discard(5, key=1), index.discard(5, key=1), len(index)
        (True, False, 0)
        """
        return self._core.discard(value, key)

    def add_many(self, values: Iterable[SupportsIndex], keys: Iterable[SupportsIndex] | None = None) -> None:
        """Add every posting of *values* with *keys*, as ``add`` would one by one, but faster.

        Where *keys* is None the values are numbered on: from one more than the greatest key ever added, or
        from 0. All arguments are checked first, so that a wrong one adds nothing; ValueError also if there
        are not as many keys as values. Pure Python takes half the time of ``add`` when the batch is the greater
        part of the index, and some 160 bytes a value while it works.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> index = SimhashIndex()
        >>> index.add_many([2**20, 2**40])
        >>> sorted(index)
        [(1048576, 0), (1099511627776, 1)]
        """
        for row, row_keys, first in self._batches(values, keys):
            self._core.add_many(row, row_keys, first)

    def find_or_add_many(
        self, values: Iterable[SupportsIndex], keys: Iterable[SupportsIndex] | None = None
    ) -> array[int]:
        """Do ``find_or_add`` for every value in order; return the keys of the nearest matches, -1 where it was new.

        The result has type ``q`` and an element for each value: the key of its nearest match (of several equally
        near the smallest), or -1 if there was none and the posting was added. So what comes later in *values*
        finds what came earlier. *keys* as in ``add_many``; without them the next batch is numbered on after the
        last of this, whether it was added or not. All arguments are checked first.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> SimhashIndex().find_or_add_many([0b0000, 0b1111, 0b0001, 0b1111])
        array('q', [-1, -1, 0, 1])
        """
        nearest = array("q")
        for row, row_keys, first in self._batches(values, keys):
            nearest.frombytes(self._core.find_or_add_many(row, row_keys, first))
            if row_keys is None:
                self._core.next_key = max(self._core.next_key, first + len(row) // 8)
        return nearest

    def find_many(self, values: Iterable[SupportsIndex]) -> Iterator[list[Match]]:
        """Yield what ``find`` returns for every value, in order.

        All values are checked first. Some hundred are searched at a time: what they find is all the memory it takes
        beside the values. The index must not change meanwhile.

        >>> from scrapy_simhash.index import SimhashIndex
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
            for matches in self._core.find_many(row[start : start + FOUND_BATCH].tobytes())
        )

    def pairs(self, progress: Progress | None = None) -> Iterator[tuple[int, int, int]]:
        """Return an iterator over all pairs of stored values within ``max_distance``; see ``index.pairs``.

        (smaller value, larger value, distance), each pair of different values once. One pass over the tables of
        the plan that suits so many; all values are copied before this returns, 24 bytes each with the kernel.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> index = SimhashIndex()
        >>> index.add_many([0b0000, 0b0111, 0b1111])
        >>> list(index.pairs())
        [(0, 7, 3), (7, 15, 1)]
        """
        values = array("Q")
        for row, _ in self._columns():
            values.frombytes(row)
        return pairs(values, self.max_distance, progress=progress)

    def _batches(
        self, values: Iterable[SupportsIndex], keys: Iterable[SupportsIndex] | None
    ) -> Iterator[tuple[bytes, bytes | None, int]]:
        """Yield *values* and *keys* batch by batch, as bytes of native numbers, and the key of the first value."""
        row = row_of(values)
        first = self._core.next_key
        numbers = None
        if keys is None:
            if len(row):
                checked_key(first + len(row) - 1)
        else:
            numbers = _row_of_keys(keys)
            if len(numbers) != len(row):
                raise ValueError(f"there must be one key for every value, got {len(numbers)} for {len(row)}")
        size = Postings.batch if isinstance(self._core, Postings) else NATIVE_BATCH
        for start in range(0, len(row), size):
            batch = None if numbers is None else numbers[start : start + size].tobytes()
            yield row[start : start + size].tobytes(), batch, first + start

    def _columns(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all postings part by part, as two rows of native uint64: values, and the key of each."""
        return (self._core.part(number) for number in range(self._core.parts()))

    def _check(self) -> None:
        """Assert what must hold between two calls. For tests: O(everything)."""
        self._core.check()


def _row_of_keys(keys: Iterable[SupportsIndex]) -> memoryview:
    row = lying(keys)
    if row is None:
        return memoryview(array("Q", map(checked_key, keys)))
    # A key is below 2**63. All sign bits are looked at in one operation of a huge int, a batch at a time.
    for start in range(0, len(row), NATIVE_BATCH):
        batch = row[start : start + NATIVE_BATCH]
        signs = int.from_bytes(array("Q", [2**63]).tobytes() * len(batch), "little")
        if int.from_bytes(batch.tobytes(), "little") & signs:
            for key in batch:
                checked_key(key)
    return row
