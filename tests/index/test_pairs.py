from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import combinations
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import kernel
from scrapy_simhash.index.pairs import connected, pairs
from tests.index.values import bit, fingerprints, flipped

Pairs = list[tuple[int, int, int]]

HAMMING: ModuleType | None = kernel.hamming
WAYS = {"pure": None} if HAMMING is None else {"pure": None, "native": HAMMING}

#: By name: a distance, and a number of blocks.
PLANS: dict[str, tuple[int, Any]] = {
    **{f"{m} blocks for {k}": (k, m) for k in range(7) for m in range(k + 1, k + 4)},
    "auto for 3": (3, "auto"),
    "auto for 5": (5, "auto"),
}


@contextmanager
def running(way: str) -> Iterator[None]:
    """Run pure Python, or the kernel if it is built."""
    with patch.object(kernel, "hamming", WAYS[way]):
        yield


def naive(values: Iterable[int], max_distance: int) -> Pairs:
    return list(_naive(tuple(sorted(set(values))), max_distance))


@lru_cache(maxsize=100)  # several tests need the pairs of the same values
def _naive(values: tuple[int, ...], max_distance: int) -> Pairs:
    return [
        (small, large, (small ^ large).bit_count())
        for small, large in combinations(values, 2)
        if (small ^ large).bit_count() <= max_distance
    ]


def found(way: str, values: Any, *arguments: Any) -> Pairs:
    with running(way):
        return sorted(pairs(values, *arguments))


def with_planted(size: int, seed: int) -> list[int]:
    """Return random values, a tenth of which are 1 to 6 bits from an earlier one."""
    draw = random.Random(seed)
    values = [draw.getrandbits(64)]
    for number in range(1, size):
        near = flipped(draw.choice(values), draw.sample(range(64), draw.randint(1, 6)))
        values.append(draw.getrandbits(64) if number % 10 else near)
    return values


#: Values around a few others: many near pairs, some at the limit, and repeated values.
clustered = st.lists(fingerprints, min_size=1, max_size=4).flatmap(
    lambda centres: st.lists(
        st.builds(flipped, st.sampled_from(centres), st.lists(bit, max_size=6)), max_size=60
    )
)


@pytest.mark.parametrize("way", WAYS)
@given(values=clustered | st.lists(fingerprints, max_size=60), name=st.sampled_from(list(PLANS)))
def test_every_plan_finds_the_pairs_of_an_exhaustive_comparison(
    way: str, values: list[int], name: str
) -> None:
    k, blocks = PLANS[name]
    assert found(way, values, k, blocks) == naive(values, k)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [0, 1, 30_000])  # 1,500 pairs: more than the kernel returns in one step
def test_progress_increases_and_reports_the_end_once(way: str, size: int) -> None:
    shares: list[float] = []
    with running(way):
        list(pairs(with_planted(size, seed=7) if size else [], 3, 4, shares.append))
    assert shares == sorted(shares)
    assert shares[0] >= 0
    assert shares[-1] == 1
    assert shares.count(1) == 1
    assert len(set(shares)) > 1 or size < 30_000


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1, -1],), ValueError, r"value must be from 0 to 2\*\*64 - 1, got -1"),
        (([2**64],), ValueError, r"value must be from 0 to 2\*\*64 - 1"),
        (([1.0],), TypeError, "value must be an integer, got 1.0"),
        (([True],), TypeError, "value must be an integer, got True"),
        ((7,), TypeError, "not iterable"),
        (([], 65), ValueError, "max_distance must be from 0 to 64, got 65"),
        (([], "3"), TypeError, "max_distance must be an integer, got '3'"),
        (([], 3, 3), ValueError, r"blocks must be greater than max_distance \(3\), got 3"),
        (([], 3, "few"), TypeError, "blocks must be an integer, got 'few'"),
    ],
)
def test_wrong_arguments_raise_at_the_call(
    way: str, arguments: Sequence[Any], error: type[Exception], message: str
) -> None:
    with running(way), pytest.raises(error, match=message):
        pairs(*arguments)


def spread(pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the groups of *pairs*: repeatedly give each member the smallest number among its pairs."""
    least = {value: value for pair in pairs for value in pair}
    while any(least[a] != least[b] for a, b in pairs):
        for a, b in pairs:
            least[a] = least[b] = min(least[a], least[b])
    members = sorted(least)
    return [[value for value in members if least[value] == first] for first in sorted(set(least.values()))]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=60))
def test_a_group_has_all_values_that_are_connected_by_pairs(chosen: list[tuple[int, int]]) -> None:
    assert connected(chosen) == spread(chosen)
