"""Own parts and identities as bytes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import Fingerprint
from scrapy_simhash.page.fingerprint import (
    DOUBTFUL,
    IDENTITY_BYTES,
    MINHASH_BYTES,
    PART,
    SKETCH_BYTES,
    UNKNOWN,
    WHOLE,
    OwnPart,
    are_different,
    compared_values,
    is_own_part,
    is_part,
    own_part_length,
    own_value,
    sketch,
)
from scrapy_simhash.page.fingerprint.own_part import EVENT, JOB, KINDS, identity_of

IDENTITIES = st.just(b"") | st.builds(
    identity_of,
    st.sampled_from(KINDS),
    st.lists(st.lists(st.text(max_size=5), max_size=2), min_size=3, max_size=3),
)
#: Of longer texts the number of tokens is not kept exactly.
WHOLE_TOKENS = st.integers(0, 31) | st.integers(0, 9).map(lambda exponent: 21 << exponent)
REST = {"words": st.integers(0, 65_535), "whole": WHOLE_TOKENS, "text": st.integers(0, 2**40 - 1)}
OWN_PARTS = st.builds(
    OwnPart,
    st.sampled_from((UNKNOWN, WHOLE, DOUBTFUL)),
    st.integers(0, 65_535),
    st.just(0),
    st.just(b""),
    IDENTITIES,
    **REST,
) | st.builds(
    OwnPart,
    st.just(PART),
    st.integers(0, 65_535),
    st.integers(0, 2**64 - 1),
    st.binary(min_size=MINHASH_BYTES, max_size=MINHASH_BYTES),
    IDENTITIES,
    **REST,
)


@given(OWN_PARTS)
def test_from_bytes_undoes_to_bytes(own: OwnPart) -> None:
    data = own.to_bytes()
    assert OwnPart.from_bytes(data) == own
    assert 11 <= len(data) == own_part_length(data[0]) <= 140
    assert is_own_part(data)
    assert Fingerprint(1, own=data).own == data
    assert (is_part(data), own_value(data)) == (own.kind == PART, own.value)


@given(OWN_PARTS, st.binary(min_size=1, max_size=9))
def test_bytes_of_another_length_are_no_own_part(own: OwnPart, more: bytes) -> None:
    data = own.to_bytes()
    for wrong in (data + more, data[:-1], bytes([data[0] | 8]) + data[1:]):
        assert not is_own_part(wrong)
        if wrong:
            with pytest.raises(ValueError, match="own must be empty or an own part"):
                Fingerprint(1, own=wrong)


def test_no_own_part_is_no_part() -> None:
    assert (is_part(b""), is_own_part(b""), own_value(b"")) == (False, False, 0)


@given(IDENTITIES, IDENTITIES)
def test_difference_is_symmetric_and_nothing_differs_from_itself(a: bytes, b: bytes) -> None:
    assert len(a) in (0, IDENTITY_BYTES)
    assert are_different(a, b) == are_different(b, a)
    assert not are_different(a, a)
    assert not are_different(a, b"")


def test_words_count_in_any_order_and_once() -> None:
    assert identity_of(JOB, [["a", "b"], [], []]) == identity_of(JOB, [["b", "a", "b"], [], []])


def test_things_of_two_kinds_are_not_compared() -> None:
    assert not are_different(identity_of(JOB, [["a"], [], []]), identity_of(EVENT, [["b"], [], []]))


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


@given(st.integers(0, 2**64 - 1), st.sampled_from([b"", SKETCH]), OWN_PARTS)
def test_what_a_rule_compares_comes_back_from_its_bytes(value: int, of_page: bytes, own: OwnPart) -> None:
    data = Fingerprint(value, 7, of_page, own.to_bytes()).compared_bytes()
    found = Fingerprint.from_compared_bytes(data)
    expected = (of_page, own.to_bytes()) if of_page else (b"", b"")
    assert (found.value, found.features, found.sketch, found.own) == (value, 0, *expected)
    is_searched = of_page and own.kind == PART and own.value
    assert compared_values(data) == ((value, own.value) if is_searched else (value,))
    with pytest.raises(ValueError, match="no fingerprint has 7 bytes"):
        Fingerprint.from_compared_bytes(data[:7])


def test_bytes_are_stored_and_stay_what_they_are() -> None:
    identities = [identity_of(kind, [["nurse", "a"], [], ["kiel"]], "a.example").hex() for kind in KINDS]
    assert identities == [f"{kind:02x}9ec402b1000023e3" for kind in (1, 2, 3, 4)]
    part = OwnPart(PART, 700, 5, b"m" * MINHASH_BYTES, b"", 3, 1234, 77).to_bytes()
    assert part.hex() == f"0202bc730003000000004d0000000000000005{'6d' * MINHASH_BYTES}"
    doubtful = OwnPart(DOUBTFUL, 70_000, 0, b"", identity_of(JOB, [["a"], [], []]), 3, 17, 2**40 - 1)
    assert doubtful.to_bytes().hex() == "07ffff110003ffffffffff010000e6c600000000"
