from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index import hamming_distance

fingerprints = st.integers(0, 2**64 - 1)


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        (0, 0, 0),
        (0, 1, 1),
        (0, 1 << 63, 1),
        (0b1010, 0b0101, 4),
        (0, 2**64 - 1, 64),
        (0xAAAA_AAAA_AAAA_AAAA, 0x5555_5555_5555_5555, 64),
    ],
)
def test_distance_is_the_number_of_differing_bits(a: int, b: int, distance: int) -> None:
    assert hamming_distance(a, b) == distance


@given(fingerprints, fingerprints, fingerprints)
def test_distance_is_a_metric(a: int, b: int, c: int) -> None:
    assert (hamming_distance(a, b) == 0) == (a == b)
    assert hamming_distance(a, b) == hamming_distance(b, a)
    assert hamming_distance(a, c) <= hamming_distance(a, b) + hamming_distance(b, c)


@given(fingerprints, st.sets(st.integers(0, 63)))
def test_flipping_bits_moves_by_as_many(value: int, bits: set[int]) -> None:
    assert hamming_distance(value, value ^ sum(1 << bit for bit in bits)) == len(bits)
