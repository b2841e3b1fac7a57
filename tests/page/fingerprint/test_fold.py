from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from scrapy_simhash.page.fingerprint import TIE_MASK, digest, fold, leads, number

WEIGHTED = st.lists(
    st.tuples(st.binary(min_size=8, max_size=8), st.integers(1, 5) | st.integers(1, 2**70)),
    min_size=1,
    max_size=30,
)


def check(features: list[tuple[bytes, int]]) -> None:
    """Compare with the definition, bit by bit."""
    value = fold(iter(features))
    for bit, lead in enumerate(leads(features)):
        mask = 1 << bit
        assert lead == sum(
            weight if int.from_bytes(digest, "big") & mask else -weight for digest, weight in features
        )
        assert bool(value & mask) is (lead > 0 or (lead == 0 and bool(TIE_MASK & mask)))


@given(WEIGHTED)
def test_a_bit_is_set_if_the_features_with_it_outweigh_the_others(features: list[tuple[bytes, int]]) -> None:
    check(features)
    # Ties, in every bit.
    check([*features, *((bytes(255 - byte for byte in digest), weight) for digest, weight in features)])


# --- The hash of a feature.


@given(st.text() | st.just("a\ud800 b"))
def test_a_digest_has_eight_bytes_and_equals_that_of_the_specification(feature: str) -> None:
    expected = xxh3_64_intdigest(feature.encode("utf-8", "replace"), seed=0)
    assert digest(feature) == expected.to_bytes(8, "big")
    assert number(feature) == expected
