"""Tables of pure Python: addresses, and the leaves that hold them."""

from __future__ import annotations

import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index.plans import key_mask, partition
from scrapy_simhash.index.pure.tables import (
    ADDRESS_BITS,
    ADDRESS_MASK,
    CELLS_PER_LEAF,
    GUARD,
    SLOT_BITS,
    SLOT_LIMIT,
    Lanes,
    Table,
    address_of,
)
from tests.index.values import ALL_ONES, fingerprints, key_masks


@pytest.mark.parametrize(
    ("key", "mask"),
    [
        ((), 0),
        ((0,), 0xFFE0_0000_0000_0000),
        ((5,), 0x3FF),
        ((0, 5), 0xFFE0_0000_0000_03FF),
        ((0, 1, 2, 3, 4, 5), ALL_ONES),
    ],
)
def test_the_mask_of_a_key_has_the_bits_of_its_blocks(key: tuple[int, ...], mask: int) -> None:
    assert key_mask(partition(6), key) == mask


@given(key_masks, fingerprints, fingerprints)
def test_fingerprints_that_agree_in_a_key_have_one_address(mask: int, value: int, other: int) -> None:
    agreeing = value & mask | other & ~mask
    assert address_of(agreeing, mask) == address_of(value, mask)


@given(key_masks, fingerprints)
def test_an_address_leaves_the_bits_of_the_slot_free(mask: int, value: int) -> None:
    assert address_of(value, mask) & ~ADDRESS_MASK == 0
    assert address_of(value, mask) | SLOT_LIMIT - 1 < ALL_ONES


@given(fingerprints, st.integers(0, 63))
def test_a_change_of_any_bit_changes_the_address(value: int, bit: int) -> None:
    assert address_of(value, ALL_ONES) != address_of(value ^ 1 << bit, ALL_ONES)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([i << 53 for i in range(2000)], id="only the leading block differs"),
        pytest.param(list(range(1000)), id="only the last block differs"),
        pytest.param([(i % 45) << 53 | (i // 45) for i in range(2000)], id="the two ends differ"),
        pytest.param([1 << i | 1 << j for i in range(64) for j in range(i)], id="only two bits are set"),
    ],
)
def test_uneven_fingerprints_have_even_addresses(values: list[int]) -> None:
    eighths = [address_of(value, ALL_ONES) >> 61 for value in values]
    for eighth in range(8):
        assert 0.08 < eighths.count(eighth) / len(values) < 0.17


@given(key_masks, st.lists(fingerprints, min_size=1, max_size=20))
def test_many_at_once_have_the_same_addresses_as_one_by_one(mask: int, values: list[int]) -> None:
    slots = array("Q", range(SLOT_LIMIT - len(values), SLOT_LIMIT))
    entries = Lanes(array("Q", values), slots).entries(mask)
    assert list(entries) == [
        address_of(value, mask) | slot for value, slot in zip(values, slots, strict=True)
    ]


#: A few addresses, some equal, some with nothing above the lowest bits, so that leaves split unevenly or not.
addresses = st.integers(0, 2**ADDRESS_BITS - 1) | st.integers(0, 3) | st.just(2**ADDRESS_BITS - 1)
address_lists = st.lists(addresses, max_size=80)


def entries_at(addresses: list[int]) -> list[int]:
    return [address << SLOT_BITS | slot for slot, address in enumerate(addresses)]


def entries_of(table: Table) -> list[int]:
    return sorted(entry for leaf in table.leaves() for entry in leaf if entry != GUARD)


def filled(entries: list[int], leaf_size: int = 4) -> Table:
    table = Table(0, leaf_size)
    for entry in entries:
        table.insert(entry)
        table._check()
    return table


@given(address_lists)
def test_a_table_holds_what_was_inserted(addresses: list[int]) -> None:
    entries = entries_at(addresses)
    assert entries_of(filled(entries)) == sorted(entries)


@given(address_lists, address_lists)
def test_entries_added_together_are_held_as_if_inserted_one_by_one(
    before: list[int], together: list[int]
) -> None:
    entries = entries_at(before + together)
    table = filled(entries[: len(before)])
    table.extend(array("Q", entries[len(before) :]), len(before))
    table._check()
    assert entries_of(table) == sorted(entries)


@given(address_lists, st.randoms(use_true_random=False))
def test_what_is_removed_is_gone_and_the_rest_stays(addresses: list[int], order: random.Random) -> None:
    entries = entries_at(addresses)
    table = filled(entries)
    order.shuffle(entries)
    while entries:
        table.remove(entries.pop())
        table._check()
        assert entries_of(table) == sorted(entries)


def test_random_addresses_fill_leaves_of_at_most_the_leaf_size() -> None:
    draw = random.Random(1)
    table = filled(entries_at([draw.getrandbits(ADDRESS_BITS) for _ in range(500)]), leaf_size=16)
    assert max(map(len, table.leaves())) <= 16
    assert len(list(table.leaves())) > 500 / 16


def test_a_leaf_of_one_address_grows_and_the_directory_does_not() -> None:
    table = filled(entries_at([5] * 300))
    assert len(table.directory) == 1


def test_a_crowd_at_two_neighbouring_addresses_cannot_blow_up_the_directory() -> None:
    table = filled(entries_at([5, 6] * 100))
    assert len(table.directory) <= CELLS_PER_LEAF * len(list(table.leaves()))
    assert entries_of(table) == sorted(entries_at([5, 6] * 100))


def test_an_address_on_the_border_of_two_leaves_is_in_the_upper_one() -> None:
    step = 2**ADDRESS_BITS // 16
    borders = [step * number for number in range(16)]
    table = filled([address << SLOT_BITS for address in borders])  # slot 0: the least entry of its address
    assert entries_of(table) == [address << SLOT_BITS for address in borders]
    assert len(list(table.leaves())) > 4


@pytest.mark.parametrize("count", [0, 1, 3, 4, 100, 1000])
def test_a_table_knows_about_how_much_memory_it_takes(count: int) -> None:
    draw = random.Random(count)
    table = filled(entries_at([draw.getrandbits(ADDRESS_BITS) for _ in range(count)]), leaf_size=128)
    assert 8 * count <= table.nbytes <= 13 * count + 500
