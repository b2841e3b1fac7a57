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
    is_exact: bool = False,
) -> list[str]:
    root, url, first = parse(html), SITE + path, SITE + original
    hints = read_hints(root, url)
    found = evidence(hints, url, first, [SITE + redirect for redirect in redirects])
    return list(protections(root, url, first, hints, found, wanted, partial(extract, root), is_exact))


EVERYTHING = page(f"{LISTING}<p>A copy</p>", GERMAN + PRODUCT + '<link rel="next" href="/original">')


def test_the_cheapest_comes_first_and_all_come() -> None:
    assert held(EVERYTHING) == ["language", "pagination", "product", "named", "listing"]


@pytest.mark.parametrize("name", sorted(set(PROTECTIONS) - {"start"}))
def test_only_what_is_wanted_is_looked_at(name: str) -> None:
    assert held(EVERYTHING, wanted=[name]) == [name]
    assert held(EVERYTHING, wanted=()) == []


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


OWN = f'<link rel="canonical" href="{SITE}/copy">'
CHAPTER = page(PROSE, '<link rel="next" href="/2.0/ch03"><link rel="prev" href="/2.0/ch01">')


@pytest.mark.parametrize(
    ("html", "path", "original", "protection"),
    [
        (page(PROSE * 20), "/copy", "/original", None),
        (page(PROSE, GERMAN), "/copy", "/original", "language"),
        (page(PROSE), "/boats?page=2", "/boats", "pagination"),
        # Links in the text name the next page too.
        (page(PROSE + '<a rel="next" href="/original">older</a>'), "/copy", "/original", "pagination"),
        (page(PROSE + '<a href="/x" rel="prev">x</a>'), "/copy", "/original", None),
        # Every page of a manual names the chapters beside it: the same chapter of another version is a copy.
        (CHAPTER, "/2.0/ch02", "/1.0/ch02", None),
        (CHAPTER, "/2.0/ch02", "/2.0/ch01", "pagination"),
        # Pages of a listing may have one text, and a wrong canonical address.
        (page(PROSE, f'<link rel="canonical" href="{SITE}/boats">'), "/boats?page=2", "/boats", "pagination"),
        # A page of a listing at one address is one page.
        (
            page(PROSE, '<link rel="next" href="?page=3">'),
            "/boats/?page=2",
            "/boats?page=2&utm_source=mail",
            None,
        ),
        # A product that is surely the same is a copy, a variant of it is protected.
        (page(PROSE, PRODUCT + CANONICAL), "/copy", "/original", None),
        (page(PROSE, PRODUCT), "/original/?utm_source=mail", "/original", None),
        (page(PROSE, PRODUCT + OWN), "/copy", "/original", "product"),
        (page(PROSE, PRODUCT), "/copy", "/original", "product"),
        # A listing keeps its links whatever else is said.
        (page(LISTING), "/copy", "/original", "listing"),
        (page(LISTING, CANONICAL), "/copy", "/original", "listing"),
        (page(LISTING), "/original/", "/original", "listing"),
    ],
)
def test_each_has_its_reason(html: str, path: str, original: str, protection: str | None) -> None:
    assert held(html, path, original) == ([protection] if protection else [])


def test_a_product_that_the_original_leads_to_is_a_copy() -> None:
    assert held(page(PROSE, PRODUCT), redirects=["/original"]) == []


#: A branch, with the town beside the text and in the menu.
BRANCH = page(
    "<nav><a href=/kiel>Kiel</a> <a href=/bonn>Bonn</a></nav><h1>A branch</h1><div>{}, 12 Main Road</div>"
    f"<div>{PROSE * 2}</div>"
)
AT = "/branches/kiel", "/branches/bonn"


@pytest.mark.parametrize(
    ("town", "path", "original", "is_exact", "is_held"),
    [
        ("Kiel", *AT, True, True),
        ("KIEL", "/branches/7-Kiel.html", "/branches/9-Bonn.html", True, True),
        # The page does not say it, but in its menu.
        ("Where we are", *AT, True, False),
        # Both say it.
        ("Kiel", "/kiel/copy", "/kiel/original", True, False),
        # The URLs do not name the pages, or name them in another place.
        ("Kiel", "/branches/7", "/branches/9", True, False),
        ("Kiel", "/branches/kiel", "/branches/7", True, False),
        ("Kiel", "/kiel/branch", "/bonn/branch", True, False),
        ("Kiel", "/branch?town=kiel", "/branch?town=bonn", True, False),
    ],
)
def test_a_page_that_its_url_names_is_protected(
    town: str, path: str, original: str, is_exact: bool, is_held: bool
) -> None:
    assert held(BRANCH.format(town), path, original, is_exact=is_exact) == (["named"] if is_held else [])


def test_what_both_texts_say_names_neither() -> None:
    text = page(PROSE + "<p>We have branches in Kiel and in Bonn, and the boats to both go every day.</p>")
    assert held(text, *AT) == held(text, *AT, is_exact=True) == []
    one = text.replace("Bonn", "Metz")
    assert (held(one, *AT), held(one, *AT, is_exact=True)) == (["named"], [])


def test_the_title_names_a_page_unless_it_names_both() -> None:
    assert held(page(PROSE).replace("Lamp", "Dr Anna Adler"), "/doctors/adler", "/doctors/petrov") == [
        "named"
    ]
    assert held(page(PROSE).replace("Lamp", "Sort shuffle"), "/blog/sort-shuffle", "/blog/shuffle") == []


def test_a_page_that_names_the_other_one_as_canonical_is_a_copy_whatever_its_url_says() -> None:
    canonical = f'<link rel="canonical" href="{SITE}{AT[1]}">'
    assert held(BRANCH.format("Kiel").replace("</head>", f"{canonical}</head>"), *AT) == []
