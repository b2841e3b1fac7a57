"""Feature hashes against what their authors have published, and against the documents' code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.page.schemes import (
    FNV1,
    FNV1_UTF16,
    FNV1A,
    FNV1A_LONG,
    FNV1A_SHORT,
    GB2312,
    JAVA,
    JENKINS,
    XXH3,
    XXH3_LONG,
    FeatureHash,
)
from scrapy_simhash.page.schemes.hashes import BASE, HANZI, character_code, lookup3
from tests.page.schemes import sources

ALL = (FNV1, FNV1_UTF16, FNV1A, FNV1A_LONG, FNV1A_SHORT, GB2312, JAVA, JENKINS, XXH3, XXH3_LONG)
SENTENCE = "Four score and seven years ago"


@pytest.mark.parametrize(
    ("feature_hash", "feature", "value"),
    [
        # The test vectors of the FNV distribution.
        (FNV1, "", 0xCBF29CE484222325),
        (FNV1, "a", 0xAF63BD4C8601B7BE),
        (FNV1, "foobar", 0x340D8765A4DDA9C2),
        (FNV1A, "", 0xCBF29CE484222325),
        (FNV1A, "a", 0xAF63DC4C8601EC8C),
        (FNV1A, "foobar", 0x85944171F73967E8),
        (FNV1A_SHORT, "", 0x811C9DC5),
        (FNV1A_SHORT, "foobar", 0xBF9CF968),
        (FNV1A_LONG, "", 0x6C62272E07BB014262B821756295C58D),
        (FNV1A_LONG, "foobar", 0x343E1662793C64BF6F0D3597BA446F18),
        # The specification of XXH3, seed 0.
        (XXH3, "", 0x2D06800538D394C2),
        (XXH3_LONG, "", 0x99AA06D3014798D86001C324468D497F),
        # What Java prints, without a sign.
        (JAVA, "", 0),
        (JAVA, "hello", 99162322),
        (JAVA, "polygenelubricants", 0x80000000),
        (JAVA, "😀", 55357 * 31 + 56832),
    ],
)
def test_a_hash_has_the_published_value(feature_hash: FeatureHash, feature: str, value: int) -> None:
    assert feature_hash.of(feature) == value


@pytest.mark.parametrize(
    ("data", "seeds", "halves"),
    [
        # driver5 of lookup3.c prints these.
        (b"", (0, 0), (0xDEADBEEF, 0xDEADBEEF)),
        (b"", (0, 0xDEADBEEF), (0xBD5B7DDE, 0xDEADBEEF)),
        (b"", (0xDEADBEEF, 0xDEADBEEF), (0x9C093CCD, 0xBD5B7DDE)),
        (SENTENCE.encode(), (0, 0), (0x17770551, 0xCE7226E6)),
        (SENTENCE.encode(), (0, 1), (0xE3607CAE, 0xBD371DE4)),
        (SENTENCE.encode(), (1, 0), (0xCD628161, 0x6CBEA4B3)),
    ],
)
def test_jenkins_is_lookup3(data: bytes, seeds: tuple[int, int], halves: tuple[int, int]) -> None:
    assert lookup3(data, *seeds) == halves


@given(st.text())
def test_fnv_over_utf16_is_that_of_the_java_class(word: str) -> None:
    assert FNV1_UTF16.of(word) == sources.fnv1_of_the_java_class(word)


# --- The slides.


@pytest.mark.parametrize(
    ("character", "code"),
    [
        ("啊", 0),  # The first hanzi,
        ("齄", HANZI - 1),  # and the last one.
        ("\t", HANZI),
        ("~", BASE),  # The last of ASCII is one more than the base has digits.
        ("　", (161 - 176) * 94),  # Full-width signs stand before the hanzi.
        ("€", HANZI + ord("?") - 9),  # Not in GB2312.
    ],
)
def test_a_character_of_the_slides_is_its_place_in_gb2312(character: str, code: int) -> None:
    assert character_code(character) == code == sources.slides_code(character)


def test_a_word_is_a_number_that_is_repeated() -> None:
    code = character_code("雾")
    # 13 bits: one copy and five more fill 64 bits and overflow by 14.
    assert GB2312.of("雾") == sum(code << 13 * place for place in range(6)) & sources.MASK
    five = "今日雾很大"
    number = 0
    for character in five:
        number = number * BASE + character_code(character)
    # 65 bits: Java shifts by one bit.
    assert GB2312.of(five) == 3 * number & sources.MASK


@given(st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), min_size=1, max_size=12))
def test_the_hash_of_a_word_is_that_of_the_slides(word: str) -> None:
    assert GB2312.of(word) == sources.slides_string(word)


def test_an_empty_string_has_the_hash_0_where_the_slides_would_fail() -> None:
    assert GB2312.of("") == 0


@pytest.mark.parametrize("feature_hash", ALL, ids=lambda one: one.name)
def test_a_hash_stays_within_its_bits_for_any_string(feature_hash: FeatureHash) -> None:
    for feature in ("", "a", "雾", "😀", "a lone \ud800", "x" * 1_000):
        assert 0 <= feature_hash.of(feature) < 1 << feature_hash.bits
