from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from scrapy_simhash.page.text import Document, Paragraph


def paragraph(text: str, boilerplate: str | None = None) -> Paragraph:
    return Paragraph(text, tuple(text.split()), "body", "html/body/p", 0.0, 0.5, boilerplate)


DOCUMENT = Document("T", "en", (), (paragraph("one two"), paragraph("menu", "chrome"), paragraph("three")))


def test_the_main_text_is_what_is_no_boilerplate_in_order() -> None:
    assert [part.text for part in DOCUMENT.main] == ["one two", "three"]
    assert DOCUMENT.text == "one two\nthree"


def test_a_document_of_nothing_has_an_empty_text() -> None:
    assert Document("", None, (), ()).text == ""
    assert Document("", None, (), (paragraph("menu", "chrome"),)).text == ""


def test_the_length_of_a_paragraph_is_in_characters() -> None:
    assert paragraph("naïve 漢字").length == 8


def test_documents_are_values() -> None:
    assert Document("T", "en", (), DOCUMENT.paragraphs) == DOCUMENT
    assert len({DOCUMENT, Document("T", "en", (), DOCUMENT.paragraphs)}) == 1
    assert Document("T", "en", ("t",), DOCUMENT.paragraphs) != DOCUMENT
    with pytest.raises(FrozenInstanceError):
        DOCUMENT.title = "U"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        DOCUMENT.paragraphs[0].text = "U"  # type: ignore[misc]
