"""What an index stores, in pure Python: fingerprints by slot, the keys of each, and the tables that find them.

The native twin is ``Postings`` in ``scrapy_simhash/kernel/_hamming.pyx``, with the same methods.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import SupportsIndex

from scrapy_simhash.index.growth import Step
from scrapy_simhash.index.plans import Plan
from scrapy_simhash.index.pure.cells import ProbeTables
from scrapy_simhash.index.pure.tables import LEAF_SIZE, PlanTables
from scrapy_simhash.index.values import MAX_KEY, Match, checked_key, checked_value, cut, nearest_first

#: From so many new fingerprints on, tables are told of all at once.
BATCH = 64
#: What every insert moves while the tables change: some ten inserts' time, and done long before the next change.
MOVED = 16
#: The key of a slot that is free; no posting has it.
NO_KEY = 2**64 - 1


class Postings:
    """Postings (value, key) under tables that change as they grow.

    A *slot* numbers each distinct value. ``steps`` says which tables serve up to how many values. Tables that
    replace others are filled slot by slot, some with every insert, while the others answer.
    """

    __slots__ = (
        *(
            "_first_keys",
            "_free",
            "_further_keys",
            "_leaf_size",
            "_length",
            "_limit",
            "_max_distance",
            "_moved",
        ),
        *("_next", "_step", "_steps", "_tables", "_values", "next_key"),
    )
    #: How many values a batch takes at once: all there are, since sorting them into tables together saves time.
    batch = sys.maxsize

    def __init__(self, max_distance: int, steps: Sequence[Step], leaf_size: int = LEAF_SIZE) -> None:
        """Begin with no postings and the tables of the first of *steps*."""
        self._max_distance = max_distance
        self._steps = steps
        self._leaf_size = leaf_size
        # By slot: the value, its first key, and the further ones.
        self._values = array("Q")
        self._first_keys = array("Q")
        self._further_keys: dict[int, set[int]] = {}
        self._free: list[int] = []
        self._length = 0
        self.next_key = 0
        # The step whose tables are in use, or on the way.
        self._step = 0
        self._tables = self._tables_of(0)
        self._limit = steps[0].upto
        self._next: PlanTables | ProbeTables | None = None
        #: Values of slots below this are in the next tables too.
        self._moved = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> int:
        """The number of distinct values."""
        return len(self._values) - len(self._free)

    @property
    def nbytes(self) -> int:
        """The memory of values, keys and tables in bytes, with the room they keep for growth."""
        keys = sum(
            sys.getsizeof(keys) + len(keys) * sys.getsizeof(MAX_KEY) for keys in self._further_keys.values()
        )
        slots = (self._values, self._first_keys, self._further_keys, self._free)
        tables = sum(tables.nbytes for tables in (self._tables, self._next) if tables is not None)
        return keys + tables + sum(map(sys.getsizeof, slots))

    @property
    def is_moving(self) -> bool:
        """Whether values are on the way from one step's tables to the next one's."""
        return self._next is not None

    def find(self, value: SupportsIndex) -> list[Match]:
        """See SimhashIndex.find."""
        near = self._near(checked_value(value))
        return self._matches(near) if near else []

    def nearest(self, values: Iterable[SupportsIndex], most: int) -> tuple[list[Match], list[int]]:
        """See HammingIndex.nearest."""
        found = [self._postings(self._near(checked_value(value))) for value in values]
        return cut(chain.from_iterable(found), most), [len(matches) for matches in found]

    def keys_of(self, value: SupportsIndex) -> list[int]:
        """See HammingIndex.keys_of."""
        slot = self._slot_of(checked_value(value))
        return [] if slot is None else sorted((self._first_keys[slot], *self._further_keys.get(slot, ())))

    def find_or_add(self, value: SupportsIndex, key: SupportsIndex) -> list[Match]:
        """See SimhashIndex.find_or_add."""
        value, key = checked_value(value), checked_key(key)
        if near := self._near(value):
            return self._matches(near)
        self._insert(value, key)
        return []

    def has(self, value: SupportsIndex, key: SupportsIndex) -> bool:
        """Return whether the posting is stored."""
        value, key = checked_value(value), checked_key(key)
        slot = self._slot_of(value)
        return slot is not None and self._has_key(slot, key)

    def add(self, value: SupportsIndex, key: SupportsIndex) -> None:
        """See SimhashIndex.add."""
        self._add(checked_value(value), checked_key(key))

    def add_many(self, values: bytes, keys: bytes | None, first: int) -> None:
        """Add a row of values, native uint64, each with its key, or numbered on from *first*.

        Raises ValueError, and adds nothing, if a key is missing or is none.
        """
        row, numbers = array("Q", values), _keys_of(values, keys, first)
        done = 0
        while done < len(row):
            # Together as far as the tables of this step go.
            together = min(len(row) - done, self._limit - self.values)
            if together < BATCH or self._tables is None or self._next is not None:
                self._add(row[done], numbers[done])
                done += 1
            else:
                end = done + together
                self._add_together(self._tables, row[done:end], numbers[done:end])
                done = end

    def find_or_add_many(self, values: bytes, keys: bytes | None, first: int) -> bytes:
        """Return for each value, as native int64, the key of its nearest match, or -1 where it was new and added."""
        nearest = array("q")
        for value, key in zip(array("Q", values), _keys_of(values, keys, first), strict=True):
            matches = self.find_or_add(value, key)
            nearest.append(matches[0].key if matches else -1)
        return nearest.tobytes()

    def find_many(self, values: bytes) -> list[list[Match]]:
        """Return the matches of each value, native uint64."""
        return [self.find(value) for value in array("Q", values)]

    def discard(self, value: SupportsIndex, key: SupportsIndex) -> bool:
        """See SimhashIndex.discard."""
        value, key = checked_value(value), checked_key(key)
        slot = self._slot_of(value)
        if slot is None or not self._has_key(slot, key):
            return False
        self._length -= 1
        further = self._further_keys.get(slot)
        if further is None:
            self._leave(value, slot)
            return True
        if key == self._first_keys[slot]:
            self._first_keys[slot] = min(further)
            further.remove(self._first_keys[slot])
        else:
            further.remove(key)
        if not further:
            del self._further_keys[slot]
        return True

    def parts(self) -> int:
        """Return in how many parts the postings are read."""
        return 1

    def part(self, number: int) -> tuple[bytes, bytes]:
        """Return values and keys of a part, two rows of native uint64; a value with several keys comes often."""
        if number:
            raise IndexError(number)
        values, keys = array("Q"), array("Q")
        for slot, (value, key) in enumerate(zip(self._values, self._first_keys, strict=True)):
            if key != NO_KEY:
                all_keys = [key, *self._further_keys.get(slot, ())]
                keys.extend(all_keys)
                values.extend([value] * len(all_keys))
        return values.tobytes(), keys.tobytes()

    # --- Values and keys.

    def _near(self, value: int) -> dict[int, int]:
        """Return the distance of each slot within reach."""
        return self._scan(value) if self._tables is None else self._tables.near(value)

    def _scan(self, value: int) -> dict[int, int]:
        """Return what ``Tables.near`` returns, without tables."""
        max_distance, first_keys = self._max_distance, self._first_keys
        near = {
            slot: distance
            for slot, stored in enumerate(self._values)
            if (distance := (stored ^ value).bit_count()) <= max_distance
        }
        return {slot: distance for slot, distance in near.items() if first_keys[slot] != NO_KEY}

    def _slot_of(self, value: int) -> int | None:
        if self._tables is not None:
            return self._tables.slot_of(value)
        for slot, stored in enumerate(self._values):
            if stored == value and self._first_keys[slot] != NO_KEY:
                return slot
        return None

    def _add(self, value: int, key: int) -> None:
        slot = self._slot_of(value)
        if slot is None:
            self._insert(value, key)
        else:
            self._add_key(slot, key)

    def _add_together(
        self, tables: PlanTables | ProbeTables, values: array[int], keys: Sequence[int]
    ) -> None:
        held = self.values
        new: dict[int, int] = {}
        for value, key in zip(values, keys, strict=True):
            slot = new.get(value)
            if slot is None and held:
                slot = self._slot_of(value)
            if slot is None:
                new[value] = self._new_slot(value, key)
            else:
                self._add_key(slot, key)
        if new:
            values_of_new, slots = array("Q", new.keys()), array("Q", new.values())
            del new  # the largest thing here, and needed no more
            tables.enter_many(values_of_new, slots, held)
        self._grow()

    def _insert(self, value: int, key: int) -> None:
        slot = self._new_slot(value, key)
        if self._tables is not None:
            self._tables.enter(value, slot)
        if self._next is not None:
            if slot < self._moved:
                self._next.enter(value, slot)
            self._move(MOVED)
        self._grow()

    def _leave(self, value: int, slot: int) -> None:
        if self._tables is not None:
            self._tables.leave(value, slot)
        if self._next is not None and slot < self._moved:
            self._next.leave(value, slot)
        self._first_keys[slot] = NO_KEY
        self._free.append(slot)

    def _new_slot(self, value: int, key: int) -> int:
        self._length += 1
        self.next_key = max(self.next_key, key + 1)
        if self._free:
            slot = self._free.pop()
            self._values[slot] = value
            self._first_keys[slot] = key
        else:
            slot = len(self._values)
            self._values.append(value)
            self._first_keys.append(key)
        return slot

    def _add_key(self, slot: int, key: int) -> None:
        if not self._has_key(slot, key):
            self._length += 1
            self.next_key = max(self.next_key, key + 1)
            self._further_keys.setdefault(slot, set()).add(key)

    def _has_key(self, slot: int, key: int) -> bool:
        return key == self._first_keys[slot] or key in self._further_keys.get(slot, ())

    def _matches(self, near: dict[int, int]) -> list[Match]:
        """Return the matches of slots *near*, a dict from slot to distance."""
        matches = self._postings(near)
        return nearest_first(matches) if len(matches) > 1 else matches

    def _postings(self, near: dict[int, int]) -> list[Match]:
        matches = []
        for slot, distance in near.items():
            value = self._values[slot]
            matches.append(Match(self._first_keys[slot], value, distance))
            matches += [Match(key, value, distance) for key in self._further_keys.get(slot, ())]
        return matches

    # --- From step to step.

    def _tables_of(self, step: int) -> PlanTables | ProbeTables | None:
        plan = self._steps[step].plan
        if plan is None:
            return None
        if isinstance(plan, Plan):
            return PlanTables(plan, self._values, self._leaf_size)
        return ProbeTables(plan, self._values)

    def _grow(self) -> None:
        """Go on to the tables that the number of values asks for."""
        while self.values >= self._limit and self._step + 1 < len(self._steps):
            if self._next is not None:
                self._move(len(self._values))
            self._step += 1
            self._limit = self._steps[self._step].upto
            self._next = self._tables_of(self._step)
            self._moved = 0
            if self._tables is None:
                # A row is short.
                self._move(len(self._values))

    def _move(self, most: int) -> None:
        """Move up to *most* slots into the next tables, which take over after the last."""
        assert self._next is not None
        end = min(self._moved + most, len(self._values))
        for slot in range(self._moved, end):
            if self._first_keys[slot] != NO_KEY:
                self._next.enter(self._values[slot], slot)
        self._moved = end
        if end == len(self._values):
            self._tables, self._next = self._next, None

    def check(self) -> None:
        """Assert what must hold between two calls. For tests: O(everything)."""
        free = set(self._free)
        assert len(free) == len(self._free)
        assert len(self._first_keys) == len(self._values)
        assert {slot for slot, key in enumerate(self._first_keys) if key == NO_KEY} == free
        slots = [slot for slot in range(len(self._values)) if slot not in free]
        assert len({self._values[slot] for slot in slots}) == len(slots), "a value has one slot"
        further = self._further_keys
        assert all(further.values())
        assert not free & further.keys()
        assert not any(self._first_keys[slot] in keys for slot, keys in further.items())
        assert self._length == len(slots) + sum(map(len, further.values()))
        assert all(self._slot_of(self._values[slot]) == slot for slot in slots)
        if self._tables is not None:
            self._tables._check(slots)
        if self._next is not None:
            self._next._check([slot for slot in slots if slot < self._moved])


def _keys_of(values: bytes, keys: bytes | None, first: int) -> Sequence[int]:
    n = len(values) // 8
    numbers = range(first, first + n) if keys is None else array("Q", keys)
    if len(numbers) != n:
        raise ValueError(f"there must be one key for every value, got {len(numbers)} for {n}")
    if n and not 0 <= min(numbers) <= max(numbers) <= MAX_KEY:
        raise ValueError("key must be from 0 to 2**63 - 1")
    return numbers
