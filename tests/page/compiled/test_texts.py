from __future__ import annotations

import pytest
from hypothesis import example, given, settings

from fuzz.compare import FINGERPRINTERS, text_differences
from scrapy_simhash import PageFingerprinter
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


def test_a_text_with_a_lone_surrogate_is_left_to_pure_python() -> None:
    assert text_differences("one \ud800 two three", None) == []


class Marked(str):
    """What templates and selectors call a string."""

    __slots__ = ()


def test_a_string_of_a_subclass_is_a_string() -> None:
    text = "The ship that went out to the sea came home with the tide. " * 4
    page = PageFingerprinter()
    assert page.from_text(Marked(text)) == page.from_text(text)
    assert page.from_text(text, Marked("en")) == page.from_text(text, "en")
