"""All ways to search that the documents describe find what the linear scan finds, and so the same as each other."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.methods import (
    ExpandedSet,
    FlipProbing,
    Found,
    FrozenTables,
    Permutation,
    ShardedTables,
    SortedRuns,
    SortedTables,
    SortedTrie,
    Way,
    by_guessing,
    by_halving,
    probes,
)
from benchmarks.methods.way import Plan, nested
from scrapy_simhash.index.plans import partition
from tests.examples import examples
from tests.index.oracle import Oracle
from tests.index.values import fingerprints, flipped, key_masks


def grown(make: Callable[[Plan], Way], plan: Plan, values: Iterable[int]) -> Way:
    """Add the first of *values* alone, the others together."""
    way, numbers = make(plan), list(values)
    way.add_many(numbers[:1])
    way.add_many(iter(numbers))
    return way


GROWING: dict[str, Callable[[Plan], Way]] = {
    "flips": lambda plan: FlipProbing(plan.max_distance),
    "expanded": lambda plan: ExpandedSet(plan.max_distance, memory=2**40),
    "trie": lambda plan: SortedTrie(plan.max_distance),
    "trie to the last bit": lambda plan: SortedTrie(plan.max_distance, few=1),
    "sorted": SortedTables,
    "guessed": partial(SortedTables, search=by_guessing),
    "runs": partial(SortedRuns, fresh=3),
    **{f"{1 << bits} shards": partial(ShardedTables, shard_bits=bits) for bits in (0, 4, 8)},
}
MAKE: dict[str, Callable[[Plan, list[int]], Way]] = {
    **{name: partial(grown, make) for name, make in GROWING.items()},
    "frozen": FrozenTables,
    "frozen, as in the paper": partial(FrozenTables, gap="xor"),
}
every_way = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE.keys())

#: Plans for few distances, and for 0; with keys shorter than the number of a shard, and with all 64 bits; the last
#: has blocks that leave bits out.
PLANS = [
    *(Plan.classic(k, m) for k, m in [(0, 1), (0, 3), (1, 2), (1, 4), (2, 3), (2, 5)]),
    Plan.classic(1, 16),
    nested(),
    Plan(2, tuple(partition(12)[number] for number in (0, 5, 11))),
    Plan(1, (0x1FF << 40, 0xFFFFF << 3)),
]


def scanned(values: Iterable[int], query: int, max_distance: int) -> list[Found]:
    scan = Oracle(max_distance)
    for key, value in enumerate(sorted(set(values))):
        scan.add(value, key)
    return [Found(match.value, match.distance) for match in scan.find(query)]


@every_way
@settings(max_examples=examples(60))
@given(drawn=st.data(), plan=st.sampled_from(PLANS))
def test_a_way_finds_what_the_scan_finds(
    make: Callable[[Plan, list[int]], Way], drawn: st.DataObject, plan: Plan
) -> None:
    query = drawn.draw(fingerprints)
    about = st.integers(max(plan.max_distance - 1, 0), plan.max_distance + 1)
    near = st.builds(lambda n, bits: flipped(query, bits[:n]), about, st.permutations(range(64)))
    values = drawn.draw(st.lists(near | fingerprints | st.just(query), max_size=12))
    assert make(plan, values + values[:3]).find(query) == scanned(values, query, plan.max_distance)


@every_way
def test_a_way_finds_up_to_three_bits_and_no_fourth_among_many(
    make: Callable[[Plan, list[int]], Way],
) -> None:
    draw = random.Random(3)
    values = [draw.getrandbits(64) for _ in range(3)]
    # One bit in each block, and all in one; what differs in the highest and the lowest bit.
    far = [(63,), (63, 0), (60, 31, 2), (63, 62, 61), (60, 50, 31, 2), (3, 2, 1, 0)]
    query = 0x4BBB_22FB_BC29_D9B5
    values += [flipped(query, bits) for bits in far]
    way = make(Plan.classic(max_distance=3, blocks=6), values)
    assert way.find(query) == scanned(values, query, 3)
    assert len(way.find(query)) == 4


@given((key_masks | fingerprints).map(Permutation), fingerprints, fingerprints)
def test_a_permutation_can_be_undone_and_changes_no_distance(order: Permutation, a: int, b: int) -> None:
    assert order.unpermute(order.permute(a)) == a == order.permute(order.unpermute(a))
    assert (order.permute(a) ^ order.permute(b)).bit_count() == (a ^ b).bit_count()


@given(st.lists(fingerprints, max_size=40).map(sorted), fingerprints)
def test_halving_and_guessing_find_the_same_place(numbers: list[int], sought: int) -> None:
    place = by_halving(numbers, sought).position
    assert place == by_guessing(numbers, sought).position == sum(number < sought for number in numbers)


def test_guessing_takes_few_steps_where_numbers_are_even_and_not_many_more_where_not() -> None:
    draw = random.Random(5)
    even = sorted(draw.getrandbits(64) for _ in range(50_000))
    uneven = [number**4 for number in range(50_000)]
    assert sum(by_guessing(even, number).steps for number in even[::50]) < 6 * 1000
    assert max(by_guessing(uneven, number).steps for number in uneven[::50]) <= 16 + 10


def test_the_nearest_are_probed_first() -> None:
    distances = [number.bit_count() for number in probes(0, max_distance=2)]
    assert distances == sorted(distances)
    assert len(distances) == 1 + 64 + 2016


def test_a_gap_takes_as_few_bits_as_the_pages_say() -> None:
    draw = random.Random(7)
    numbers = [draw.getrandbits(64) for _ in range(20_000)]
    one_table = Plan.classic(max_distance=0, blocks=1)
    difference, xor = (FrozenTables(one_table, numbers, gap).bits for gap in ("difference", "xor"))
    assert 51 < difference < 53 < xor < 56
