from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index.plans import key_mask, partition
from scrapy_simhash.index.pure.tables import ADDRESS_MASK, SLOT_LIMIT, Lanes, address_of
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
