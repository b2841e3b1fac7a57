from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import Fingerprint
from scrapy_simhash.page.fingerprint import SKETCH_BYTES, sketch

SKETCH = sketch(range(1, 2**64, 2**57), ["night", "pilots"])


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
    assert Fingerprint(5, sketch=SKETCH) == Fingerprint(5)
    assert repr(SKETCH) not in repr(Fingerprint(5, sketch=SKETCH))


@pytest.mark.parametrize("value", [-1, 2**64, 2**100])
def test_a_value_of_more_than_64_bits_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match=rf"value must be in 0 \.\. 2\*\*64 - 1, got {value}"):
        Fingerprint(value)


def test_a_fingerprint_does_not_change() -> None:
    fingerprint = Fingerprint(5)
    with pytest.raises(FrozenInstanceError):
        fingerprint.value = 6  # type: ignore[misc]


@pytest.mark.parametrize("length", [1, SKETCH_BYTES - 1, SKETCH_BYTES + 1])
def test_a_sketch_has_its_length_or_is_none(length: int) -> None:
    with pytest.raises(ValueError, match=f"sketch must be empty or 128 bytes long, got {length}"):
        Fingerprint(5, sketch=bytes(length))


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.sampled_from([b"", SKETCH]))
def test_bytes_hold_all_of_a_fingerprint(value: int, features: int, of_page: bytes) -> None:
    written = Fingerprint(value, features, of_page).to_bytes()
    read = Fingerprint.from_bytes(written)
    assert (read.value, read.features, read.sketch) == (value, features, of_page)
    assert len(written) == (140 if of_page else 12)
    assert written[:12] == value.to_bytes(8, "big") + features.to_bytes(4, "big")


@pytest.mark.parametrize("length", [0, 11, 13, 139, 141])
def test_bytes_of_another_length_are_refused(length: int) -> None:
    with pytest.raises(ValueError, match="got "):
        Fingerprint.from_bytes(bytes(length))
