from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

import pytest
from lxml import etree

from scrapy_simhash.config import PROTECTIONS
from scrapy_simhash.judge.hints import evidence, protections, read_hints
from scrapy_simhash.page.text import extract, parse
from tests.judge.hints.pages import PROSE, lines, page

SITE = "https://example.com"
PRODUCT = '<script type="application/ld+json">{"@type": "Product"}</script>'
LISTING = lines(20)
CANONICAL = f'<link rel="canonical" href="{SITE}/original">'
GERMAN = f'<link rel="alternate" hreflang="de" href="{SITE}/original">'


def held(
    html: str,
    path: str = "/copy",
    original: str = "/original",
    *,
    wanted: Collection[str] = PROTECTIONS,
    redirects: Collection[str] = (),
) -> list[str]:
    root, url, first = parse(html), SITE + path, SITE + original
    hints = read_hints(root, url)
    found = evidence(hints, url, first, [SITE + redirect for redirect in redirects])
    return list(protections(root, url, first, hints, found, wanted, partial(extract, root)))


def test_a_story_has_none() -> None:
    assert held(page(PROSE * 20)) == []


def test_each_has_its_reason() -> None:
    assert held(page(PROSE, GERMAN)) == ["language"]
    assert held(page(PROSE), "/boats?page=2", "/boats") == ["pagination"]
    assert held(page(PROSE, PRODUCT)) == ["product"]
    assert held(page(LISTING)) == ["listing"]


def test_the_cheapest_comes_first_and_all_come() -> None:
    everything = page(LISTING, GERMAN + PRODUCT + '<link rel="next" href="/original">')
    assert held(everything) == ["language", "pagination", "product", "listing"]


@pytest.mark.parametrize("name", sorted(set(PROTECTIONS) - {"start"}))
def test_only_what_is_wanted_is_looked_at(name: str) -> None:
    everything = page(LISTING, GERMAN + PRODUCT + '<link rel="next" href="/original">')
    assert held(everything, wanted=[name]) == [name]
    assert held(everything, wanted=()) == []


def test_nobody_looks_further_than_asked() -> None:
    class Unread(etree.ElementBase):
        def iter(self, *tags: object, **more: object) -> Iterator[etree._Element]:  # type: ignore[override]
            raise AssertionError("the page was read")

    root = Unread()
    hints = read_hints(parse(page("", GERMAN)), SITE)
    found = protections(
        root, SITE + "/copy", SITE + "/original", hints, ("hreflang",), PROTECTIONS, partial(extract, root)
    )
    assert next(found) == "language"
    with pytest.raises(AssertionError, match="the page was read"):
        next(found)


@pytest.mark.parametrize(
    "link", ['<a rel="next" href="/original">older</a>', '<a href="/x" rel="prev">x</a>']
)
def test_links_in_the_text_name_the_next_page_too(link: str) -> None:
    assert held(page(PROSE + link)) == (["pagination"] if "/original" in link else [])


def test_a_manual_with_chapters_is_no_listing() -> None:
    # Every page of a manual names the chapters beside it: the same chapter of another version is a copy.
    chapter = page(PROSE, '<link rel="next" href="/2.0/ch03"><link rel="prev" href="/2.0/ch01">')
    assert held(chapter, "/2.0/ch02", "/1.0/ch02") == []
    assert held(chapter, "/2.0/ch02", "/2.0/ch01") == ["pagination"]


def test_pages_of_a_listing_may_have_one_text_and_a_wrong_canonical_address() -> None:
    second = page(PROSE, f'<link rel="canonical" href="{SITE}/boats">')
    assert held(second, "/boats?page=2", "/boats") == ["pagination"]


def test_a_page_of_a_listing_at_one_address_is_one_page() -> None:
    second = page(PROSE, '<link rel="next" href="?page=3">')
    assert held(second, "/boats/?page=2", "/boats?page=2&utm_source=mail") == []


@pytest.mark.parametrize(
    ("head", "path", "redirects"),
    [
        (PRODUCT + CANONICAL, "/copy", ()),
        (PRODUCT, "/original/?utm_source=mail", ()),
        (PRODUCT, "/copy", ("/original",)),
    ],
)
def test_a_product_that_is_surely_the_same_is_a_copy(
    head: str, path: str, redirects: tuple[str, ...]
) -> None:
    assert held(page(PROSE, head), path, redirects=redirects) == []


def test_a_variant_of_a_product_is_protected() -> None:
    own = f'<link rel="canonical" href="{SITE}/copy">'
    assert held(page(PROSE, PRODUCT + own)) == ["product"]
    assert held(page(PROSE, PRODUCT)) == ["product"]


def test_a_listing_keeps_its_links_whatever_else_is_said() -> None:
    assert held(page(LISTING, CANONICAL)) == ["listing"]
    assert held(page(LISTING), "/original/") == ["listing"]
