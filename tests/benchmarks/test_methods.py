"""All search methods of the source documents have the same results as a linear scan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.methods.flips import ExpandedSet, FlipProbing
from benchmarks.methods.frozen import FrozenTables
from benchmarks.methods.method import Found, Method, Plan, nested
from benchmarks.methods.shards import ShardedTables
from benchmarks.methods.sorted_tables import Permutation, SortedRuns, SortedTables, by_interpolation
from benchmarks.methods.trie import SortedTrie
from scrapy_simhash.index.plans import partition
from tests.examples import examples
from tests.index.oracle import Oracle
from tests.index.values import fingerprints, flipped, key_masks


def grown(make: Callable[[Plan], Method], plan: Plan, values: Iterable[int]) -> Method:
    """Add the first of *values* alone, and the others together."""
    way, numbers = make(plan), list(values)
    way.add_many(numbers[:1])
    way.add_many(iter(numbers))
    return way


GROWING: dict[str, Callable[[Plan], Method]] = {
    "flips": lambda plan: FlipProbing(plan.max_distance),
    "expanded": lambda plan: ExpandedSet(plan.max_distance, memory=2**40),
    "trie": lambda plan: SortedTrie(plan.max_distance),
    "trie to the last bit": lambda plan: SortedTrie(plan.max_distance, few=1),
    "sorted": SortedTables,
    "guessed": partial(SortedTables, search=by_interpolation),
    "runs": partial(SortedRuns, fresh=3),
    **{f"{1 << bits} shards": partial(ShardedTables, shard_bits=bits) for bits in (0, 4, 8)},
}
MAKE: dict[str, Callable[[Plan, list[int]], Method]] = {
    **{name: partial(grown, make) for name, make in GROWING.items()},
    "frozen": FrozenTables,
    "frozen, as in the paper": partial(FrozenTables, gap="xor"),
}
every_way = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE.keys())

#: Plans for small distances, including 0; with keys shorter than a shard number, and with all 64 bits; the blocks of
#: the last plan do not cover all bits.
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
def test_each_plan_finds_the_same_as_a_scan(
    make: Callable[[Plan, list[int]], Method], drawn: st.DataObject, plan: Plan
) -> None:
    query = drawn.draw(fingerprints)
    about = st.integers(max(plan.max_distance - 1, 0), plan.max_distance + 1)
    near = st.builds(lambda n, bits: flipped(query, bits[:n]), about, st.permutations(range(64)))
    values = drawn.draw(st.lists(near | fingerprints | st.just(query), max_size=12))
    assert make(plan, values + values[:3]).find(query) == scanned(values, query, plan.max_distance)


@given((key_masks | fingerprints).map(Permutation), fingerprints, fingerprints)
def test_permutations_can_be_undone_and_keep_distances(order: Permutation, a: int, b: int) -> None:
    assert order.unpermute(order.permute(a)) == a == order.permute(order.unpermute(a))
    assert (order.permute(a) ^ order.permute(b)).bit_count() == (a ^ b).bit_count()
