from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import Fingerprint


@given(st.integers(0, 2**64 - 1))
def test_a_fingerprint_is_a_number_of_16_hexadecimal_digits(value: int) -> None:
    fingerprint = Fingerprint(value)
    assert int(fingerprint) == fingerprint.value == int(fingerprint.hex, 16) == value
    assert len(fingerprint.hex) == 16
    assert fingerprint.hex == fingerprint.hex.lower()


def test_two_are_equal_when_their_values_are() -> None:
    assert Fingerprint(5, features=20) == Fingerprint(5, features=21)
    assert Fingerprint(5) != Fingerprint(6)
    assert len({Fingerprint(5, 20), Fingerprint(5, 21), Fingerprint(6)}) == 2


@pytest.mark.parametrize("value", [-1, 2**64, 2**100])
def test_a_value_of_more_than_64_bits_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match=rf"value must be in 0 \.\. 2\*\*64 - 1, got {value}"):
        Fingerprint(value)


def test_a_fingerprint_does_not_change() -> None:
    fingerprint = Fingerprint(5)
    with pytest.raises(FrozenInstanceError):
        fingerprint.value = 6  # type: ignore[misc]
