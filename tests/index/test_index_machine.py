"""The same random operations on an index and the oracle must agree at every step."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from scrapy_simhash.index import SimhashIndex
from tests.examples import examples
from tests.index.cores import CORES, probes, tables
from tests.index.oracle import Oracle

values = st.integers(0, 2**64 - 1)
keys = st.integers(0, 30)
few_bits, many_bits = (st.sets(st.integers(0, 63), max_size=most) for most in (4, 13))
flips = (few_bits | many_bits).map(lambda bits: sum(1 << bit for bit in bits))


#: Functions that make an index with a core: with several tables, with a row that moves to tables after a few steps or
#: never, and with tables that are probed around a key.
KINDS: list[Callable[[str], SimhashIndex]] = [
    *(partial(tables, max_distance=k, blocks=m) for k, m in [(0, 1), (1, 2), (1, 4), (2, 5), (3, 4)]),
    *(partial(tables, max_distance=3, blocks=6, row_limit=limit) for limit in (1, 20, 60, 150)),
    *(
        partial(probes, max_distance=k, blocks=m)
        for k, m in [(0, 1), (3, 2), (1, 3), (8, 3), (10, 5), (12, 6)]
    ),
]


class IndexMachine(RuleBasedStateMachine):
    """Random operations on an index of any kind."""

    seen = Bundle("seen")

    @initialize(core=st.sampled_from(CORES), make=st.sampled_from(KINDS))
    def start(self, core: str, make: Callable[[str], SimhashIndex]) -> None:
        self.index = make(core)
        self.scan = Oracle(self.index.max_distance)

    @rule(target=seen, value=values, key=keys)
    def add_new_value(self, value: int, key: int) -> tuple[int, int]:
        return self._add(value, key)

    @rule(target=seen, posting=seen, flip=flips, key=keys)
    def add_near_value(self, posting: tuple[int, int], flip: int, key: int) -> tuple[int, int]:
        return self._add(posting[0] ^ flip, key)

    def _add(self, value: int, key: int) -> tuple[int, int]:
        self.index.add(value, key)
        self.scan.add(value, key)
        return value, key

    @rule(target=seen, seed=st.integers(0, 99), count=st.integers(1, 90), numbered=st.booleans())
    def add_many(self, seed: int, count: int, numbered: bool) -> object:
        draw = random.Random(seed)
        postings = [(draw.getrandbits(64) & draw.getrandbits(64), draw.randrange(30)) for _ in range(count)]
        batch, batch_keys = zip(*postings, strict=True)
        self.index.add_many(batch, None if numbered else batch_keys)
        self.scan.add_many(batch, None if numbered else batch_keys)
        return multiple(*postings[:10])

    @rule(target=seen, posting=seen, flip=flips, key=keys)
    def find_or_add(self, posting: tuple[int, int], flip: int, key: int) -> tuple[int, int]:
        value = posting[0] ^ flip
        assert self.index.find_or_add(value, key) == self.scan.find_or_add(value, key)
        return value, key

    @rule(postings=st.lists(seen, max_size=8))
    def find_many(self, postings: list[tuple[int, int]]) -> None:
        queries = [value ^ 1 for value, _ in postings]
        assert list(self.index.find_many(queries)) == [self.scan.find(query) for query in queries]

    @rule(posting=seen, flip=flips)
    def find(self, posting: tuple[int, int], flip: int) -> None:
        value = posting[0] ^ flip
        assert self.index.find(value) == self.scan.find(value)

    @rule(postings=st.lists(seen, max_size=3), most=st.integers(1, 100))
    def nearest(self, postings: list[tuple[int, int]], most: int) -> None:
        values = [value ^ 1 for value, _ in postings]
        assert self.index.nearest(values, most) == self.scan.nearest(values, most)

    @rule(posting=seen, flip=flips)
    def keys_of(self, posting: tuple[int, int], flip: int) -> None:
        value = posting[0] ^ flip
        assert self.index.keys_of(value) == self.scan.keys_of(value)

    @rule(posting=consumes(seen))
    def discard(self, posting: tuple[int, int]) -> None:
        assert (posting in self.index) == (posting in self.scan)
        assert self.index.discard(*posting) == self.scan.discard(*posting)
        assert posting not in self.index

    @rule()
    def discard_every_second(self) -> None:
        for value, key in sorted(self.scan)[::2]:
            assert self.index.discard(value, key)
            self.scan.discard(value, key)

    @invariant()
    def both_hold_the_same(self) -> None:
        self.index._check()
        assert len(self.index) == len(self.scan)
        assert sorted(self.index) == sorted(self.scan)


TestIndexMachine = IndexMachine.TestCase
TestIndexMachine.settings = settings(max_examples=examples(170), stateful_step_count=25)
