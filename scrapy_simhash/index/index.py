"""The exact Hamming search: one face over a core, which is compiled or pure Python, and an index as a file."""

from __future__ import annotations

import json
import os
import sys
import zlib
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NoReturn, SupportsIndex, TypeAlias

from scrapy_simhash import kernel
from scrapy_simhash.index.growth import FOREVER, native_steps, pure_steps, schedule
from scrapy_simhash.index.pairs import pairs
from scrapy_simhash.index.plans import Block, Plan, ProbingPlan
from scrapy_simhash.index.pure.postings import Postings
from scrapy_simhash.index.scan import LinearScan
from scrapy_simhash.index.values import (
    Match,
    Progress,
    checked_key,
    checked_value,
    lying,
    nearest_first,
    paced,
    row_of,
)
from scrapy_simhash.replacement import replacing

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

    __slots__ = ("core",)
    core: Postings
    """What stores and searches, the kernel's or that of pure Python."""

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
        return self.core.nbytes

    def __len__(self) -> int:
        """Return the number of postings. O(1)."""
        return len(self.core)

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
        return self.core.has(value, key)

    def __reduce__(self) -> NoReturn:
        """Refuse: an index is not pickled, nor copied by ``copy``."""
        name = type(self).__name__
        raise TypeError(f"a {name} cannot be pickled or copied: save() and load() it")

    def find(self, value: SupportsIndex) -> list[Match]:
        """Return the keys within ``max_distance`` of *value*, nearest first, then by key.

        A key is returned once, with the nearest of its values. An empty list if there is none.
        """
        return self.core.find(value)

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
        return self.core.nearest(list(values), most)

    def keys_of(self, value: SupportsIndex) -> list[int]:
        """Return the keys that are stored with this very *value*, smallest first.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> index = SimhashIndex()
        >>> index.add_many([0b0001, 0b0011, 0b0001])
        >>> index.keys_of(0b0001), index.keys_of(0b0000)
        ([0, 2], [])
        """
        return self.core.keys_of(value)

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
        return self.core.find_or_add(value, key)

    def add(self, value: SupportsIndex, key: SupportsIndex) -> None:
        """Store the posting of *value* and *key*; storing it again changes nothing."""
        self.core.add(value, key)

    def discard(self, value: SupportsIndex, key: SupportsIndex) -> bool:
        """Take the posting out and return whether it was there.

        The memory is used again by what is added later; the tables do not shrink.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> index = SimhashIndex()
        >>> index.add(5, key=1)
        >>> index.discard(5, key=1), index.discard(5, key=1), len(index)
        (True, False, 0)
        """
        return self.core.discard(value, key)

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
            self.core.add_many(row, row_keys, first)

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
            nearest.frombytes(self.core.find_or_add_many(row, row_keys, first))
            if row_keys is None:
                self.core.next_key = max(self.core.next_key, first + len(row) // 8)
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
            for matches in self.core.find_many(row[start : start + FOUND_BATCH].tobytes())
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
        first = self.core.next_key
        numbers = None
        if keys is None:
            if len(row):
                checked_key(first + len(row) - 1)
        else:
            numbers = _row_of_keys(keys)
            if len(numbers) != len(row):
                raise ValueError(f"there must be one key for every value, got {len(numbers)} for {len(row)}")
        size = Postings.batch if isinstance(self.core, Postings) else NATIVE_BATCH
        for start in range(0, len(row), size):
            batch = None if numbers is None else numbers[start : start + size].tobytes()
            yield row[start : start + size].tobytes(), batch, first + start

    def _columns(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all postings part by part, as two rows of native uint64: values, and the key of each."""
        return (self.core.part(number) for number in range(self.core.parts()))

    def _check(self) -> None:
        """Assert what must hold between two calls. For tests: O(everything)."""
        self.core.check()


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


class SimhashIndex(HammingIndex):
    """Postings (value, key), searched by Hamming distance. Finds exactly what ``LinearScan`` finds.

    A search probes every table for the fingerprints that agree in that table's key and compares those with
    all 64 bits. Random fingerprints are candidates once in 2**32 for each table of 32 key bits; those that agree
    in a whole key all are, and cost a scan of them. Up to some thousand fingerprints there are no tables yet: a
    scan of all is faster.

    >>> index = SimhashIndex(max_distance=3, blocks=6)
    >>> index.add(0x4BBB22FBBC29D9B5, key=1)
    >>> index.find(0x4BBB62FB9C29C9B5)
    [Match(key=1, value=5456993838078482869, distance=3)]
    >>> index.find(0)
    []
    """

    __slots__ = ("_max_distance", "_plans")

    def __init__(
        self,
        max_distance: SupportsIndex = 3,
        blocks: SupportsIndex | Literal["auto"] = 6,
        expected: SupportsIndex = 0,
    ) -> None:
        """Make an empty index over the classic plan of ``comb(blocks, max_distance)`` tables, or the best there is.

        ``blocks="auto"`` takes the plan that was measured as the fastest within some 40 bytes a fingerprint, and goes
        on to another when the index has outgrown it: the new tables are filled bit by bit, some postings with every
        insert, while the old ones answer. With *expected* fingerprints it begins with the plan for so many. A number
        of blocks decides by itself: *expected* then says nothing.

        Few blocks make few tables but short keys, which have more candidates. They must be more than
        *max_distance*, so that a distance of 6 or more wants them given, or ``"auto"``. From there on
        ``ProbingIndex`` takes less memory, and less time with a million. An index over any other plan: `from_plan`.

        Raises ValueError unless 0 <= *max_distance* < *blocks* <= 64, or if there would be more than 1,000
        tables.

        >>> SimhashIndex(max_distance=6, blocks="auto", expected=1_000_000).max_distance
        6
        """
        if blocks == "auto":
            self._set_up(schedule(max_distance, expected))
        else:
            self._set_up([(FOREVER, Plan.classic(max_distance, blocks))])

    @classmethod
    def from_plan(cls, plan: Plan) -> SimhashIndex:
        """Return an empty index over the tables of *plan*, whatever they are.

        >>> from scrapy_simhash.index import plans_for
        >>> SimhashIndex.from_plan(plans_for(3)["8x24"]).plan.name
        '8x24'
        >>> from scrapy_simhash.index.plans import partition
        >>> two_triangles = ((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5))
        >>> len(SimhashIndex.from_plan(Plan(3, partition(6), two_triangles)))
        0
        """
        return cls.from_plans([(FOREVER, plan)])

    @classmethod
    def from_plans(cls, plans: Iterable[tuple[int, Plan]]) -> SimhashIndex:
        """Return an empty index that goes through *plans*, each with how many fingerprints it serves up to.

        The last one serves on, whatever its number. Raises ValueError if there is no plan, if the numbers do not
        rise, or if the plans have different distances, and TypeError for what is no `Plan`.

        >>> index = SimhashIndex.from_plans([(30_000, Plan.classic(3, 4)), (10**12, Plan.classic(3, 5))])
        >>> index.plan.name
        '4x16'
        """
        stages = list(plans)
        for _, plan in stages:
            if not isinstance(plan, Plan):
                raise TypeError(f"a plan must be a Plan, got {plan!r}")
        if len({plan.max_distance for _, plan in stages}) != 1:
            distances = [plan.max_distance for _, plan in stages]
            raise ValueError(
                f"blocks must be one or more plans for the same distance, got plans for distances {distances}"
            )
        if any(upto >= later for (upto, _), (later, _) in pairwise(stages)):
            raise ValueError(f"the numbers of fingerprints must rise, got {[upto for upto, _ in stages]}")
        index = cls.__new__(cls)
        index._set_up(stages)
        return index

    def _set_up(self, plans: list[tuple[int, Plan]]) -> None:
        self._plans = plans
        self._max_distance = plans[0][1].max_distance
        self.core = core_for(self._max_distance, plans)

    @property
    def plan(self) -> Plan:
        """The plan that the tables follow, or would if they were not still a scan."""
        return next((plan for upto, plan in self._plans if self.core.values < upto), self._plans[-1][1])

    @property
    def max_distance(self) -> int:
        """The greatest distance of a match, in bits."""
        return self._max_distance


class ProbingIndex(HammingIndex):
    """Postings (value, key), searched by Hamming distance. Same methods and matches as ``SimhashIndex``.

    One table for each block of the fingerprint, probed at all keys near the query's; see `ProbingPlan`.
    What the probes return is compared with all 64 bits. O(probes + candidates); fingerprints that agree in
    most of a block are candidates of each other, and cost a scan of them.

    >>> index = ProbingIndex(max_distance=10, blocks=4)
    >>> index.add(0x4BBB22FBBC29D9B5, key=1)
    >>> index.find(0x4BBB22FBBC29D9B5 ^ 0b1111111111)
    [Match(key=1, value=5456993838078482869, distance=10)]
    >>> index.find(0x4BBB22FBBC29D9B5 ^ 0b11111111111)
    []
    """

    __slots__ = ("_plan",)

    def __init__(self, max_distance: SupportsIndex = 8, blocks: SupportsIndex = 5) -> None:
        """Make an empty index over the even plan of *blocks* blocks.

        Few blocks make wide ones: more probes, fewer candidates, which only great indexes have many of.
        The kernel compares so fast that five blocks are faster there than four up to a million and more. Microseconds
        a search and bytes a fingerprint as measured (random ones; see ``benchmarks/index.py``):

        ========  ======  ======  ======  =======  =======  ======  =======  =======  =====  =======  =======
        ..                        candidates                pure Python                      kernel
        ------------------------  ------------------------  -------------------------------  ----------------
        ..                        ..                        microseconds              bytes  microseconds
        ------------------------  ------------------------  ------------------------  -----  ----------------
        distance  blocks  probes  10,000  100,000  million  10,000  100,000  million  ..     100,000  million
        ========  ======  ======  ======  =======  =======  ======  =======  =======  =====  =======  =======
        8         3       718     3       28       282      52      133      268      326    16       67
        8         4       188     29      287      2,869    18      56       229      68     4.3      11
        8         5       56      84      842      8,423    13      61       467      70     1.6      9.2
        10        3       3,378   16      155      1,550    233     453      1,223    327    72       258
        10        4       428     65      653      6,531    35      128      532      68     9.9      31
        10        5       135     261     2,612    26,123   28      171      1,454    70     3.7      19
        12        5       291     452     4,517    45,166   62      392      3,799    70     12       76
        ========  ======  ======  ======  =======  =======  ======  =======  =======  =====  =======  =======

        Bytes are for a million; with the kernel 38, or 54 in five blocks. In pure Python cells weigh more when few
        share one (four blocks: 17 bytes with fewer than 500, which are scanned; 500 bytes with 500 to 5,000; 400 with
        10,000), and three blocks or fewer keep their cells in dicts, which stop now and then to double: 40
        milliseconds at a million. The blocks cannot change later: make another index and add to it what this one
        yields.

        Raises ValueError unless *max_distance* is from 0 to 64 and *blocks* from 1 to 64, or if a search
        would take more than 50,000 probes.
        """
        self._set_up(ProbingPlan.even(max_distance, blocks))

    @classmethod
    def from_plan(cls, plan: ProbingPlan) -> ProbingIndex:
        """Return an empty index with the radii of *plan*, whatever they are.

        >>> from scrapy_simhash.index.plans import partition
        >>> len(ProbingIndex.from_plan(ProbingPlan(3, partition(3), (1, 0, 0))))
        0
        """
        index = cls.__new__(cls)
        index._set_up(plan)
        return index

    def _set_up(self, plan: ProbingPlan) -> None:
        self._plan = plan
        self.core = core_for(plan.max_distance, [(FOREVER, plan)])

    @property
    def plan(self) -> ProbingPlan:
        """The plan the tables follow."""
        return self._plan

    @property
    def max_distance(self) -> int:
        """The greatest distance of a match, in bits."""
        return self._plan.max_distance


FORMAT = "scrapy-simhash index"
VERSION = 2
#: A header is no longer, with the thousand keys that a plan may have: bytes.
_MOST_HEADER = 1 << 20

AnyIndex: TypeAlias = "SimhashIndex | ProbingIndex | LinearScan"


class IndexFileError(ValueError):
    """A file that cannot be used as an index; the message names it and says why."""


def save(index: AnyIndex, path: str | os.PathLike[str]) -> None:
    """Write the postings and the plan of *index* to a file, which replaces the one at *path* as a whole.

    16 bytes a posting, in the file and in memory while it works. Not saved are the number that ``add_many`` would
    give next, and the later plans of ``blocks="auto"``, only the present one. Raises OSError if it cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> index = SimhashIndex(max_distance=2, blocks=4)
    >>> index.add(0b1011, key=7)
    >>> with TemporaryDirectory() as folder:
    ...     save(index, f"{folder}/pages.simhash")
    ...     load(f"{folder}/pages.simhash").find(0b1111)
    [Match(key=7, value=11, distance=1)]
    """
    values, keys = array("Q"), array("Q")
    for value, key in index:
        values.append(value)
        keys.append(key)
    header = {"format": FORMAT, "version": VERSION, "postings": len(values), "plan": _plan_of(index)}
    parts = [json.dumps(header).encode("ascii") + b"\n", _little(values), _little(keys)]
    checksum = 0
    with replacing(os.fspath(path)) as raw:
        for part in parts:
            checksum = zlib.crc32(part, checksum)
            _write(raw, part)
        _write(raw, checksum.to_bytes(4, "little"))


def load(path: str | os.PathLike[str]) -> AnyIndex:
    """Return the index that was saved at *path*: the same kind, plan and postings.

    Raises OSError if the file cannot be read, and IndexFileError if it is no index, damaged, or of another version.
    """
    with Path(path).open("rb") as file:
        line = file.readline(_MOST_HEADER)
        rest = file.read()
    try:
        header = json.loads(line)
        if header["format"] != FORMAT:
            raise ValueError
        version, size = header["version"], 8 * header["postings"]
    except (ValueError, KeyError, TypeError):
        raise IndexFileError(f"{path} is not a file of an index") from None
    if version != VERSION:
        raise IndexFileError(
            f"{path} has version {version}, and this release reads {VERSION}: save the index again"
        )
    if len(rest) != 2 * size + 4 or zlib.crc32(rest[:-4], zlib.crc32(line)) != int.from_bytes(
        rest[-4:], "little"
    ):
        raise IndexFileError(f"{path} is damaged or incomplete: save the index again")
    index = _empty(header["plan"])
    index.add_many(_numbers(rest[:size]), _numbers(rest[size:-4]))
    return index


def _plan_of(index: AnyIndex) -> dict[str, Any]:
    if isinstance(index, LinearScan):
        return {"max_distance": index.max_distance}
    plan = index.plan
    kind = {"keys": plan.keys} if isinstance(plan, Plan) else {"radii": plan.radii}
    blocks = [(block.shift, block.width) for block in plan.blocks]
    return {"max_distance": plan.max_distance, "blocks": blocks, **kind}


def _empty(plan: dict[str, Any]) -> AnyIndex:
    if "blocks" not in plan:
        return LinearScan(plan["max_distance"])
    blocks = tuple(Block(*block) for block in plan["blocks"])
    if "keys" in plan:
        return SimhashIndex.from_plan(Plan(plan["max_distance"], blocks, tuple(map(tuple, plan["keys"]))))
    return ProbingIndex.from_plan(ProbingPlan(plan["max_distance"], blocks, tuple(plan["radii"])))


def _little(numbers: array[int]) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _numbers(data: bytes) -> array[int]:
    numbers = array("Q", data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _write(raw: Any, data: bytes) -> None:
    """Write all of *data* to a file without a buffer, which may take less at a time."""
    view = memoryview(data)
    while view:
        view = view[raw.write(view) :]


#: So many values are asked for at a time by representatives().
BATCH = 1 << 10


def representatives(
    values: Iterable[SupportsIndex],
    max_distance: SupportsIndex = 3,
    blocks: SupportsIndex | Plan | Literal["auto"] = "auto",
    progress: Progress | None = None,
) -> array[int]:
    """Return for each of *values* the place of its representative in *values*: its own place where it is one.

    Such groups are what a crawl makes: members are near their representative, and it matters what came first. Those
    of `connected` hold whatever a chain of near pairs leads to, in any order, and their ends can be far apart::

        a --2-- b --3-- c        a and b are near, b and c are, a and c are not

        connected                {a, b, c}
        represented              {a, b} {c}  in the order a b c;  {b, a, c}  in the order b a c

    In their order, a value within *max_distance* of representatives that came before it joins the nearest, the
    earliest of equally near ones; any other is one from now on. *blocks* is that of `SimhashIndex`, or a plan.
    *progress* is called with the share that is done, 0.0 to 1.0, at most four times a second.

    Takes 8 bytes a value for the answer and as many for a copy of what is no buffer, see `row_of`, and beside them
    the index, which has the representatives only. The time is that of ``find_or_add_many``.

    Raises TypeError or ValueError for values, distances and numbers of blocks that are none, and ValueError for a
    plan of another distance.

    >>> representatives([0b0000000, 0b0000111, 0b0111111, 0b0000001]).tolist()
    [0, 0, 2, 0]
    """
    row, tell = row_of(values), paced(progress)
    if not isinstance(blocks, Plan):
        index = SimhashIndex(max_distance, blocks, expected=len(row))
    elif blocks.max_distance == max_distance:
        index = SimhashIndex.from_plan(blocks)
    else:
        raise ValueError(
            f"blocks is a plan for distance {blocks.max_distance}, but max_distance is {max_distance}"
        )
    chosen = array("q")
    for start in range(0, len(row), BATCH):
        batch = row[start : start + BATCH]
        places = range(start, start + len(batch))
        nearest = index.find_or_add_many(batch, places)
        chosen.extend(place if near < 0 else near for near, place in zip(nearest, places, strict=True))
        tell(len(chosen) / len(row))
    if not chosen:
        tell(1.0)
    return chosen
