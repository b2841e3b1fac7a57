from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from scrapy_simhash.page.fingerprint import digest, number


@pytest.mark.parametrize(
    ("feature", "expected"),
    [
        # XXH3_64bits with seed 0, as the xxhsum program prints them.
        ("", "2d06800538d394c2"),
        ("a", "e6c632b61e964e1f"),
        ("abc", "78af5f94892f3950"),
        ("the sea is", "e1f29f16c0725867"),
        ("近似 网页", "b3b5b437451bcf76"),
    ],
)
def test_a_digest_is_xxh3_of_the_utf8_form_big_endian(feature: str, expected: str) -> None:
    assert digest(feature).hex() == expected


@given(st.text())
def test_a_digest_has_eight_bytes_and_is_the_number_of_the_specification(feature: str) -> None:
    found = digest(feature)
    assert len(found) == 8
    assert int.from_bytes(found, "big") == xxh3_64_intdigest(feature.encode("utf-8", "replace"), seed=0)


@given(st.text())
def test_the_number_of_a_feature_is_its_digest(feature: str) -> None:
    assert number(feature).to_bytes(8, "big") == digest(feature)


def test_a_lone_surrogate_counts_as_a_question_mark() -> None:
    assert digest("a\ud800 b") == digest("a? b")
