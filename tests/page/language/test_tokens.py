from __future__ import annotations

import re
import sys
import unicodedata
from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.language.tokens import INVISIBLE, MARKS, MAX_MARKS, UNSPACED

IS_MARK = re.compile(f"[{MARKS}]").match
IS_UNSPACED = re.compile(f"[{UNSPACED}]").match

# Special cases of normalisation, case folding or word splitting.
odd = st.sampled_from(
    "aZ9 _-'’.\u0301\u0327\u0345ǅİıŉſßẞΐᾳϓΣςǰẚﬁ２Ａ①½²℃Å한각ᄒ漢字仮カｶﾞゞーกิ็ำកြ्क्षب\u064b\u00ad\u200d\ufe0f\ufeff"
)
anything = st.characters(exclude_categories=["Cn"])
# As lists, because a text strategy would rarely draw the special cases.
text = st.lists(odd | anything, max_size=30).map("".join)


def kind(char: str, before: str) -> str:
    if IS_MARK(char) and before != "other":
        return before  # a mark belongs to the character before it
    if IS_UNSPACED(char):
        return "unspaced"
    return "word" if IS_MARK(char) or unicodedata.category(char)[0] in "LN" else "other"


def naive_tokens(normalized: str) -> list[str]:
    """Split into runs, one character at a time."""
    kinds: list[str] = []
    for char in normalized:
        kinds.append(kind(char, kinds[-1] if kinds else "other"))
    tokens: list[str] = []
    for own, places in groupby(range(len(normalized)), key=kinds.__getitem__):
        run = "".join(normalized[place] for place in places)
        if own == "word" or (own == "unspaced" and len(run) == 1):
            tokens.append(run)
        elif own == "unspaced":
            tokens += [left + right for left, right in pairwise(run)]
    return tokens


@given(text)
def test_tokens_equal_those_of_the_naive_version(text: str) -> None:
    assert tokenize(normalize(text)) == naive_tokens(normalize(text))


def test_normalize_is_idempotent_on_every_character() -> None:
    changed = []
    for code in range(sys.maxunicode + 1):
        once = normalize(chr(code))
        if normalize(once) != once:
            changed.append(f"{code:X}")
    assert changed == []


@pytest.mark.parametrize(
    ("written", "compared"),
    [
        ("", ""),
        ("ＦＵＬＬ　ｗｉｄｔｈ１２", "full width12"),
        ("\u1100\u1161\u11a8", "\uac01"),  # Korean letters are composed to a syllable
    ],
)
def test_normalize_makes_texts_equal_that_look_equal(written: str, compared: str) -> None:
    assert normalize(written) == compared


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("— … !? 🚢 ©", []),
        ("l'été l’été", ["l", "été", "l", "été"]),
        ("a\u0301\u0323b", ["a\u0301\u0323b"]),  # marks that do not compose stay in the word
        ("好", ["好"]),
        ("北京", ["北京"]),
        ("a\ud800b", ["a", "b"]),  # a lone surrogate is not a letter
    ],
)
def test_tokens_of_many_scripts(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


@pytest.mark.parametrize("unit", ["\u0316", "\u0316\u0301", "\u0301\u200d"])
def test_only_the_first_thirty_marks_of_a_run_count(unit: str) -> None:
    run = unit * MAX_MARKS
    assert normalize("a" + run + unit) == normalize("a" + run[:MAX_MARKS])
    assert normalize("b" + "\u0316" * MAX_MARKS) == "b" + "\u0316" * MAX_MARKS
    assert normalize(f"x{run}{unit}e\u0301") == normalize(f"x{run[:MAX_MARKS]}é")


CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1)]
# The numbers in the Unicode Character Database 13.0, the version of Python 3.10.
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
