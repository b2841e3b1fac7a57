"""Markup in a field."""

import pytest

from scrapy_simhash.crawl.items import without_markup


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>One.</p><p>Two.</p>", "One. Two."),
        # A script element that is never closed is kept.
        ("<p>seen<script>alert(1)", "seen alert(1)"),
        ("<p", "<p"),
    ],
)
def test_html_becomes_visible_text(text: str, expected: str) -> None:
    assert " ".join(without_markup(text).split()) == expected


@pytest.mark.parametrize(
    "text",
    ["a < b and b > c", "x<y>z", "if (a<b||c>d)", "Fish &amp; chips", "<3 <3 <3", "List<String> a", "<pre5>"],
)
def test_text_that_looks_like_html_is_unchanged(text: str) -> None:
    assert without_markup(text) == text


@pytest.mark.parametrize("piece", ["<p", "<script>", "<!--", "<p <", "</", "<a href='"])
def test_markup_is_removed_in_linear_time(piece: str) -> None:
    # Any of these would take hours if each start was followed to the end of the text.
    text = "<p>" + piece * 200_000
    assert len(without_markup(text)) <= len(text)
