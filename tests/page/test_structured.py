"""The main item of a page in JSON-LD and microdata."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from lxml import etree

from fuzz.compare import page_differences
from scrapy_simhash.judge.second_look import OTHER_NAMES, contradiction
from scrapy_simhash.page import structured
from scrapy_simhash.page.fingerprint.facts import NONE, STRUCTURED, with_rows
from scrapy_simhash.page.structured import (
    MAX_ELEMENTS,
    MAX_ITEMS,
    MAX_NAMES,
    MAX_SCRIPTS,
    MAX_THINGS,
    MAX_VALUE,
    MAX_VALUE_NODES,
)
from scrapy_simhash.page.text import parse

Thing = dict[str, Any]

KIEL = {"@type": "Place", "address": {"@type": "PostalAddress", "addressLocality": "Kiel"}}
ULM = {"@type": "Place", "address": {"@type": "PostalAddress", "addressLocality": "Ulm"}}
NURSE = {
    "@type": "JobPosting",
    "title": "Nurse",
    "hiringOrganization": {"@type": "Organization", "name": "Clinic"},
    "jobLocation": KIEL,
}
CONCERT = {"@type": "MusicEvent", "name": "Concert", "startDate": "2025-05-03T19:30", "location": KIEL}
CHAIR = {"@type": "Product", "name": "Chair", "sku": "C-1"}
TABLE = {**CHAIR, "name": "Table"}
BRANCH = {
    "@type": "Bakery",
    "name": "Branch",
    "address": {"@type": "PostalAddress", "streetAddress": "Mill Lane 5"},
}
FLAT = {"@type": "RealEstateListing", "name": "Flat", "address": "Mill Lane 5, Kiel"}
SHOP = {"@type": "Organization", "name": "Branch", "address": "Mill Lane 5"}

TEXT = "<p>The ship that went out to the sea came home with the tide, and nobody had seen the fog in the bay.</p>"


def script(things: object, head: str = 'type="application/ld+json"') -> str:
    return f"<script {head}>{json.dumps(things) if not isinstance(things, str) else things}</script>"


def microdata(thing: object, name: str = "") -> str:
    prop = f' itemprop="{name}"' if name else ""
    if not isinstance(thing, dict):
        return f"<span{prop}>{thing}</span>"
    inside = "".join(microdata(value, key) for key, value in thing.items() if key != "@type")
    return f'<div{prop} itemscope itemtype="https://schema.org/{thing["@type"]}">{inside}</div>'


def page(markup: str, name: str) -> str:
    return f"<html><head><title>{name} | Site</title></head><body><h1>{name}</h1>{markup}{TEXT}</body></html>"


def about(markup: str, name: str) -> tuple[int, ...]:
    return structured.structured(parse(page(markup, name))).rows


def are_different(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Return whether pages of one host with these rows have different names, in either order."""
    found = {contradiction(with_rows(NONE, one), with_rows(NONE, other)) for one, other in ((a, b), (b, a))}
    assert len(found) == 1
    return found == {OTHER_NAMES}


@pytest.mark.parametrize("form", [script, microdata], ids=["json-ld", "microdata"])
@pytest.mark.parametrize(
    ("thing", "same", "other"),
    [
        (NURSE, {"identifier": "7", "datePosted": "2026"}, {"jobLocation": ULM}),
        (
            NURSE,
            {"validThrough": "2026"},
            {"hiringOrganization": {"@type": "Organization", "name": "Inn"}},
        ),
        (CONCERT, {"url": "/2"}, {"startDate": "2025-05-04T19:30"}),
        (CONCERT, {"doorTime": "18:00"}, {"location": ULM}),
        (CHAIR, {"offers": {"@type": "Offer", "price": "5"}, "mpn": "M"}, {"sku": "C-2"}),
        # The number decides, because names may be translated or abbreviated.
        (CHAIR, {"name": "The Chair"}, {"sku": "C-3"}),
        (
            BRANCH,
            {"telephone": "1"},
            {"address": {"@type": "PostalAddress", "streetAddress": "Mill Lane 7"}},
        ),
        (FLAT, {"datePosted": "2026"}, {"address": "Mill Lane 5, Ulm"}),
    ],
)
def test_rows_have_the_visible_text(
    form: Callable[[object], str], thing: Thing, same: Thing, other: Thing
) -> None:
    name = "The Nurse, Concert, Chair, Branch and Flat"
    found = about(form(thing), name)
    assert found
    assert len(found) <= 6
    assert all(STRUCTURED <= row < 2**32 for row in found)
    again, another = about(form({**thing, **same}), name), about(form({**thing, **other}), name)
    assert not are_different(found, again)
    assert not are_different(found, ())
    assert are_different(found, another)


@pytest.mark.parametrize(
    ("markup", "name", "thing"),
    [
        ("", "Nurse", None),
        (script(NURSE), "Nurse in Kiel", NURSE),
        (script([NURSE]), "Nurse", NURSE),
        (script({"@context": "x", "@graph": [SHOP, NURSE, KIEL]}), "Nurse", NURSE),
        # Its name is neither in the heading nor in the title: a sidebar box, or a constant.
        (script(NURSE), "Cook in Kiel", None),
        # Of several items of one type, the item with the name of the page counts.
        (script([NURSE, {**NURSE, "jobLocation": ULM}]), "Nurse", None),
        # Of several types the first counts: a job at a place, a concert in a hall.
        (script([{**BRANCH, "name": "Nurse"}, NURSE]), "Nurse", NURSE),
        # Data about the site, repeated on each page.
        (script(SHOP), "Branch", SHOP),
        # Articles, and items without a type.
        (script({"@type": "NewsArticle", "name": "Nurse"}), "Nurse", None),
        # Parts of other items.
        (script({"@type": "Review", "itemReviewed": CHAIR}), "Chair", None),
        (microdata({"@type": "Review", "itemReviewed": CHAIR}), "Chair", None),
        (microdata({"@type": "WebPage", "mainEntity": CHAIR}), "Chair", CHAIR),
        # Invalid JSON or microdata.
        (script("{" + json.dumps(NURSE)), "Nurse", None),
        (script(NURSE, 'type="text/template"'), "Nurse", None),
        (script([0] * MAX_THINGS + [CHAIR]), "Chair", CHAIR),  # read from the end
        # The first elements count.
        (microdata(TABLE) * (MAX_ITEMS - 1) + microdata(CHAIR), "Chair", CHAIR),
        (microdata(TABLE) * MAX_ITEMS + microdata(CHAIR), "Chair", None),
        # Hidden.
        (f"<div hidden>{script(NURSE)}</div>", "Nurse", None),
        (f'<div class="hidden">{microdata(CHAIR)}</div>', "Chair", None),
        (f"<template>{microdata(CHAIR)}</template>", "Chair", None),
    ],
)
def test_a_page_has_at_most_one_main_item(markup: str, name: str, thing: Thing | None) -> None:
    found = about(markup, name)
    if thing is None:
        assert found == ()
    else:
        named = about(script(thing), thing.get("title") or thing["name"])
        # The name on the page may be longer; the other rows are the same.
        assert found[1:] == named[1:]
        assert len(found) == len(named)


# --- In C.


@pytest.mark.parametrize(
    "markup",
    [
        # An item has its property as the last element that is read, or as the first one that is not.
        f'<div itemscope itemtype="Product"><i itemprop="name">Chair</i>{"<b></b>" * filler}'
        '<i itemprop="sku">7</i></div>'
        for filler in (MAX_ELEMENTS - 2, MAX_ELEMENTS - 1)
    ]
    + [
        # The text of a property ends with the last node that is read.
        f'<div itemscope itemtype="Product"><i itemprop="name">Chair{node * filler} red</i>'
        '<i itemprop="sku">7</i></div>'
        for node in ("<b> </b>", "<!---->", "<b> <u></u></b>")
        for filler in range(MAX_VALUE_NODES // 2 - 2, MAX_VALUE_NODES + 2)
    ]
    + [
        f'<div itemscope itemtype="Product"><i itemprop="name">{"Chair " * times}</i><i itemprop="sku">7</i></div>'
        for times in (MAX_VALUE // 6, MAX_VALUE // 6 + 1)
    ]
    + [
        # A value ends within a character of several bytes.
        '<div itemscope itemtype="Product"><i itemprop="name">Chair</i>'
        f'<i itemprop="sku">{"x" * before}{text}</i></div>'
        for text in ("\N{GRINNING FACE}7" * MAX_VALUE, "\u6f22" * MAX_VALUE, "\xe9" * 2 * MAX_VALUE)
        for before in range(4)
    ]
    + [
        "<h1>Table</h1>" * before + "<h1>Bench</h1>" + script({**CHAIR, "name": "Bench"})
        for before in (MAX_NAMES - 3, MAX_NAMES - 2)
    ]
    + ["<script></script>" * before + script(CHAIR) for before in (MAX_SCRIPTS - 1, MAX_SCRIPTS)]
    + [microdata(TABLE) * before + microdata(CHAIR) for before in (MAX_ITEMS - 1, MAX_ITEMS)],
)
def test_the_kernel_stops_where_pure_python_stops(markup: str) -> None:
    assert page_differences(parse(page(markup, "Chair"))) == []


def test_the_kernel_leaves_scripts_in_pieces_to_pure_python() -> None:
    root = parse(page(script(CHAIR), "Chair"))
    element = next(structured.scripts(root))
    text = element.text or ""
    for pieces in ((text, None, ""), (text[:9], "<!-- -->", text[9:]), ("", "<b/>", text)):
        element.text, between, rest = pieces
        if between is not None:
            element.append(parse(between) if "b" in between else etree.Comment(" "))
            element[0].tail = rest
        assert page_differences(root) == []
        for child in element:
            element.remove(child)
