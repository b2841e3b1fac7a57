from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index import Plan
from scrapy_simhash.index.alternatives import SortedTable, SortedTables, by_guessing, by_halving, permutations
from tests.index.values import ALL_ONES, fingerprints, flipped

PLAN = Plan.classic(max_distance=3, blocks=6)


@given(st.lists(fingerprints, max_size=20), st.lists(fingerprints, max_size=20))
def test_a_table_is_in_order_and_holds_each_number_once(some: list[int], others: list[int]) -> None:
    table = SortedTable(max_distance=3, key_bits=32)
    table.add_many(some)
    for number in others:
        table.add(number)
        assert number in table
    table.add_many(some[::2])
    assert list(table) == sorted({*some, *others})
    assert len(table) == len({*some, *others})


@given(st.lists(st.integers(0, 255), max_size=20), st.integers(0, 255), st.integers(0, 64))
def test_the_candidates_of_a_table_are_what_has_the_key(
    numbers: list[int], query: int, key_bits: int
) -> None:
    # The eight leading bits vary, and the eight behind the middle.
    numbers = [number << 56 | number << 24 for number in numbers]
    query = query << 56 | 1
    # Just before what has the key, the first and the last of it, and just behind.
    first = query >> 64 - key_bits << 64 - key_bits
    behind = first + (1 << 64 - key_bits)
    numbers += [number for number in (first - 1, first, behind - 1, behind) if 0 <= number <= ALL_ONES]
    table = SortedTable(max_distance=3, key_bits=key_bits)
    table.add_many(numbers)
    key = query >> 64 - key_bits
    assert list(table.candidates(query)) == sorted({n for n in numbers if n >> 64 - key_bits == key})


def test_each_table_holds_the_fingerprints_permuted_and_in_order() -> None:
    draw = random.Random(3)
    values = [draw.getrandbits(64) for _ in range(50)]
    way = SortedTables(PLAN)
    way.add_many(values)
    for order, table in zip(permutations(PLAN), way._tables, strict=True):
        assert list(table) == sorted(map(order.permute, values))


@given(st.sets(fingerprints, max_size=9), st.sets(fingerprints, max_size=9))
def test_to_merge_is_to_add_what_the_other_holds(mine: set[int], others: set[int]) -> None:
    way, other = SortedTables(PLAN), SortedTables(PLAN)
    way.add_many(mine)
    other.add_many(others)
    way.merge(other)
    assert sorted(way) == sorted(mine | others)
    assert sorted(other) == sorted(others), "the other is left as it is"
    assert all(number in way for number in mine | others)
    assert [len(table) for table in way._tables] == [len(mine | others)] * 20


def test_tables_of_different_plans_are_not_merged() -> None:
    with pytest.raises(ValueError, match="different plans"):
        SortedTables(PLAN).merge(SortedTables(Plan.classic(3, 5)))


def test_a_search_by_guessing_takes_a_third_of_the_steps() -> None:
    draw = random.Random(5)
    values = [draw.getrandbits(64) for _ in range(20_000)]
    steps = {}
    for search in (by_halving, by_guessing):
        way = SortedTables(Plan.classic(1, 4), search)
        way.add_many(values)
        assert way.steps == 0
        for number in values[:200]:
            assert [found.value for found in way.find(flipped(number, [9]))] == [number]
        steps[search] = way.steps / (200 * 4)
    assert steps[by_halving] > 14
    assert steps[by_guessing] < steps[by_halving] / 2.5


def test_membership_is_asked_of_all_64_bits() -> None:
    way = SortedTables(PLAN)
    way.add(5)
    assert 5 in way
    assert 4 not in way
    assert 2**63 not in way
    with pytest.raises(ValueError):
        2**64 in way  # noqa: B015
