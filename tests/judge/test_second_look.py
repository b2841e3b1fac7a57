"""Contradictions of facts, compared with an implementation with sets."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_simhash.judge import rule
from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.judge.second_look import AGREED, OTHER_FACTS, OTHER_NAMES, contradiction
from scrapy_simhash.page.fingerprint import Fingerprint, sketch
from scrapy_simhash.page.fingerprint.facts import (
    ABOVE,
    LINE,
    NAME,
    NAME_IN_BOTH,
    NAME_IN_TEXT,
    NAME_IN_URL,
    NONE,
    NUMBERED,
    PLAIN,
    ROW,
    SIGNED,
    STRUCTURED,
    TITLE,
    TITLE_IN_URL,
    packed,
    with_rows,
)

OF_HEADING = {NAME, NAME_IN_URL, NAME_IN_TEXT, NAME_IN_BOTH}
IN_URL = {NAME_IN_URL, NAME_IN_BOTH, TITLE_IN_URL}


@dataclass(frozen=True)
class Stated:
    """Facts of a page: words with their kinds, and rows of label and value."""

    words: dict[int, int] = field(default_factory=dict)
    rows: dict[int, int] = field(default_factory=dict)
    things: dict[int, int] = field(default_factory=dict)
    """Rows of structured data."""
    host: int = 1

    def to_bytes(self) -> bytes:
        rows = [(label << 49, value << 48) for label, value in self.rows.items()]
        things = [STRUCTURED | label << 16 | value for label, value in self.things.items()]
        return with_rows(packed(self.host, self.words, rows), things)

    def lacking(self, other: Stated) -> set[int]:
        """Return the kinds of the words that *other* does not have."""
        return {kind for word, kind in self.words.items() if word not in other.words}


def naive(one: Stated, other: Stated) -> int:
    """Return whether two pages contradict each other, computed with sets."""
    mine, its = one.lacking(other), other.lacking(one)
    is_one_host = one.host == other.host or 0 in (one.host, other.host)
    names = OF_HEADING | {TITLE, TITLE_IN_URL}
    # On two hosts, words of headings count only if they are not in the sentences.
    compared = names if is_one_host else {NAME, NAME_IN_URL}
    if mine & compared and its & compared:
        return OTHER_NAMES
    is_longer = (mine & IN_URL and not its & names) or (its & IN_URL and not mine & names)
    if is_one_host and (is_longer or _differ(one.things, other.things)):
        return OTHER_NAMES
    if SIGNED in mine | its and not (mine | its) & names:
        return OTHER_NAMES
    if is_one_host and _differ(one.rows, other.rows):
        return OTHER_FACTS
    lines = [{LINE, NUMBERED}, {ROW}, {ABOVE}] if is_one_host else [{LINE}, {NUMBERED}, {ROW}]
    return OTHER_FACTS if any(mine & kinds and its & kinds for kinds in lines) else AGREED


def _differ(rows: dict[int, int], its_rows: dict[int, int]) -> bool:
    return any(its_rows.get(label, value) != value for label, value in rows.items())


FEW_ROWS = st.dictionaries(st.integers(1, 4), st.integers(0, 2), max_size=3)
PAGES = st.builds(
    Stated,
    st.dictionaries(st.integers(0, 6), st.integers(NAME, SIGNED), max_size=5),
    st.just({}) | FEW_ROWS,
    st.just({}) | FEW_ROWS,
    st.sampled_from([1, 1, 1, 0, 2]),
)


@given(PAGES, PAGES)
@example(Stated({2**20 - 1: NAME}), Stated({2**20 - 2: NAME}))
@example(Stated({1: NAME}), Stated({1: NAME, 2: NAME_IN_URL}))
@example(Stated({1: LINE}, host=255), Stated({2: LINE}, host=254))
@example(Stated({1: LINE}), Stated({2: NUMBERED}))
@example(Stated({1: NAME}), Stated({1: NAME, 2: SIGNED}))
def test_pages_contradict_each_other_as_sets_of_words_do(one: Stated, other: Stated) -> None:
    assert contradiction(one.to_bytes(), other.to_bytes()) == naive(one, other)


@given(PAGES)
def test_pages_without_facts_contradict_nothing(page: Stated) -> None:
    facts = page.to_bytes()
    assert contradiction(facts, NONE) == contradiction(NONE, facts) == contradiction(NONE, NONE) == AGREED
    # Words outside of facts do not contradict.
    plain = Stated(dict.fromkeys(page.words, PLAIN), page.rows, page.things, page.host)
    assert contradiction(plain.to_bytes(), facts) == AGREED


@pytest.mark.parametrize("is_native", [True, False])
@given(one=PAGES, other=PAGES)
def test_a_rule_finds_the_same_as_its_definition(is_native: bool, one: Stated, other: Stated) -> None:
    a, b = (
        Fingerprint(0, sketch=sketch(range(1, 2**64, 2**57), (), page.to_bytes())) for page in (one, other)
    )
    with pytest.MonkeyPatch.context() as patch:
        if not is_native:
            patch.setattr(rule, "_native_look", lambda *of: None)
        near = SimilarityRule().compare_all(a, [b.compared_bytes()])
    expected = naive(one, other)
    assert [found.contradicts for found in near] == ([] if expected == OTHER_NAMES else [expected > 0])


def test_a_page_with_two_labels_of_one_number_does_not_contradict_itself() -> None:
    facts = packed(1, {}, [(1 << 63, 1 << 48), (1 << 63 | 1, 2 << 48)])
    assert contradiction(facts, facts) == AGREED
