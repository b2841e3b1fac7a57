from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fuzz.compare import FINGERPRINTERS, bits, text_differences
from scrapy_simhash import Config, PageFingerprinter
from scrapy_simhash.page.text import plain_text
from tests.examples import examples
from tests.page.compiled.strategies import LANGUAGES, PLAIN_TEXT


@settings(max_examples=examples(200))
@given(PLAIN_TEXT, LANGUAGES)
@example("", None)
@example("\n\n", "en")
@example("a\n\nb\n \n c\r\n\r\nd\x0b\x0ce\x1c\x1df\x85g", None)
@example("\x00 a\x00b \x00", None)
def test_any_text_has_the_fingerprint_and_the_sketch_that_pure_python_gives_it(
    text: str, language: str | None
) -> None:
    assert text_differences(text, language) == []


@pytest.mark.parametrize(
    "text",
    [
        "x" * 300_000,
        "\u00e9" * 500_000,
        "\u8fd1" * 300_000,
        "a" + "\u0301" * 300_000,
        "the sea " * 100_000,  # counts beyond the weights that are known beforehand
        "a " * 200_000,
        "0 1 2 3 " * 20_000,
        "\u0e01\u0e34 " * 50_000,
        " \u00a0\u3000" * 100_000,
        "\n" * 500_000,
        "one\n\n" * 5_000,
    ],
    ids=lambda text: f"{text[:8]!r}, {len(text):,} characters",
)
def test_long_texts_of_few_different_parts(text: str) -> None:
    assert text_differences(text, None, FINGERPRINTERS[:3]) == []


def differ(texts: list[str], language: str | None) -> bool:
    page = PageFingerprinter(Config(min_shingles=1))
    pure = [page.from_document(plain_text(text, language)) for text in texts]
    return list(map(bits, page.from_texts(texts, language))) != list(map(bits, pure))


@settings(max_examples=examples(60))
@given(st.lists(PLAIN_TEXT, max_size=6), LANGUAGES)
def test_many_texts_at_once_are_what_they_are_one_by_one(texts: list[str], language: str | None) -> None:
    assert not differ(texts, language)


def test_many_texts_of_which_one_is_left_to_pure_python_keep_their_order() -> None:
    texts = ["the sea is calm", "", "one \ud800 two", "the fog " * 20_000, "near to the bay"]
    assert not differ(texts, None)
    assert not differ(texts[::-1], "en")


class Marked(str):
    """What templates and selectors call a string."""

    __slots__ = ()


def test_a_string_of_a_subclass_is_a_string() -> None:
    text = "The ship that went out to the sea came home with the tide. " * 4
    page = PageFingerprinter()
    assert page.from_text(Marked(text)) == page.from_text(text)
    assert page.from_text(text, Marked("en")) == page.from_text(text, "en")
    assert page.from_texts([Marked(text)]) == [page.from_text(text)]
