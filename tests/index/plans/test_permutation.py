from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index import Plan
from scrapy_simhash.index.plans.blocks import key_mask
from scrapy_simhash.index.plans.permutation import Permutation, permutations
from tests.index.values import ALL_ONES, fingerprints, key_masks

# Keys of whole blocks, as plans have them, and of any bits.
orders = (key_masks | fingerprints).map(Permutation)


@given(orders, fingerprints)
def test_unpermute_undoes_permute_and_permute_undoes_unpermute(order: Permutation, number: int) -> None:
    assert order.unpermute(order.permute(number)) == number
    assert order.permute(order.unpermute(number)) == number


@given(orders, fingerprints, fingerprints)
def test_a_permutation_changes_no_distance(order: Permutation, a: int, b: int) -> None:
    assert (order.permute(a) ^ order.permute(b)).bit_count() == (a ^ b).bit_count()


@given(orders)
def test_every_bit_gets_a_place_of_its_own(order: Permutation) -> None:
    places = [order.permute(1 << bit) for bit in range(64)]
    assert sorted(places) == [1 << bit for bit in range(64)]


@given(orders, fingerprints)
def test_the_key_stands_first_and_the_rest_behind_it_both_in_order(order: Permutation, number: int) -> None:
    def bits(mask: int) -> str:
        return "".join(str(number >> bit & 1) for bit in range(63, -1, -1) if mask >> bit & 1)

    key = bits(order.key)
    assert f"{order.permute(number):064b}" == key + bits(~order.key)
    assert order.key_bits == len(key)


@given(orders, st.lists(fingerprints, max_size=9))
def test_all_at_once_is_one_after_another(order: Permutation, numbers: list[int]) -> None:
    assert order.permute_all(array("Q", numbers)).tolist() == [order.permute(number) for number in numbers]


@pytest.mark.parametrize(
    ("key", "is_identity"),
    [
        (0, True),
        (ALL_ONES, True),
        (1 << 63, True),
        (ALL_ONES - 1, True),
        (1, False),
        (ALL_ONES >> 1, False),
        (0b101 << 61, False),
    ],
)
def test_a_key_that_leads_the_fingerprint_moves_nothing(key: int, is_identity: bool) -> None:
    order = Permutation(key)
    assert order.is_identity == is_identity
    assert all(order.permute(1 << bit) == 1 << bit for bit in range(64)) == is_identity


def test_each_table_of_a_plan_has_the_permutation_of_its_key() -> None:
    plan = Plan.classic(max_distance=3, blocks=6)
    orders = permutations(plan)
    assert orders == tuple(Permutation(key_mask(plan.blocks, key)) for key in plan.keys)
    assert tuple(order.key_bits for order in orders) == plan.key_bits


def test_the_example_of_the_field_is_found_by_the_table_of_a_c_f() -> None:
    stored = 0b0100101110111011001000101111101110111100001010011101100110110101
    asked = 0b0100101110111011011000101111101110011100001010011100100110110101
    plan = Plan.classic(max_distance=3, blocks=6)
    same_key = [
        "".join("ABCDEF"[block] for block in key)
        for key, order in zip(plan.keys, permutations(plan), strict=True)
        if (order.permute(stored) ^ order.permute(asked)) >> (64 - order.key_bits) == 0
    ]
    assert same_key == ["ACF"]
