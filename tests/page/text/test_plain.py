from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.page.text import plain_text


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        ("", []),
        (" \n\n\t\n ", []),
        ("One line.", ["One line."]),
        ("One\nline.", ["One line."]),
        ("One.\n\nTwo.", ["One.", "Two."]),
        ("One.\n \t\n\n\nTwo.\n\n", ["One.", "Two."]),
        ("One.\r\n\r\nTwo.\r\nStill two.", ["One.", "Two. Still two."]),
        ("  a \u00a0 b  ", ["a b"]),
        ("<p>No markup</p>", ["<p>No markup</p>"]),
    ],
)
def test_empty_lines_part_paragraphs(text: str, paragraphs: list[str]) -> None:
    assert [paragraph.text for paragraph in plain_text(text).paragraphs] == paragraphs


@given(st.text(st.sampled_from("ab \n\té漢\ud800")))
def test_all_of_the_text_is_main_text(text: str) -> None:
    document = plain_text(text)
    assert document.main == document.paragraphs
    assert "".join(document.text.split()) == "".join(text.split())
    assert document.title == ""


@pytest.mark.parametrize(
    ("language", "expected"),
    [(None, "en"), ("de", "de"), ("xx", "xx")],  # what the caller says is not questioned
)
def test_the_words_tell_the_language_unless_the_caller_does(language: str | None, expected: str) -> None:
    text = "It was not the lamp that had gone out but the wind, and all of us were glad of it."
    assert plain_text(text, language).language == expected
