from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index import Plan
from scrapy_simhash.index.alternatives import (
    Address,
    Found,
    GrowingShardedTables,
    Router,
    ShardedTables,
    SortedTable,
)
from tests.index.alternatives.every_way import PLANS, SHARDS
from tests.index.values import bit, fingerprints, flipped

PLAN = Plan.classic(max_distance=3, blocks=6)
routers = st.builds(Router, st.sampled_from([*PLANS, PLAN]), st.sampled_from([1, 2, 16, 256, 65_536]))


class CountingTable(SortedTable):
    """A sorted table that counts how often it is asked."""

    __slots__ = ("asked",)

    def __init__(self, max_distance: int, key_bits: int) -> None:
        super().__init__(max_distance, key_bits)
        self.asked = 0

    def find(self, value: int) -> list[Found]:
        self.asked += 1
        return super().find(value)


@given(routers, fingerprints, st.data())
def test_who_holds_what_is_near_is_asked(router: Router, number: int, drawn: st.DataObject) -> None:
    bits = drawn.draw(st.sets(bit, max_size=router.plan.max_distance))
    asked, holders = router.asked(number), router.holders(flipped(number, bits))
    # In some table both have one key, and there the one who holds it is asked.
    near = [
        address
        for address in asked.keys() & holders.keys()
        if (asked[address] ^ holders[address]) >> 64 - router.plan.key_bits[address.table] == 0
    ]
    assert near
    assert {router.restored(address, holders[address]) for address in near} == {flipped(number, bits)}


@given(routers, fingerprints)
def test_one_shard_of_each_table_holds_a_fingerprint_and_is_asked_for_it(router: Router, number: int) -> None:
    holders, asked = router.holders(number), router.asked(number)
    assert [address.table for address in holders] == list(range(len(router.plan.keys)))
    assert all(0 <= address.shard < router.shards for address in asked)
    assert holders.items() <= asked.items()


@given(routers, fingerprints)
def test_so_many_shards_are_asked_as_share_a_key(router: Router, number: int) -> None:
    asked = router.asked(number)
    for table, key_bits in enumerate(router.plan.key_bits):
        shards = sorted(address.shard for address in asked if address.table == table)
        assert len(shards) == max(router.shards >> key_bits, 1)
        assert shards == list(range(shards[0], shards[0] + len(shards))), "neighbours"
        assert shards[0] % len(shards) == 0, "all that begin with the key"


@given(routers, st.lists(fingerprints, max_size=9))
def test_what_is_dealt_is_what_each_holds(router: Router, numbers: list[int]) -> None:
    dealt = router.deal(numbers)
    assert sum(map(len, dealt.values())) == len(numbers) * len(router.plan.keys)
    for number in numbers:
        for address, permuted in router.holders(number).items():
            assert permuted in dealt[address]


def test_256_shards_are_told_apart_by_the_first_byte() -> None:
    router = Router(PLAN, shards=256)
    for address, permuted in router.holders(0x0123_4567_89AB_CDEF).items():
        assert address.shard == permuted.to_bytes(8, "big")[0]


def test_the_number_of_shards_changes_no_answer() -> None:
    draw = random.Random(9)
    values = [draw.getrandbits(64) for _ in range(500)]
    values += [flipped(number, draw.sample(range(64), 3)) for number in values]
    ways = [GrowingShardedTables(Router(PLAN, shards)) for shards in SHARDS]
    for way in ways:
        way.add_many(values)
        assert len(way) == 1000
    for query in values:
        first, *others = [way.find(query) for way in ways]
        assert len(first) >= 2
        assert others == [first] * 2


def test_only_the_shards_that_the_router_names_are_asked() -> None:
    draw = random.Random(10)
    router = Router(PLAN, 256)
    way = GrowingShardedTables(router, make=lambda key_bits: CountingTable(3, key_bits))
    way.add_many(draw.getrandbits(64) for _ in range(2_000))
    query = draw.getrandbits(64)
    way.find(query)
    asked = {
        address for address, shard in way.shards.items() if isinstance(shard, CountingTable) and shard.asked
    }
    assert asked == router.asked(query).keys() & way.shards.keys()
    assert len(asked) == 20


def test_a_shard_is_made_when_it_is_needed_with_the_key_of_its_table() -> None:
    plan = Plan.classic(1, 3)
    made: list[int] = []

    def make(key_bits: int) -> SortedTable:
        made.append(key_bits)
        return SortedTable(1, key_bits)

    way = GrowingShardedTables(Router(plan, 16), make)
    assert way.find(0) == []
    assert made == []
    way.add_many([0, 1, 2])
    assert made == list(plan.key_bits)
    assert set(way.shards) == {Address(0, 0), Address(1, 0), Address(2, 0)}
    way.add(0)
    assert len(made) == 3


def test_a_shard_may_be_anything_that_finds() -> None:
    class Remote:
        """Asks another machine, or would."""

        def find(self, value: int) -> list[Found]:
            return [Found(value ^ 1, 1)]

        def __len__(self) -> int:
            return 1

        def __iter__(self) -> object:
            return iter([5])

    way = ShardedTables(Router(Plan.classic(1, 2), 1), {Address(0, 0): Remote()})  # type: ignore[dict-item]
    assert way.find(8) == [Found(9, 1)]
    assert (len(way), list(way)) == (1, [5])


@pytest.mark.parametrize("shards", [0, -1, 3, 255, 131_072])
def test_the_number_of_shards_is_a_power_of_two(shards: int) -> None:
    with pytest.raises(ValueError, match=f"a power of two up to 65,536, got {shards}"):
        Router(PLAN, shards)
