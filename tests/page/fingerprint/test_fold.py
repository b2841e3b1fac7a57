from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.page.fingerprint import TIE_MASK, fold, leads

ALL_ONES = 2**64 - 1
Weighted = list[tuple[bytes, int]]


def naive_fold(weighted: Weighted) -> int:
    """The definition, one bit at a time."""
    value = 0
    for bit in range(64):
        votes = Fraction(0)
        for digest, weight in weighted:
            has_bit = int.from_bytes(digest, "big") >> bit & 1
            votes += weight if has_bit else -weight
        if votes > 0 or (votes == 0 and TIE_MASK >> bit & 1):
            value |= 1 << bit
    return value


digests = st.binary(min_size=8, max_size=8)
weights = st.integers(1, 5) | st.integers(1, 2**70)
weighted = st.lists(st.tuples(digests, weights), min_size=1, max_size=30)


@given(weighted)
def test_every_bit_is_the_vote_of_the_naive_version(pairs: Weighted) -> None:
    assert fold(pairs) == naive_fold(pairs)


def test_a_long_text_with_many_weights_is_folded_as_the_naive_version_does() -> None:
    draw = random.Random(64)
    pairs = [(draw.randbytes(8), draw.choice([64, 108, 135, 211, 10**12])) for _ in range(3_000)]
    assert fold(pairs) == naive_fold(pairs)


@given(weighted, st.randoms())
def test_the_order_is_irrelevant(pairs: Weighted, draw: random.Random) -> None:
    shuffled = list(pairs)
    draw.shuffle(shuffled)
    assert fold(shuffled) == fold(pairs)


@given(weighted, st.integers(1, 2**40))
def test_a_common_factor_of_the_weights_is_irrelevant(pairs: Weighted, factor: int) -> None:
    assert fold([(digest, weight * factor) for digest, weight in pairs]) == fold(pairs)


@given(weighted, digests, st.integers(1, 100), st.integers(1, 100))
def test_a_weight_can_be_given_in_parts(pairs: Weighted, digest: bytes, one: int, other: int) -> None:
    assert fold([*pairs, (digest, one), (digest, other)]) == fold([*pairs, (digest, one + other)])


@given(digests, weights)
def test_a_single_digest_is_its_own_fingerprint(digest: bytes, weight: int) -> None:
    assert fold([(digest, weight)]) == int.from_bytes(digest, "big")


@given(digests, weights)
def test_a_digest_and_its_opposite_tie_in_every_bit(digest: bytes, weight: int) -> None:
    opposite = bytes(255 - byte for byte in digest)
    assert fold([(digest, weight), (opposite, weight)]) == TIE_MASK


@given(weighted, digests)
def test_a_digest_that_outweighs_all_others_decides(pairs: Weighted, digest: bytes) -> None:
    total = sum(weight for _, weight in pairs)
    assert fold([*pairs, (digest, total + 1)]) == int.from_bytes(digest, "big")


def test_the_first_byte_is_the_most_significant() -> None:
    assert fold([(b"\x80" + b"\0" * 7, 1)]) == 1 << 63
    assert fold([(b"\0" * 7 + b"\x01", 1)]) == 1


def test_the_tie_mask_is_the_fraction_of_pi_and_favours_neither() -> None:
    # Machin's formula, in integers with room for the rounding.
    one = 1 << 128

    def arctan_of_one_over(n: int) -> int:
        term, total, k = one // n, 0, 1
        while term:
            total += term // k if k % 4 == 1 else -(term // k)
            term //= n * n
            k += 2
        return total

    pi = 4 * (4 * arctan_of_one_over(5) - arctan_of_one_over(239))
    assert (pi - 3 * one) >> 64 == TIE_MASK
    assert 24 <= TIE_MASK.bit_count() <= 40


def test_any_iterable_will_do_and_is_read_once() -> None:
    assert fold(iter([(b"\xff" * 8, 3), (b"\0" * 8, 2)])) == ALL_ONES


def test_nothing_has_no_fingerprint() -> None:
    with pytest.raises(ValueError, match="a fingerprint needs at least one feature"):
        fold([])


@pytest.mark.parametrize("length", [0, 1, 7, 9, 16])
def test_a_digest_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match=f"a digest must have 8 bytes, got {length}"):
        fold([(b"\0" * 8, 1), (b"\0" * length, 1)])


@given(st.lists(st.tuples(st.binary(min_size=8, max_size=8), st.integers(1, 999)), min_size=1))
def test_a_bit_is_set_where_those_that_have_it_lead(features: list[tuple[bytes, int]]) -> None:
    value = fold(features)
    for bit, lead in enumerate(leads(features)):
        mask = 1 << bit
        assert lead == sum(
            weight if int.from_bytes(digest, "big") & mask else -weight for digest, weight in features
        )
        assert bool(value & mask) is (lead > 0 or (lead == 0 and bool(TIE_MASK & mask)))
