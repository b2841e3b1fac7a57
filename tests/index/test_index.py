from __future__ import annotations

import pickle
import random
from array import array
from collections.abc import Callable
from copy import copy, deepcopy
from functools import partial
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash.index import (
    HammingIndex,
    LinearScan,
    Match,
    Plan,
    ProbingIndex,
    ProbingPlan,
    SimhashIndex,
    choose,
)
from scrapy_simhash.index.growth import FOREVER
from scrapy_simhash.index.plans import partition
from scrapy_simhash.index.pure.tables import ADDRESS_MASK, SCATTER, address_of
from tests.examples import examples
from tests.index.cores import CORES, assert_finds_what_linear_scan_finds, every_core, over, probing
from tests.index.values import (
    ALL_ONES,
    clustered_values,
    flipped,
    near_values,
    values_near_the_ends,
    values_of_every_kind,
)

DISTANCES_AND_BLOCKS = [(k, m) for k, m in product(range(7), range(1, 11)) if k < m]
# What holds of every search, here with a distance of 3.
every = pytest.mark.parametrize(
    "make",
    [
        SimhashIndex,
        LinearScan,
        *(partial(over, core, Plan.classic(), 256) for core in CORES),
        *(partial(probing, core, 3, blocks) for core in CORES for blocks in (4, 2)),
    ],
    ids=[
        "SimhashIndex",
        "LinearScan",
        *(f"{core} tables" for core in CORES),
        *(f"{core} probing {blocks}" for core in CORES for blocks in (4, 2)),
    ],
)
Index = SimhashIndex | ProbingIndex
Searched = Index | LinearScan
Make = Callable[[], Searched]

#: Either kind, over either core, of few and of many tables.
KINDS: list[Callable[[], Index]] = [
    *(
        partial(over, core, Plan.classic(k, m), 4)
        for core in CORES
        for k, m in [(0, 1), (0, 6), (1, 2), (2, 4), (3, 4), (3, 6), (5, 8)]
    ),
    *(
        partial(probing, core, k, m)
        for core in CORES
        for k, m in [(0, 1), (0, 6), (1, 2), (3, 2), (8, 4), (8, 5), (10, 5), (12, 6)]
    ),
]


@every_core
@pytest.mark.parametrize(("k", "m"), DISTANCES_AND_BLOCKS)
def test_index_finds_exactly_what_linear_scan_finds(k: int, m: int, core: str) -> None:
    draw = random.Random(100 * k + m)
    values = values_of_every_kind(draw, 8, blocks=m)
    far = [flipped(value, draw.sample(range(64), draw.randrange(k + 2))) for value in draw.sample(values, 60)]
    # Leaves of eight, so that each table has many.
    index = over(core, Plan.classic(k, m), 8)
    assert_finds_what_linear_scan_finds(index, values, [*values[::10], *far, 0, ALL_ONES])


@every_core
@pytest.mark.parametrize(("k", "m"), [(1, 64), (0, 64), (2, 45), (14, 15)])
def test_many_blocks_and_great_distances_are_exact(k: int, m: int, core: str) -> None:
    draw = random.Random(m)
    values = clustered_values(draw, 8) + values_near_the_ends(draw, 4)
    assert_finds_what_linear_scan_finds(over(core, Plan.classic(k, m)), values, values[::3])


@every_core
@pytest.mark.parametrize(
    "keys",
    [
        ((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)),
        ((0,), (1,), (2, 3), (4, 5)),  # of different lengths
        ((),),  # one table whose key has no bits: a scan
    ],
)
def test_an_index_over_any_exact_plan_finds_what_linear_scan_finds(
    keys: tuple[tuple[int, ...], ...], core: str
) -> None:
    values = values_of_every_kind(random.Random(6), 8, blocks=6)
    assert_finds_what_linear_scan_finds(over(core, Plan(3, partition(6), keys), 8), values, values)


@settings(max_examples=examples(120))
@given(
    st.sampled_from(KINDS),
    st.lists(st.tuples(near_values(5) | near_values(12), st.integers(0, 20)), max_size=40),
    st.lists(near_values(5), max_size=10),
)
def test_index_equals_linear_scan_for_any_postings(
    make: Callable[[], Index], postings: list[tuple[int, int]], queries: list[int]
) -> None:
    index = make()
    scan = LinearScan(index.max_distance)
    for value, key in postings:
        index.add(value, key)
        scan.add(value, key)
    index._check()
    assert len(index) == len(scan)
    assert sorted(index) == sorted(scan)
    for query in queries + [value for value, _ in postings]:
        assert index.find(query) == scan.find(query)


@every
def test_matches_come_nearest_first_then_by_key_each_key_once(make: Make) -> None:
    searched = make()
    for value, key in [(0b1, 4), (0b0, 9), (0b111, 2), (0b0, 7), (0b10, 3), (0b0, 7)]:
        searched.add(value, key)
    assert searched.find(0) == [
        Match(7, 0, 0),
        Match(9, 0, 0),
        Match(3, 2, 1),
        Match(4, 1, 1),
        Match(2, 7, 3),
    ]


@every
def test_a_key_that_has_several_values_matches_once_with_the_nearest(make: Make) -> None:
    searched = make()
    for value in (0b111, 0b100, 0b010, 0b001):
        searched.add(value, key=5)
    assert len(searched) == 4
    assert searched.find(0) == [Match(5, 0b001, 1)]
    assert searched.find(0b111) == [Match(5, 0b111, 0)]


@every
def test_the_same_posting_twice_is_stored_once(make: Make) -> None:
    searched = make()
    searched.add(5, key=1)
    searched.add(5, key=1)
    searched.add_many([5] * 100, [1] * 100)
    assert len(searched) == 1
    assert list(searched) == [(5, 1)]


@every
def test_an_empty_index_finds_nothing(make: Make) -> None:
    searched = make()
    searched.add_many([])
    searched.add_many([], [])
    assert (searched.find(0), len(searched), list(searched), (0, 0) in searched) == ([], 0, [], False)
    assert not searched.discard(0, 0)


@every
def test_find_or_add_adds_only_where_nothing_is_near(make: Make) -> None:
    searched = make()
    assert searched.find_or_add(0b0000, key=1) == []
    assert searched.find_or_add(0b0111, key=2) == [Match(1, 0, 3)]
    assert searched.find_or_add(0b1111, key=3) == []
    assert searched.find_or_add(0b0000, key=1) == [Match(1, 0, 0)]
    assert sorted(searched) == [(0b0000, 1), (0b1111, 3)]


@every
@pytest.mark.parametrize("several", [0b0001, 0b0010, 0b1000])
def test_of_equally_near_matches_the_least_key_counts_if_its_value_has_others_too(
    make: Make, several: int
) -> None:
    searched = make()
    searched.add_many([0b0001, 0b0010, 0b1000], [5, 6, 7])
    searched.add_many([several, several], [3, 9])
    assert list(searched.find_or_add_many([0])) == [3]


@every
def test_a_value_keeps_its_other_keys_when_one_is_discarded(make: Make) -> None:
    searched = make()
    searched.add_many([8, 8, 8], [1, 2, 3])
    assert searched.discard(8, 1)
    assert not searched.discard(8, 1)
    assert searched.find(8) == [Match(2, 8, 0), Match(3, 8, 0)]
    assert searched.discard(8, 3)
    assert searched.discard(8, 2)
    assert searched.find(8) == []


@every_core
def test_one_value_with_thousands_of_keys_is_stored_once(core: str) -> None:
    index = over(core, Plan.classic())
    index.add_many([42] * 5000)
    for key in range(5000, 6000):
        index.add(42, key)
    index._check()
    assert (index._core.values, len(index)) == (1, 6000)
    assert [match.key for match in index.find(43)] == list(range(6000))
    for key in range(5999):
        assert index.discard(42, key)
    index._check()
    assert index.find(42) == [Match(5999, 42, 0)]


@pytest.mark.parametrize(
    "make", [partial(over, plan=Plan.classic(2, 4)), partial(probing, max_distance=8, blocks=3)]
)
@every_core
def test_the_room_of_discarded_values_is_used_again(
    make: Callable[..., SimhashIndex | ProbingIndex], core: str
) -> None:
    draw = random.Random(9)
    index = make(core)
    index.add_many([draw.getrandbits(64) for _ in range(300)])
    full = index.nbytes
    for value, key in list(index):
        index.discard(value, key)
    for _ in range(5):
        values = [draw.getrandbits(64) for _ in range(300)]
        index.add_many(values, range(300))
        assert all(index.discard(value, key) for key, value in enumerate(values))
        index._check()
        assert len(index) == 0
    assert index.nbytes < 1.5 * full


@every_core
def test_the_greatest_address_is_not_mistaken_for_the_guard_of_a_leaf(core: str) -> None:
    index = over(core, Plan.classic(max_distance=0, blocks=1))
    value = ALL_ONES * pow(SCATTER, -1, 2**64) % 2**64
    assert address_of(value, ALL_ONES) == ADDRESS_MASK
    assert index.find(value) == []
    index.add(value, key=1)
    assert index.find_or_add(value, key=2) == [Match(1, value, 0)]


@every
def test_add_many_numbers_values_on_from_the_greatest_key_ever_added(make: Make) -> None:
    searched = make()
    searched.add_many([1 << 10, 1 << 20])
    searched.add(1 << 30, key=7)
    searched.discard(1 << 30, key=7)
    searched.add_many(iter([1 << 40, 1 << 50]))
    assert sorted(searched) == [(1 << 10, 0), (1 << 20, 1), (1 << 40, 8), (1 << 50, 9)]


@settings(max_examples=examples(40))
@given(st.sampled_from(KINDS), st.integers(0, 300), st.integers(64, 300), st.integers(0, 2**32))
def test_add_many_is_the_same_as_adding_one_by_one(
    make: Callable[[], Index], before: int, together: int, seed: int
) -> None:
    draw = random.Random(seed)
    pool = [draw.getrandbits(64) for _ in range(200)]
    postings = [(draw.choice(pool), draw.randrange(1000)) for _ in range(before + together)]
    one_by_one, batch = make(), make()
    for value, key in postings:
        one_by_one.add(value, key)
    for value, key in postings[:before]:
        batch.add(value, key)
    batch.add_many(*zip(*postings[before:], strict=True))
    batch._check()
    assert sorted(batch) == sorted(one_by_one)
    assert all(batch.find(value) == one_by_one.find(value) for value in pool)


@every_core
def test_what_changes_while_the_tables_do_is_so_in_those_that_follow(core: str) -> None:
    draw = random.Random(12)
    values = [draw.getrandbits(64) for _ in range(400)]
    index = over(core, Plan.classic(3, 4), steps=[(200, Plan.classic(3, 4)), (FOREVER, Plan.classic(3, 5))])
    index.add_many(values[:200])
    for key in range(200, 205):
        index.add(values[key], key)
    keys = list(range(400))
    for key in range(100, 150):
        keys[key] = 1000 + key
        index.add(values[key], keys[key])
        index.discard(values[key], key)
    # The room of some that have moved is free now, and the batch takes it.
    for key in range(60):
        index.discard(values[key], key)
    index.add_many(values[205:300], range(205, 300))
    index._check()
    assert all(index.find(values[at]) == [Match(keys[at], values[at], 0)] for at in range(60, 300))
    for key in range(300, 400):
        index.add(values[key], key)
    assert not index._core.is_moving
    index._check()
    assert all(index.find(values[at]) == [Match(keys[at], values[at], 0)] for at in range(60, 400))


@every
def test_a_wrong_argument_of_add_many_adds_nothing(make: Make) -> None:
    for values, keys in [
        ([1, 2, -1], None),
        ([1, 2, 3], [1, 2]),
        ([1, 2], [1, -1]),
        ([1] * 99 + [2**64], None),
    ]:
        searched = make()
        with pytest.raises(ValueError, match="must be"):
            searched.add_many(values, keys)
        assert len(searched) == 0


class IntegerLike:
    """What numpy's integers are to us."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


@every
def test_integers_of_other_libraries_are_taken_and_returned_as_ints(make: Make) -> None:
    searched = make()
    searched.add(IntegerLike(5), IntegerLike(1))
    searched.add_many([IntegerLike(5)] * 100, [IntegerLike(n) for n in range(100)])
    assert searched.find_or_add(IntegerLike(5), IntegerLike(3))[0] == Match(0, 5, 0)
    assert (IntegerLike(5), IntegerLike(1)) in searched
    assert {type(number) for posting in searched for number in posting} == {int}


@every
@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (-1, ValueError, r"value must be from 0 to 2\*\*64 - 1, got -1"),
        (2**64, ValueError, r"value must be from 0 to 2\*\*64 - 1, got 18446744073709551616"),
        (IntegerLike(-1), ValueError, r"value must be from 0 to 2\*\*64 - 1, got -1"),
        (True, TypeError, "value must be an integer, got True"),
        (1.0, TypeError, "value must be an integer, got 1.0"),
        ("1", TypeError, "value must be an integer, got '1'"),
        (None, TypeError, "value must be an integer, got None"),
    ],
)
def test_a_value_that_is_no_fingerprint_is_refused(
    make: Make, value: Any, error: type[Exception], message: str
) -> None:
    searched = make()
    searched.add(1, key=1)
    calls: list[Callable[[], object]] = [
        lambda: searched.add(value, 2),
        lambda: searched.add_many([value]),
        lambda: searched.find(value),
        lambda: searched.find_or_add(value, 2),
        lambda: searched.discard(value, 1),
        lambda: (value, 1) in searched,
    ]
    for call in calls:
        with pytest.raises(error, match=message):
            call()
    assert list(searched) == [(1, 1)]


@every
@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (-1, ValueError, r"key must be from 0 to 2\*\*63 - 1, got -1"),
        (2**63, ValueError, r"key must be from 0 to 2\*\*63 - 1, got 9223372036854775808"),
        (False, TypeError, "key must be an integer, got False"),
        ("a", TypeError, "key must be an integer, got 'a'"),
    ],
)
def test_a_key_that_is_no_number_of_a_document_is_refused(
    make: Make, key: Any, error: type[Exception], message: str
) -> None:
    searched = make()
    calls: list[Callable[[], object]] = [
        lambda: searched.add(1, key),
        lambda: searched.add_many([1], [key]),
        lambda: searched.find_or_add(1, key),
        lambda: searched.discard(1, key),
        lambda: (1, key) in searched,
    ]
    for call in calls:
        with pytest.raises(error, match=message):
            call()
    assert len(searched) == 0


@every
@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        (array("q", [5, -6]), ValueError, r"key must be from 0 to 2\*\*63 - 1, got -6"),
        (array("Q", [5, 2**63]), ValueError, r"key must be from 0 to 2\*\*63 - 1, got 9223372036854775808"),
        (array("d", [5, 6]), TypeError, "key must be an integer, got 5.0"),
    ],
)
def test_a_row_of_keys_is_looked_through_before_any_is_taken(
    make: Make, keys: Any, error: type[Exception], message: str
) -> None:
    searched = make()
    with pytest.raises(error, match=message):
        searched.add_many([1, 2], keys)
    assert len(searched) == 0


@every
@pytest.mark.parametrize("duplicate", [pickle.dumps, copy, deepcopy])
def test_an_index_is_not_copied_by_accident(make: Make, duplicate: Callable[[object], object]) -> None:
    if isinstance(searched := make(), HammingIndex):
        with pytest.raises(TypeError, match="cannot be pickled or copied"):
            duplicate(searched)


@every
def test_the_greatest_value_and_key_are_taken_and_numbering_stops_there(make: Make) -> None:
    searched = make()
    searched.add(ALL_ONES, 2**63 - 3)
    with pytest.raises(ValueError, match="key must be from 0"):
        searched.add_many([1, 2, 3])
    assert len(searched) == 1
    searched.discard(ALL_ONES, 2**63 - 3)
    searched.add(ALL_ONES, 2**63 - 1)
    assert searched.find(ALL_ONES) == [Match(2**63 - 1, ALL_ONES, 0)]
    with pytest.raises(ValueError, match="key must be from 0"):
        searched.add_many([1])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((3, 2), ValueError, r"blocks must be greater than max_distance \(3\), got 2"),
        ((3, 3), ValueError, r"blocks must be greater than max_distance \(3\), got 3"),
        ((0, 0), ValueError, r"blocks must be greater than max_distance \(0\), got 0"),
        ((-1, 6), ValueError, "max_distance must be from 0 to 64, got -1"),
        ((65, 66), ValueError, "max_distance must be from 0 to 64, got 65"),
        ((1, 65), ValueError, "blocks must be at most 64, got 65"),
        ((3, 20), ValueError, "max_distance 3 with 20 blocks: 1,140 tables are too many, the limit is 1,000"),
        ((True, 6), TypeError, "max_distance must be an integer, got True"),
        ((3, True), TypeError, "blocks must be an integer, got True"),
        ((3.0, 6), TypeError, "max_distance must be an integer, got 3.0"),
        ((3, "6"), TypeError, "blocks must be an integer, got '6'"),
    ],
)
def test_an_index_that_cannot_work_is_refused(
    arguments: tuple[Any, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        SimhashIndex(*arguments)


@pytest.mark.parametrize(
    ("plans", "error", "message"),
    [
        (
            [],
            ValueError,
            r"blocks must be one or more plans for the same distance, got plans for distances \[\]",
        ),
        # The second would miss what the first finds.
        (
            [(10, Plan.classic(3, 4)), (20, Plan.classic(2, 4))],
            ValueError,
            r"got plans for distances \[3, 2\]",
        ),
        ([(20, Plan.classic(3, 4)), (20, Plan.classic(3, 5))], ValueError, r"must rise, got \[20, 20\]"),
        ([(20, "4x16")], TypeError, "a plan must be a Plan, got '4x16'"),
        ([(20, ProbingPlan.even(10, 4))], TypeError, "a plan must be a Plan, got ProbingPlan"),
    ],
)
def test_plans_that_do_not_follow_each_other_are_refused(
    plans: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        SimhashIndex.from_plans(plans)


@every
def test_nbytes_grows_with_what_is_stored(make: Make) -> None:
    draw = random.Random(3)
    searched = make()
    empty = searched.nbytes
    searched.add_many([draw.getrandbits(64) for _ in range(3000)])
    values = searched.nbytes
    searched.add_many([0] * 3000)
    assert empty < values < searched.nbytes
    if isinstance(searched, SimhashIndex):
        # Entries, value and key at least; half as much again at most.
        assert 20 * 8 + 16 < values / 3000 < 300


@pytest.mark.parametrize("k", range(9))
@pytest.mark.parametrize("expected", [1, 1_000, 10**6, 10**8, 2**62])
def test_an_index_that_expects_so_many_begins_with_what_is_best_for_them(k: int, expected: int) -> None:
    index = SimhashIndex(k, "auto", expected=expected)
    assert index.plan == choose(k, expected)
    numbers = [upto for upto, _ in index._plans]
    assert numbers == sorted(set(numbers))
    assert all(plan != following for (_, plan), (_, following) in pairwise(index._plans))
