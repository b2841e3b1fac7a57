from __future__ import annotations

from typing import Any

import pytest

from scrapy_simhash.judge.hints import Hints, evidence

URL = "https://example.com/print/ferry"
ORIGINAL = "https://example.com/boats/ferry"


def found(
    canonical: str | None = None,
    alternates: tuple[tuple[str, str], ...] = (),
    url: str = URL,
    redirects: tuple[str, ...] = (),
) -> tuple[str, ...]:
    return evidence(Hints(url, canonical, alternates), url, ORIGINAL, redirects)


@pytest.mark.parametrize(
    ("said", "evident"),
    [
        ({}, ()),
        ({"canonical": ORIGINAL}, ("canonical",)),
        ({"canonical": "http://www.example.com/boats/ferry/"}, ("canonical",)),
        ({"url": "http://www.example.com/boats/ferry/?utm_source=mail"}, ("address",)),
        ({"redirects": ("http://example.com/boats/ferry", "https://example.com/a")}, ("redirect",)),
        # A URL is not its own translation.
        ({"alternates": (("de", ORIGINAL),), "url": ORIGINAL + "/"}, ("address",)),
    ],
)
def test_hints_about_the_original_are_evidence(said: dict[str, Any], evident: tuple[str, ...]) -> None:
    assert found(**said) == evident


@pytest.mark.parametrize(
    ("alternates", "expected"),
    [
        ((("en", URL), ("de", ORIGINAL)), True),
        ((("de", ORIGINAL),), True),  # many pages do not list themselves
        ((("en", URL), ("en", ORIGINAL)), False),
        ((("en", URL), ("de", "https://example.com/de")), False),
        # x-default may be the same page
        ((("en", URL), ("x-default", ORIGINAL)), False),
    ],
)
def test_a_translation_of_the_original_is_protected(
    alternates: tuple[tuple[str, str], ...], expected: bool
) -> None:
    assert found(alternates=alternates) == (("hreflang",) if expected else ())
