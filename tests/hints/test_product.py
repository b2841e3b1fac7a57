from __future__ import annotations

import pytest
from lxml import etree

from scrapy_simhash.hints import is_product
from scrapy_simhash.text import parse
from tests.hints.pages import PROSE, lines, page

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
