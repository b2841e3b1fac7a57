from __future__ import annotations

import re
import sys
import unicodedata

import pytest

from scrapy_simhash.page.language.tokens import INVISIBLE, MARKS, PLAIN, UNSPACED

CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1)]
# Counted from the Unicode Character Database 13.0, which Python 3.10 has.
MARKS_OF_UNICODE_13 = 2295


def members(character_class: str) -> set[str]:
    return set(re.findall(f"[{character_class}]", "".join(CHARACTERS)))


@pytest.fixture(scope="module")
def combining() -> set[str]:
    return {char for char in CHARACTERS if unicodedata.category(char).startswith("M")}


def test_every_combining_mark_of_unicode_13_is_in_a_table(combining: set[str]) -> None:
    listed = combining & (members(MARKS) | members(INVISIBLE) | members(UNSPACED))
    assert len(listed) == MARKS_OF_UNICODE_13
    if unicodedata.unidata_version == "13.0.0":
        assert listed == combining


def test_marks_holds_combining_marks_only_and_none_that_is_invisible(combining: set[str]) -> None:
    assert members(MARKS) <= combining
    assert members(MARKS).isdisjoint(members(INVISIBLE))


def test_what_is_plain_is_no_mark_and_of_no_unspaced_script() -> None:
    assert members(PLAIN).isdisjoint(members(MARKS) | members(UNSPACED))


def test_what_is_invisible_is_no_letter_and_no_digit() -> None:
    categories = {unicodedata.category(char) for char in members(INVISIBLE)}
    assert categories <= {"Cf", "Mn", "Cn"}  # format, variation selectors, room for more of them


# Soft hyphen, zero width space, non-joiner and joiner, marks of direction, word joiner, isolate, variation selector,
# byte order mark, tag of a flag.
@pytest.mark.parametrize("char", "\u00ad\u200b\u200c\u200d\u200e\u2060\u2066\ufe0f\ufeff\U000e0067")
def test_what_is_drawn_as_nothing_is_invisible(char: str) -> None:
    assert char in members(INVISIBLE)


def test_unspaced_holds_the_letters_of_scripts_without_spaces_and_of_no_other() -> None:
    scripts = (
        "BOPOMOFO CJK HANGZHOU HENTAIGANA HIRAGANA IDEOGRAPHIC KANGXI KATAKANA KATAKANA-HIRAGANA KHMER LAO"
        " MYANMAR THAI VERTICAL"
    )
    first_words = {unicodedata.name(char, "UNASSIGNED").split()[0] for char in members(UNSPACED)}
    assert first_words == set(scripts.split()) | {"UNASSIGNED"}
    assert {unicodedata.category(char)[0] for char in members(UNSPACED)} <= set("LMNSC")


@pytest.mark.parametrize("char", "漢々〇ひカーก็ลາမြាㄅ㐀\U00020000\U00030000")
def test_a_character_of_an_unspaced_script_is_unspaced(char: str) -> None:
    assert char in members(UNSPACED)


@pytest.mark.parametrize("char", "aß9абאبकক한가ༀ๑、。・")
def test_other_scripts_digits_and_punctuation_are_spaced(char: str) -> None:
    assert char not in members(UNSPACED)
