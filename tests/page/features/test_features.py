from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.page.features import features, shingle, shingle_counts, weight
from scrapy_simhash.page.language import normalize, stopwords, tokenize
from scrapy_simhash.page.text import Document, Paragraph
from scrapy_simhash.page.text.document import Zone

ENGLISH = (
    "The keeper said that it was not the lamp but the wind, and all of us were glad to hear it from him.",
    "In the morning the boats went out past the rocks, and nobody on the quay knew when they would be back.",
    "Tin cups, blue rope, cork floats, lamp oil.",
)


def paragraph(text: str, zone: Zone = "body", boilerplate: str | None = None) -> Paragraph:
    return Paragraph(text, tuple(tokenize(normalize(text))), zone, "html/body/p", 0.0, 0.0, boilerplate)


def document(*paragraphs: str | Paragraph, language: str | None = "en", title: str = "") -> Document:
    parts = (part if isinstance(part, Paragraph) else paragraph(part) for part in paragraphs)
    return Document(title, language, (), tuple(parts))


def shingles(found: Document, size: int = 2) -> set[str]:
    return {feature for part in found.main for feature in shingle(part.tokens, size)}


def words(found: Document) -> set[str]:
    return {token for part in found.main for token in part.tokens}


def test_prose_is_told_by_its_shingles_with_a_stopword_and_its_words() -> None:
    found = document(*ENGLISH)
    known = stopwords("en")
    expected = {feature for feature in shingles(found) if not known.isdisjoint(feature.split())}
    assert set(features(found)) == expected | words(found)
    assert 12 <= len(expected) < len(shingles(found))


def test_where_that_leaves_too_few_all_shingles_count() -> None:
    names = document("tin cups blue rope cork floats lamp oil red paint iron nails pine planks salt fish")
    assert set(features(names)) == shingles(names) | words(names)
    mixed = document("the lamp", "tin cups blue rope cork floats lamp oil red paint iron nails pine planks")
    assert set(features(mixed)) == shingles(mixed) | words(mixed)


@pytest.mark.parametrize("language", ["zh", "ja", "xx", None])
def test_in_a_language_without_a_list_all_shingles_count(language: str | None) -> None:
    found = document(*ENGLISH, language=language)
    assert set(features(found)) == shingles(found) | words(found)


def test_on_a_page_that_makes_an_offer_all_shingles_count_and_the_offer_counts_more() -> None:
    name, price = paragraph("A storm lantern in brass", "offer"), paragraph("£84.00", "offer")
    found = document(name, price, *ENGLISH)
    weights = features(found)
    assert set(weights) == shingles(found) | words(found)
    assert weights["storm lantern"] == weight("offer", 1) > weight("body", 1) == weights["lamp oil"]
    assert weights["lantern"] == weight("offer", 1, is_word=True) > weight("body", 1, is_word=True)


def test_a_shingle_repeated_is_one_shingle() -> None:
    assert features(document(*["the sea"] * 100), min_shingles=2) == {}
    assert features(document(*["the sea"] * 100), min_shingles=1) == {
        "the sea": weight("body", 100),
        "the": weight("body", 100, is_word=True),
        "sea": weight("body", 100, is_word=True),
    }


def test_the_same_shingle_in_two_zones_has_the_weight_of_both() -> None:
    found = document(paragraph("storm lantern", "offer"), paragraph("storm lantern"), paragraph("x"))
    expected = weight("offer", 1) + weight("body", 1)
    assert features(found, min_shingles=1)["storm lantern"] == expected
    of_word = weight("offer", 1, is_word=True) + weight("body", 1, is_word=True)
    assert features(found, min_shingles=1)["storm"] == of_word


def test_words_by_themselves_do_not_count_twice() -> None:
    alone = features(document("lamp", "oil", "lamp"), shingle_size=1, min_shingles=1)
    assert alone == {"lamp": weight("body", 2), "oil": weight("body", 1)}


def test_words_make_no_page_long_enough() -> None:
    found = document("one two three four", language=None)
    assert features(found, min_shingles=4) == {}
    assert len(features(found, min_shingles=3)) == 3 + 4


def test_no_shingle_reaches_over_the_end_of_a_paragraph() -> None:
    found = features(document("one two", "three four", language=None), min_shingles=1)
    assert set(found) == {"one two", "three four", "one", "two", "three", "four"}


def test_boilerplate_does_not_count() -> None:
    menu = paragraph("All of the boats and all of the stories", boilerplate="chrome")
    assert features(document(menu, *ENGLISH)) == features(document(*ENGLISH))
    assert features(document(menu, menu)) == {}


def test_the_title_does_not_count() -> None:
    assert features(document(*ENGLISH, title="The lamp and the wind")) == features(document(*ENGLISH))


lines = st.lists(st.sampled_from("the sea is cold a lamp and wind".split()), max_size=8).map(" ".join)


@given(st.lists(lines, max_size=6), lines)
def test_a_paragraph_put_first_changes_no_more_than_one_put_last(text: list[str], extra: str) -> None:
    assert features(document(extra, *text)) == features(document(*text, extra))


@given(st.lists(lines, max_size=6), st.integers(1, 4), st.integers(1, 20))
def test_features_are_shingles_and_words_of_the_text_with_positive_weights(
    text: list[str], size: int, least: int
) -> None:
    found = document(*text)
    weights = features(found, size, least)
    assert set(weights) <= shingles(found, size) | words(found)
    assert all(type(value) is int and value > 0 for value in weights.values())
    assert not weights or len(weights) >= least
    # When there is nothing, there was too little: never for another reason.
    assert bool(weights) == (len(shingles(found, size)) >= least)


# --- What a sketch is made of.


def test_all_shingles_of_the_main_text_are_counted_with_a_stopword_or_without() -> None:
    menu = paragraph("All of the boats", boilerplate="chrome")
    found = document(paragraph("the lamp", "heading"), "the lamp the lamp", "tin cups", menu)
    assert shingle_counts(found) == {"the lamp": 3, "lamp the": 1, "tin cups": 1}
    # A paragraph that is too short is one shingle.
    assert shingle_counts(found, 3) == {"the lamp": 1, "the lamp the": 1, "lamp the lamp": 1, "tin cups": 1}
    assert shingle_counts(document()) == {}


@given(st.lists(lines, max_size=6), st.integers(1, 4))
def test_the_counts_are_of_every_shingle_whatever_is_a_feature(text: list[str], size: int) -> None:
    counts = shingle_counts(document(*text), size)
    assert set(counts) == shingles(document(*text), size)
    assert counts.total() == sum(len(list(shingle(part.tokens, size))) for part in document(*text).main)


# --- Numbers that count as one.

TIDES = ("High tide on the 12 of May is at 04 30 and at 16 45.", "Low tide on the 12 of May is at 10 15.")
OTHER_TIDES = ("High tide on the 3 of May is at 11 05 and at 23 20.", "Low tide on the 3 of May is at 5 7.")


def test_with_masked_digits_all_numbers_are_one() -> None:
    one, other = document(*TIDES), document(*OTHER_TIDES)
    assert features(one) != features(other)
    assert features(one, mask_digits=True) == features(other, mask_digits=True) != {}
    assert shingle_counts(one) != shingle_counts(other)
    assert shingle_counts(one, mask_digits=True) == shingle_counts(other, mask_digits=True)
