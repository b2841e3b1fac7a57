from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from scrapy_simhash.judge.hints.page_kind import LISTS, PRODUCTS, claimed_types
from scrapy_simhash.page.structured import MAX_SCRIPT, MAX_THINGS
from scrapy_simhash.page.text import parse


def types_of(html: str) -> dict[str, int]:
    return dict(claimed_types(parse(html)))


def script(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{text}</script>'


PRODUCT = {"@context": "https://schema.org", "@type": "Product", "name": "Lantern"}


@pytest.mark.parametrize(
    ("value", "types"),
    [
        (PRODUCT, {"Product": 1}),
        ([PRODUCT, {"@type": "BreadcrumbList"}], {"Product": 1}),
        ({"@graph": [PRODUCT, {"@type": "Organization"}]}, {"Product": 1}),
        ([{"@graph": [[PRODUCT]]}], {"Product": 1}),
        ({"@type": "ItemPage", "mainEntity": PRODUCT}, {"Product": 1}),
        ({"@type": ["Product", "Vehicle"]}, {"Product": 1, "Vehicle": 1}),
        ({"@type": "http://schema.org/Product"}, {"Product": 1}),
        ({"@type": "schema:ProductGroup", "hasVariant": [PRODUCT, PRODUCT]}, {"ProductGroup": 1}),
        ({"@type": "CollectionPage"}, {"CollectionPage": 1}),
        ([PRODUCT, PRODUCT], {"Product": 2}),
        # parts of another thing
        ({"@type": "Review", "itemReviewed": PRODUCT}, {}),
        ({"@type": "NewsArticle", "about": PRODUCT}, {}),
        ({"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": PRODUCT}]}, {"ItemList": 1}),
        # other things, and things that are none
        ({"@type": "ProductReview", "name": "Product"}, {}),
        ({"@type": {"Product": 1}}, {}),
        ({"@type": [None, 7, ["Product"]]}, {}),
        ("Product", {}),
        (["Product", 7, None], {}),
    ],
)
def test_what_json_ld_says_the_page_is_about(value: object, types: dict[str, int]) -> None:
    assert types_of(script(json.dumps(value))) == types


def test_json_is_read_as_real_pages_have_it() -> None:
    assert types_of(script('{"@type": "Product", "description": "a\nlantern\tof brass"}')) == {"Product": 1}
    assert types_of(script(PRODUCT).replace("application/ld+json", "Application/LD+JSON; charset=utf-8")) == {
        "Product": 1
    }
    assert types_of(f"<body><div>{script(PRODUCT)}</div>{script({'@type': 'ItemList'})}") == {
        "Product": 1,
        "ItemList": 1,
    }


@pytest.mark.parametrize(
    "text",
    [
        '{"@type": "Product"',
        "Product",
        "",
        '{"@type": "Product"}' + " " * MAX_SCRIPT,
        '["Product", ' + "[" * 100_000,
        '{"@type": "Product", "price": ' + "9" * 10_000 + "}",
        json.dumps([{"@graph": []}] * MAX_THINGS + ["Product"]),
    ],
)
def test_scripts_that_cannot_be_read_are_passed_over(text: str) -> None:
    assert set(types_of(script(text))) <= {"Product"}
    assert types_of(script(text) + script(PRODUCT))["Product"] >= 1


def test_other_scripts_are_not_read() -> None:
    assert types_of(f"<script>{json.dumps(PRODUCT)}</script>") == {}


@pytest.mark.parametrize(
    ("html", "types"),
    [
        ('<div itemscope itemtype="https://schema.org/Product">Lantern</div>', {"Product": 1}),
        ('<div itemscope itemtype=" http://schema.org/Thing http://schema.org/Product/ ">', {}),
        ('<div itemscope itemtype="http://schema.org/Thing http://schema.org/Product">', {"Product": 1}),
        ('<body itemscope itemtype="https://schema.org/WebPage"><div itemprop="mainEntity" itemscope'
         ' itemtype="https://schema.org/Product">', {"Product": 1}),
        ('<div vocab="https://schema.org/" typeof="Product">', {"Product": 1}),
        ('<div typeof="schema:Product" property="schema:mainEntity">', {"Product": 1}),
        ('<html itemscope itemtype="https://schema.org/SearchResultsPage">', {"SearchResultsPage": 1}),
        # parts of another thing
        ('<div itemscope itemtype="https://schema.org/Product"><p itemprop="isRelatedTo" itemscope'
         ' itemtype="https://schema.org/Product"></p><p itemprop="offers" itemscope'
         ' itemtype="https://schema.org/Offer"></p></div>', {"Product": 1}),
        ('<div typeof="Review"><p property="itemReviewed" typeof="Product">', {}),
        ('<div itemtype="" typeof="">', {}),
    ],
)  # fmt: skip
def test_what_attributes_say_the_page_is_about(html: str, types: dict[str, int]) -> None:
    assert types_of(html) == types


@given(st.text(alphabet='{}[]":,@typegraphProductmainEntity \n<>/'))
def test_any_script_can_be_read_and_the_tree_stays_as_it_is(text: str) -> None:
    root = parse(script(text + "Product"))
    before = etree.tostring(root)
    assert set(claimed_types(root)) <= PRODUCTS | LISTS
    assert etree.tostring(root) == before


def test_of_a_script_with_very_many_things_some_are_looked_at() -> None:
    assert types_of(script([PRODUCT] * (2 * MAX_THINGS))) == {"Product": MAX_THINGS - 1}
