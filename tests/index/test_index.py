from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pytest

from scrapy_simhash.index import Match, SimhashIndex
from scrapy_simhash.index.plans import MAX_TABLES, partition, probes_of, probing
from tests.index.cores import CORES, assert_finds_what_comparing_all_finds, every_core, over, probes, tables
from tests.index.values import ALL_ONES, flipped, values_of_every_kind

#: Distances and blocks of tables, including many blocks and large distances.
TABLES = [(k, m) for k, m in product(range(7), range(1, 11)) if k < m] + [(1, 64), (0, 64), (2, 16), (14, 15)]
TOO_SLOW = [(k, m) for k, m in product(range(13), range(1, 3)) if (k > 3 if m == 1 else k > 8)]
#: Distances and blocks of probing plans.
PROBES = [both for both in product(range(13), range(1, 7)) if both not in TOO_SLOW]
PROBES += [(0, 64), (64, 64), (20, 8), (14, 4), (31, 33)]
Make = Callable[[], SimhashIndex]
# Properties of every index, here with a distance of 3.
every = pytest.mark.parametrize(
    "make",
    [
        SimhashIndex,
        partial(tables, CORES[0], 3, 4),
        *(partial(tables, core, 3, 6) for core in CORES[1:]),
        *(partial(probes, core, 3, blocks) for core in CORES[1:] for blocks in (4, 2)),
    ],
    ids=[
        "SimhashIndex",
        "scan",
        *(f"native {kind}" for core in CORES[1:] for kind in ("6", "probing 4", "probing 2")),
    ],
)


@every_core
@pytest.mark.parametrize(
    ("make", "k", "m", "reach"),
    [(tables, *both, 8) for both in TABLES] + [(probes, *both, 16) for both in PROBES],
)
def test_index_finds_exactly_the_matches_of_a_linear_scan(
    make: Callable[[str, int, int], SimhashIndex], k: int, m: int, reach: int, core: str
) -> None:
    draw = random.Random(100 * k + m)
    values = values_of_every_kind(draw, reach, blocks=m)
    far = [
        flipped(value, draw.sample(range(64), min(64, draw.randrange(k + 2))))
        for value in draw.sample(values, 60)
    ]
    # A search of many probes takes milliseconds.
    every_so_many = 1 if make is tables or probes_of(probing(k, m)) < 5000 else 10
    queries = [*values[::10], *far, 0, ALL_ONES][::every_so_many]
    assert_finds_what_comparing_all_finds(make(core, k, m), values, queries)


@every_core
@pytest.mark.parametrize("radii", [(-1, 3, -1), (0, -1, 2), (1, 1, -1), (0, 0, 1), (3, -1, -1)])
def test_an_index_with_any_exact_probing_plan_is_exact(radii: tuple[int, ...], core: str) -> None:
    values = values_of_every_kind(random.Random(6), 16, blocks=3)
    plan = [(mask, radius) for mask, radius in zip(partition(3), radii, strict=True) if radius >= 0]
    assert_finds_what_comparing_all_finds(over(core, 3, plan), values, values[::4])


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
    """Behaves like the integers of numpy."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


@every
@pytest.mark.parametrize(
    ("number", "error", "said"),
    [
        (-1, ValueError, "be from 0 to .*, got -1"),
        (2**64, ValueError, "be from 0 to .*, got 18446744073709551616"),
        (IntegerLike(-1), ValueError, "be from 0 to .*, got -1"),
        (True, TypeError, "be an integer, got True"),
        (1.0, TypeError, "be an integer, got 1.0"),
        ("1", TypeError, "be an integer, got '1'"),
        (None, TypeError, "be an integer, got None"),
    ],
)
def test_invalid_fingerprints_and_keys_are_refused(
    make: Make, number: Any, error: type[Exception], said: str
) -> None:
    searched = make()
    searched.add(1, key=1)
    calls: dict[str, list[Callable[[], object]]] = {
        "value": [
            lambda: searched.add(number, 2),
            lambda: searched.add_many([number]),
            lambda: searched.find(number),
            lambda: searched.find_or_add(number, 2),
            lambda: searched.discard(number, 1),
            lambda: (number, 1) in searched,
        ],
        "key": [
            lambda: searched.add(1, number),
            lambda: searched.add_many([1], [number]),
            lambda: searched.find_or_add(1, number),
            lambda: searched.discard(1, number),
            lambda: (1, number) in searched,
        ],
    }
    for name in calls:
        for call in calls[name]:
            with pytest.raises(error, match=f"^{name} must {said}"):
                call()
    assert list(searched) == [(1, 1)]


@every
def test_the_greatest_value_and_key_are_accepted_and_end_the_numbering(make: Make) -> None:
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
        ((3, 3), ValueError, r"blocks must be greater than max_distance \(3\), got 3"),
        ((1, 65), ValueError, "blocks must be at most 64, got 65"),
        ((3, 20), ValueError, f"with 20 blocks needs 1,140 tables; the limit is {MAX_TABLES:,}"),
        ((-1, 6), ValueError, "max_distance must be from 0 to 64, got -1"),
        ((True, 6), TypeError, "max_distance must be an integer, got True"),
        ((3.0, 6), TypeError, "max_distance must be an integer, got 3.0"),
        ((3, True), TypeError, "blocks must be an integer, got True"),
        ((3, "6"), TypeError, "blocks must be an integer, got '6'"),
    ],
)
def test_an_impossible_index_is_refused(
    arguments: tuple[Any, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        SimhashIndex(*arguments)
