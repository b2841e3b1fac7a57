from __future__ import annotations

import pytest
from lxml import etree

from scrapy_simhash.judge.hints import is_product, makes_offer
from scrapy_simhash.page.text import extract, parse
from tests.judge.hints.pages import PROSE, lines, page

ONE = '<script type="application/ld+json">{"@type": "Product", "name": "Lantern"}</script>'
GROUP = ONE.replace("Product", "ProductGroup")
RESULTS = ONE.replace("Product", "SearchResultsPage")
ITEM = '<div itemscope itemtype="https://schema.org/Product">{}</div>'


@pytest.mark.parametrize(
    ("head", "main", "expected"),
    [
        ('<meta property="og:type" content="product">', PROSE, True),
        ('<meta name="og:type" content=" og:Product ">', PROSE, True),
        (ONE, PROSE, True),
        ("", ITEM.format(PROSE), True),
        # variants
        (ONE + ONE, PROSE, True),
        (GROUP + ONE + ONE, lines(20), True),
        # one, in a shop that lists others below it
        (ONE, PROSE + lines(20), True),
        # many
        (ONE + ONE, lines(20), False),
        ("", "".join(ITEM.format(f'<h2><a href="/{n}">Lantern {n}</a></h2>') for n in range(9)), False),
        (ONE + RESULTS, PROSE, False),
        # none
        ("", PROSE, False),
        (
            '<meta property="og:type" content="article"><meta property="og:title" content="product">',
            PROSE,
            False,
        ),
        ('<meta property="og:type">', PROSE, False),
        (RESULTS, PROSE, False),
    ],
)
def test_what_is_a_product(head: str, main: str, expected: bool) -> None:
    root = parse(page(main, head))
    before = etree.tostring(root)
    assert is_product(root) is expected
    assert etree.tostring(root) == before


@pytest.mark.parametrize(
    ("main", "expected"),
    [
        ("<h1>Storm lantern, small</h1><p>£14.50</p>" + PROSE, True),
        ("<h1>Storm lantern, small</h1>" + PROSE, False),
        (
            "<h1>The price of light</h1><p>A lantern for £14.50 was all that they had in the house that winter.</p>",
            False,
        ),
    ],
)
def test_a_name_and_a_price_make_an_offer_without_any_markup(main: str, expected: bool) -> None:
    root = parse(page(main))
    assert makes_offer(extract(root)) is expected
    assert not is_product(root)
