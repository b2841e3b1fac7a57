"""Detection of listings, and types in structured data."""

from __future__ import annotations

import json

import pytest

from scrapy_simhash.judge.hints import is_listing
from scrapy_simhash.judge.hints.page_kind import (
    CAPTION,
    MAX_NODES,
    MIN_ENTRIES,
    claimed_types,
)
from scrapy_simhash.page.structured import MAX_THINGS
from scrapy_simhash.page.text import parse
from tests.judge.hints.pages import PROSE, cards, lines, page


def listing(main: str) -> bool:
    return is_listing(parse(page(main)))


GALLERY = "".join(f'<a href="/photo/{n}"><img src="{n}.jpg"></a>' for n in range(MIN_ENTRIES))
WHOLE = "".join(
    f'<a href="/{n}"><div><img></div><h3>Lantern {n}</h3><p>£{n}.00</p></a>' for n in range(MIN_ENTRIES)
)


@pytest.mark.parametrize(
    "main",
    [
        f"<h1>Boats</h1>{lines(MIN_ENTRIES)}",
        # cards: a heading with a teaser each
        f"<h1>Boats</h1>{cards(range(10))}",
        # links around whole cards
        WHOLE,
        f"<h1>Photographs</h1>{GALLERY}",
        # most of the page is in elements with names of boilerplate
        f'<div class="widget">{lines(40)}</div><p>Fog.</p>',
        # by its structured data
        f'<div itemscope itemtype="https://schema.org/CollectionPage">{PROSE * 20}</div>',
    ],
)
def test_listings(main: str) -> None:
    assert listing(main)


@pytest.mark.parametrize(
    "main",
    [
        "",
        PROSE,
        PROSE * 20,
        # a small "see also" list
        f"<h1>Ferry</h1>{PROSE * 20}{lines(12)}",
        f"<h1>Ferry</h1>{PROSE * 20}{cards(range(3), '<p>More.</p>')}",
        # one URL, repeated
        lines(1) * 20,
        # links to the same page and scripts
        "".join(f'<li><a href="#{n}">Part {n}</a></li>' for n in range(20)),
        # links inside sentences
        "".join(
            f'<p>The ferry went <a href="/{n}">out</a> in the fog and came home at noon.</p>'
            for n in range(20)
        ),
        # sidebars and hidden elements
        f'{PROSE * 4}<div class="sidebar">{lines(40)}</div>'.replace("number ", ""),
        f"{PROSE}<div hidden>{lines(40)}</div>",
        f'{PROSE}<div role="navigation">{lines(40)}</div>',
        f"{GALLERY}{PROSE * (1 + MIN_ENTRIES * CAPTION // 100)}",
    ],
)
def test_other_pages(main: str) -> None:
    assert not listing(main)


def test_only_the_first_nodes_of_a_large_page_decide() -> None:
    entries = lines(MAX_NODES)
    assert is_listing(parse(entries + PROSE * 20_000))
    assert not is_listing(parse(PROSE * 20_000 + "<br>" * MAX_NODES + entries))
    assert not is_listing(parse(PROSE * 20_000 + "<!-- -->" * MAX_NODES + entries))
    # Skipped elements do not count.
    assert is_listing(parse(f"<nav>{'<br>' * MAX_NODES}</nav>{lines(MIN_ENTRIES)}"))


def types_of(html: str) -> dict[str, int]:
    return dict(claimed_types(parse(html)))


def script(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{text}</script>'


LANTERN = {"@context": "https://schema.org", "@type": "SomeProducts", "name": "Lantern"}


@pytest.mark.parametrize(
    ("value", "types"),
    [
        (LANTERN, {"SomeProducts": 1}),
        ([LANTERN, {"@type": "BreadcrumbList"}], {"SomeProducts": 1}),
        # parts of another item
        ({"@type": "Review", "itemReviewed": LANTERN}, {}),
        # other types and invalid values
        ({"@type": "OfferCatalogs", "name": "SomeProducts"}, {}),
        ('"SomeProducts"', {}),
        ('{"@type": "SomeProducts"', {}),
        ("", {}),
        ([{"@graph": []}] * MAX_THINGS + ["SomeProducts"], {}),
    ],
)
def test_types_of_structured_data_in_json_ld(value: object, types: dict[str, int]) -> None:
    assert types_of(script(value)) == types
    # An invalid script does not hide the next.
    assert types_of(script(value) + script(LANTERN))["SomeProducts"] == types.get("SomeProducts", 0) + 1
