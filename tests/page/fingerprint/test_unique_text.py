"""Unique text and fingerprints as bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import Fingerprint
from scrapy_simhash.page.fingerprint import (
    DOUBTFUL,
    FACTS_AT,
    MINHASH_BYTES,
    PART,
    UNKNOWN,
    WHOLE,
    UniqueText,
    compared_values,
    is_part,
    is_sketch,
    is_unique_text,
    sketch,
    sketch_length,
    unique_text_length,
    unique_value,
)
from scrapy_simhash.page.fingerprint.facts import NAME, STRUCTURED, packed, with_rows

#: The number of tokens of a longer text is rounded.
WHOLE_TOKENS = st.integers(0, 31) | st.integers(0, 9).map(lambda exponent: 21 << exponent)
REST = {"words": st.integers(0, 65_535), "whole": WHOLE_TOKENS, "text": st.integers(0, 2**40 - 1)}
UNIQUE_TEXTS = st.builds(
    UniqueText,
    st.sampled_from((UNKNOWN, WHOLE, DOUBTFUL)),
    st.integers(0, 65_535),
    st.just(0),
    st.just(b""),
    **REST,
) | st.builds(
    UniqueText,
    st.just(PART),
    st.integers(0, 65_535),
    st.integers(0, 2**64 - 1),
    st.binary(min_size=MINHASH_BYTES, max_size=MINHASH_BYTES),
    **REST,
)


@given(UNIQUE_TEXTS)
def test_from_bytes_inverts_to_bytes(own: UniqueText) -> None:
    data = own.to_bytes()
    assert UniqueText.from_bytes(data) == own
    assert 11 <= len(data) == unique_text_length(data[0]) <= 131
    assert is_unique_text(data)
    assert Fingerprint(1, own=data).own == data
    assert (is_part(data), unique_value(data)) == (own.kind == PART, own.value)


@given(UNIQUE_TEXTS, st.binary(min_size=1, max_size=9))
def test_bytes_of_another_length_are_not_unique_text(own: UniqueText, more: bytes) -> None:
    data = own.to_bytes()
    for wrong in (data + more, data[:-1], bytes([data[0] | 4]) + data[1:]):
        assert not is_unique_text(wrong)
        if wrong:
            with pytest.raises(ValueError, match="own must be empty or a unique text"):
                Fingerprint(1, own=wrong)


SKETCH = sketch(range(1, 2**64, 2**57), ["night", "pilots"])
#: Without facts, with some, and with the maximum.
SKETCHES = (
    SKETCH,
    SKETCH[:-1] + packed(7, {5: NAME}, [(1 << 60, 2 << 60)]),
    SKETCH[:-1] + with_rows(packed(7, dict.fromkeys(range(99), NAME)), [STRUCTURED] * 99),
)


@given(st.sampled_from(SKETCHES), st.binary(max_size=300))
def test_a_sketch_contains_its_length(of_page: bytes, rest: bytes) -> None:
    assert is_sketch(of_page)
    assert FACTS_AT < len(of_page) <= 256
    assert sketch_length(of_page + rest) == sketch_length(b"value" + of_page + rest, 5) == len(of_page)
    assert sketch_length(rest, len(rest)) == 0
    for cut in (0, MINHASH_BYTES, FACTS_AT - 1):
        assert not is_sketch(of_page[: cut + 1])
        with pytest.raises(IndexError):
            sketch_length(of_page[: cut + 1])


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.sampled_from([b"", *SKETCHES]))
def test_bytes_contain_the_whole_fingerprint(value: int, features: int, of_page: bytes) -> None:
    written = Fingerprint(value, features, of_page).to_bytes()
    read = Fingerprint.from_bytes(written)
    assert (read.value, read.features, read.sketch) == (value, features, of_page)
    assert len(written) == 12 + len(of_page)
    assert written[:12] == value.to_bytes(8, "big") + features.to_bytes(4, "big")


@given(st.integers(0, 2**64 - 1), st.sampled_from([b"", *SKETCHES]), UNIQUE_TEXTS)
def test_compared_bytes_survive_a_round_trip(value: int, of_page: bytes, own: UniqueText) -> None:
    data = Fingerprint(value, 7, of_page, own.to_bytes()).compared_bytes()
    found = Fingerprint.from_compared_bytes(data)
    expected = (of_page, own.to_bytes()) if of_page else (b"", b"")
    assert (found.value, found.features, found.sketch, found.own) == (value, 0, *expected)
    is_searched = of_page and own.kind == PART and own.value
    assert compared_values(data) == ((value, own.value) if is_searched else (value,))
    for length in (7, 9, 8 + FACTS_AT) if of_page else (7,):
        with pytest.raises(ValueError, match=f"no fingerprint has {length} bytes"):
            Fingerprint.from_compared_bytes(data[:length])


def test_stored_bytes_do_not_change() -> None:
    part = UniqueText(PART, 700, 5, b"m" * MINHASH_BYTES, 3, 1234, 77).to_bytes()
    assert part.hex() == f"0202bc730003000000004d0000000000000005{'6d' * MINHASH_BYTES}"
    doubtful = UniqueText(DOUBTFUL, 70_000, 0, b"", 3, 17, 2**40 - 1)
    assert doubtful.to_bytes().hex() == "03ffff110003ffffffffff"
