from __future__ import annotations

from collections.abc import Collection

import pytest

from scrapy_simhash.config import PROTECTIONS
from scrapy_simhash.judge.hints import evidence, protections, read_hints
from scrapy_simhash.page.text import parse
from tests.judge.hints.pages import PROSE, lines, page

SITE = "https://example.com"
LISTING = lines(20)
CANONICAL = f'<link rel="canonical" href="{SITE}/original">'
GERMAN = f'<link rel="alternate" hreflang="de" href="{SITE}/original">'


def held(
    html: str,
    path: str = "/copy",
    original: str = "/original",
    *,
    redirects: Collection[str] = (),
    contradicts: bool = True,
) -> list[str]:
    root, url, first = parse(html), SITE + path, SITE + original
    hints = read_hints(root, url)
    found = evidence(hints, url, first, [SITE + redirect for redirect in redirects])
    return list(protections(root, url, first, hints, found, PROTECTIONS, contradicts))


OWN = f'<link rel="canonical" href="{SITE}/copy">'
CHAPTER = page(PROSE, '<link rel="next" href="/2.0/ch03"><link rel="prev" href="/2.0/ch01">')


@pytest.mark.parametrize(
    ("html", "path", "original", "protection"),
    [
        (page(PROSE * 20), "/copy", "/original", None),
        (page(PROSE, GERMAN), "/copy", "/original", "language"),
        (page(PROSE), "/boats?page=2", "/boats", "pagination"),
        # Links in the text can name the next page, too.
        (page(PROSE + '<a rel="next" href="/original">older</a>'), "/copy", "/original", "pagination"),
        (page(PROSE + '<a href="/x" rel="prev">x</a>'), "/copy", "/original", None),
        # A page of a manual links to the next chapter; the same chapter of another version is a copy.
        (CHAPTER, "/2.0/ch02", "/1.0/ch02", None),
        # Pages of a listing may have the same text and a wrong canonical URL.
        (page(PROSE, f'<link rel="canonical" href="{SITE}/boats">'), "/boats?page=2", "/boats", "pagination"),
        # One page of a listing at two URLs.
        (
            page(PROSE, '<link rel="next" href="?page=3">'),
            "/boats/?page=2",
            "/boats?page=2&utm_source=mail",
            None,
        ),
        # A listing always keeps its links.
        (page(LISTING), "/copy", "/original", "listing"),
    ],
)
def test_each_page_has_its_reason(html: str, path: str, original: str, protection: str | None) -> None:
    assert held(html, path, original, contradicts=False) == ([protection] if protection else [])


@pytest.mark.parametrize(
    ("head", "path", "redirects", "protection"),
    [
        ("", "/copy", [], ["facts"]),
        (OWN, "/copy", [], ["facts"]),
        # Evidence that both are the same page has priority.
        (CANONICAL, "/copy", [], []),
        ("", "/original/?utm_source=mail", [], []),
        ("", "/copy", ["/original"], []),
    ],
)
def test_a_page_that_contradicts_another_is_not_its_copy(
    head: str, path: str, redirects: list[str], protection: list[str]
) -> None:
    assert held(page(PROSE, head), path, redirects=redirects) == protection
    assert held(page(PROSE, head), path, redirects=redirects, contradicts=False) == []
