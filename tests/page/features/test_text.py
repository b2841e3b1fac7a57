from __future__ import annotations

import pytest

from scrapy_simhash.page.features import says_something, whole_text
from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.text import Document, Paragraph


def document(title: str, *parts: str) -> Document:
    paragraphs = tuple(
        Paragraph(
            part,
            tuple(tokenize(normalize(part))),
            "body",
            "p",
            0.0,
            0.0,
            "chrome" if "Home" in part else None,
        )
        for part in parts
    )
    return Document(title, None, (), paragraphs)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (document("", ""), "\n"),
        (document("The Loft!", "Home | News", "In the rain,", "", "at 12:30."), "the loft\nin the rain at 12 30"),
        (document("Cafe\u0301 \ufb01ve", "\u8fd1\u4f3c\u7f51"), "caf\u00e9 five\n\u8fd1\u4f3c \u4f3c\u7f51"),
        (document("\n \n", "a\nb"), "\na b"),
    ],
)  # fmt: skip
def test_the_whole_text_is_the_words_of_title_and_main_text_a_line_each(
    page: Document, expected: str
) -> None:
    assert whole_text(page) == expected


@pytest.mark.parametrize(
    ("parts", "answer"),
    [((), False), (("Two words",), False), (("Home of three",), False), (("Two words", "and one"), True)],
)
def test_three_words_of_main_text_say_something(parts: tuple[str, ...], answer: bool) -> None:
    assert says_something(document("A title of many words", *parts)) is answer
