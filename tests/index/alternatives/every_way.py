"""Every way of searching, made for one plan, and the linear scan they are compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from hypothesis import strategies as st

from scrapy_simhash.index import LinearScan, Plan
from scrapy_simhash.index.alternatives import (
    ExpandedSet,
    FlipProbing,
    Found,
    FrozenTables,
    GrowingShardedTables,
    GrowingWay,
    Router,
    ShardedTables,
    SortedRuns,
    SortedTables,
    SortedTrie,
    Way,
    by_guessing,
)
from scrapy_simhash.index.plans.blocks import Block
from tests.index.values import fingerprints, flipped

SHARDS = (1, 16, 256)


def grown(make: Callable[[Plan], GrowingWay], plan: Plan, values: Iterable[int]) -> GrowingWay:
    way = make(plan)
    way.add_many(values)
    return way


def sharded(plan: Plan, shards: int) -> GrowingWay:
    return GrowingShardedTables(Router(plan, shards))


def frozen_shards(router: Router, values: Iterable[int]) -> ShardedTables:
    dealt = router.deal(values)
    return ShardedTables(router, {place: FrozenTables(router.plan, dealt[place]) for place in dealt})


#: The ways that grow, and those made of all fingerprints at once.
GROWING: dict[str, Callable[[Plan], GrowingWay]] = {
    "flips": lambda plan: FlipProbing(plan.max_distance),
    "expanded": lambda plan: ExpandedSet(plan.max_distance, memory=2**40),
    "trie": lambda plan: SortedTrie(plan.max_distance),
    "trie to the last bit": lambda plan: SortedTrie(plan.max_distance, few=1),
    "sorted": SortedTables,
    "guessed": partial(SortedTables, search=by_guessing),
    "runs": partial(SortedRuns, fresh=3),
    "runs at once": partial(SortedRuns, fresh=1, search=by_guessing),
    **{f"{number} shards": partial(sharded, shards=number) for number in SHARDS},
    "shards of runs": lambda plan: GrowingShardedTables(
        Router(plan, 4), make=lambda _: SortedRuns(plan, fresh=2)
    ),
    "shards of flips": lambda plan: GrowingShardedTables(
        Router(plan, 2), make=lambda _: FlipProbing(plan.max_distance)
    ),
}
FROZEN: dict[str, Callable[[Plan, Iterable[int]], Way]] = {
    "frozen": FrozenTables,
    "frozen, as in the paper": partial(FrozenTables, gap="xor", block_bytes=1024),
    "frozen, one or two a block": partial(FrozenTables, block_bytes=16),
    "frozen shards": lambda plan, values: frozen_shards(Router(plan, 16), values),
}

#: Plans for few distances, and for 0; with keys shorter than the number of a shard, and with all 64 bits; the last
#: has blocks that leave bits out.
PLANS = [
    *(Plan.classic(k, m) for k, m in [(0, 1), (0, 3), (1, 2), (1, 4), (2, 3), (2, 5)]),
    Plan.classic(1, 16),
    Plan(2, Plan.classic(2, 12).blocks, ((0,), (5,), (11,))),
    Plan(1, (Block(40, 9), Block(3, 20)), ((0,), (1,))),
]


def scanned(values: Iterable[int], query: int, max_distance: int) -> list[Found]:
    """What the linear scan finds, each fingerprint once; it is nearest first and then by key, here by value."""
    scan = LinearScan(max_distance)
    for key, value in enumerate(sorted(set(values))):
        scan.add(value, key)
    return [Found(match.value, match.distance) for match in scan.find(query)]


@st.composite
def neighbourhoods(draw: st.DrawFn, max_distance: int) -> tuple[list[int], int]:
    """A query, and fingerprints about as far from it as the limit, among others; some of them twice."""
    query = draw(fingerprints)
    about = st.integers(max(max_distance - 1, 0), max_distance + 1)
    near = st.builds(lambda n, bits: flipped(query, bits[:n]), about, st.permutations(range(64)))
    values = draw(st.lists(near | fingerprints | st.just(query), max_size=12))
    return values + values[: draw(st.integers(0, 3))], query
