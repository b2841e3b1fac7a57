"""Pages distinguished by data in scripts or attributes."""

from __future__ import annotations

import json

import pytest

from scrapy_simhash import NearDuplicateDetector
from scrapy_simhash.page.interstitial import MIN_WORDS, data_of
from scrapy_simhash.page.text import extract, parse

PLEA = (
    "<noscript>You need to enable JavaScript to run this app. Please switch it on in the settings of your browser,"
    " and load the page once more.</noscript>"
)
LINES = "<p>The map shows the place that was chosen. It is moved with the mouse, and made larger with the wheel.</p>"
NAMES = (
    "harbour lantern meadow quarry ferry orchard chapel tower mill bridge canal market station forest clinic"
)


def text(number: int) -> str:
    """Return 45 words that depend on the number."""
    return " ".join(f"{name}{letter}{'abcdefghij'[number]}" for name in NAMES.split() for letter in "xyz")


def script(number: int, kind: str = "application/json", more: str = "") -> str:
    return f'<script type="{kind}">{more}{json.dumps({"name": text(number), "lines": [text(number)] * 2})}</script>'


@pytest.mark.parametrize(
    "form",
    [
        lambda number: script(number) + PLEA,
        lambda number: script(number, "text/javascript", "window.__DATA__ = ") + PLEA,
        lambda number: script(number, "", "var state=") + PLEA,
        lambda number: f'<div data-place="{text(number)}" data-text="{text(number)}"></div>{LINES}',
    ],
)
def test_pages_with_different_data_are_not_copies_and_those_with_equal_data_are(form: object) -> None:
    assert callable(form)
    detector = NearDuplicateDetector()
    pages = [f"<html lang=en><title>App</title><body><div id=app></div>{form(n)}" for n in (0, 1, 2, 0)]
    verdicts = [detector.check(page, f"https://example.com/{place}") for place, page in enumerate(pages)]
    assert [verdict.duplicate_of for verdict in verdicts] == [None, None, None, "https://example.com/0"]


@pytest.mark.parametrize(
    "html",
    [
        "",
        PLEA,
        script(0, "application/ld+json"),
        f'<script>load("{text(0)}")</script>',
        f'<div data-toggle="{"a " * MIN_WORDS}"></div>',
        # The visible text is longer than the data.
        f"<p>{text(1)} {text(2)} {text(3)}</p>{script(0)}",
        f"<ul>{''.join(f'<li><a href=/{n}>{text(n)}</a>' for n in range(9))}</ul>{script(0)}",
        # Numbers change between visits.
        '<script type="application/json">' + json.dumps(list(range(1_000))) + "</script>",
        '<script type="application/json"></script><!-- --><?pi?>',
    ],
)
def test_other_scripts_and_attributes_are_not_data(html: str) -> None:
    root = parse(f"<body>{html}")
    shown = sum(len(part.tokens) for part in extract(root).paragraphs)
    assert data_of(root, shown).rows == ()
