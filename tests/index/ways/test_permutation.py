from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index import Plan
from scrapy_simhash.index.plans.blocks import partition
from scrapy_simhash.index.ways import Permutation, permutations
from tests.index.ways.every_way import value

orders = st.integers(1, 64).flatmap(
    lambda m: st.sets(st.integers(0, m - 1)).map(lambda key: Permutation(partition(m), tuple(sorted(key))))
)


@given(orders, value)
def test_unpermute_undoes_permute_and_permute_undoes_unpermute(order: Permutation, number: int) -> None:
    assert order.unpermute(order.permute(number)) == number
    assert order.permute(order.unpermute(number)) == number


@given(orders, value, value)
def test_a_permutation_changes_no_distance(order: Permutation, a: int, b: int) -> None:
    assert (order.permute(a) ^ order.permute(b)).bit_count() == (a ^ b).bit_count()


@given(orders)
def test_every_bit_gets_a_place_of_its_own(order: Permutation) -> None:
    places = [order.permute(1 << bit) for bit in range(64)]
    assert sorted(places) == [1 << bit for bit in range(64)]


@given(orders, value)
def test_the_key_stands_first_and_the_rest_behind_it_both_in_order(order: Permutation, number: int) -> None:
    def bits(numbers: list[int]) -> str:
        blocks = [order.blocks[block] for block in numbers]
        return "".join(f"{block.of(number):0{block.width}b}" for block in blocks)

    key = bits(list(order.key))
    rest = bits([block for block in range(len(order.blocks)) if block not in order.key])
    assert f"{order.permute(number):064b}" == key + rest
    assert order.key_bits == len(key)


@given(orders, st.lists(value, max_size=9))
def test_all_at_once_is_one_after_another(order: Permutation, numbers: list[int]) -> None:
    assert order.permute_all(array("Q", numbers)).tolist() == [order.permute(number) for number in numbers]


def test_each_table_of_a_plan_has_the_permutation_of_its_key() -> None:
    plan = Plan.classic(max_distance=3, blocks=6)
    orders = permutations(plan)
    assert tuple(order.key for order in orders) == plan.keys
    assert tuple(order.key_bits for order in orders) == plan.key_bits
    assert {order.blocks for order in orders} == {plan.blocks}


def test_the_example_of_the_field_is_found_by_the_table_of_a_c_f() -> None:
    stored = 0b0100101110111011001000101111101110111100001010011101100110110101
    asked = 0b0100101110111011011000101111101110011100001010011100100110110101
    same_key = [
        "".join("ABCDEF"[block] for block in order.key)
        for order in permutations(Plan.classic(max_distance=3, blocks=6))
        if (order.permute(stored) ^ order.permute(asked)) >> (64 - order.key_bits) == 0
    ]
    assert same_key == ["ACF"]
