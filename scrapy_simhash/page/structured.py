"""Structured data of a page: the job, event, product or place that it describes, and the price.

This module reads JSON-LD and microdata of schema.org. The properties of a thing determine its kind, so no list of
types is needed: an event has a start, a place has an address. Rows contain properties that readers can see: a title,
a place, an organisation, the start of an event, an article number. Rows exclude the identifier of an advert and the
date of its posting, which change when it is posted again. Price and availability are stored separately, because a
change of these is a change of the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from typing import Any, NamedTuple, Protocol, cast

from lxml import etree

from scrapy_simhash.page.fingerprint.facts import STRUCTURED
from scrapy_simhash.page.fingerprint.fold import number
from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.text.outline import NEVER_HIDDEN
from scrapy_simhash.page.text.tags import UNSEEN, Region, attributes_of, region
from scrapy_simhash.page.text.tree import AnyAncestor, beginning, elements
from scrapy_simhash.patterns import lazy_pattern

#: Contents that a tree may have, as bits: JSON-LD scripts, elements with ``itemtype``.
SCRIPTS, ITEMS = 1, 2

JSON_LD = "application/ld+json"
#: Max characters of a script, and of all scripts of a page. A few thousand characters describe a page.
MAX_SCRIPT = 256 * 1024
#: Max scripts of a page, of any type.
MAX_SCRIPTS = 5_000
#: Max things per script, elements per item, and items per page.
MAX_THINGS, MAX_ELEMENTS, MAX_ITEMS = 1_000, 1_000, 20
#: Max levels, characters and (in microdata) nodes of a value.
_MAX_DEPTH, MAX_VALUE, MAX_VALUE_NODES = 5, 1_000, 32
#: Max levels of nested offers.
_MAX_OFFERS = 8
#: Max titles and headings of a page that are read.
MAX_NAMES = 20

#: Properties with an article number; the first property that is present is used.
_NUMBERS = ("sku", "mpn", "gtin13", "gtin", "gtin14", "gtin12", "gtin8", "isbn", "productID")
#: Properties of the kinds of things: jobs, events, products, places. If a thing matches several kinds, or a page has
#: things of several kinds, the first kind wins.
_KINDS = (("hiringOrganization", "jobLocation"), ("startDate",), (*_NUMBERS, "offers"), ("address",))
#: The properties by which a thing is recognised.
PROPERTIES = frozenset(word for words in _KINDS for word in words)
#: Properties that each become a row, after the name or the article number.
_ROWS = ("hiringOrganization", "jobLocation", "startDate", "location", "address")
#: Properties of an organisation, a place or an address.
_TEXTS = ("name", "streetAddress", "postalCode", "addressLocality", "addressRegion", "address", "@value")

#: Properties of an offer; properties that contain nested offers.
_TERMS = ("price", "lowPrice", "highPrice", "priceCurrency", "availability")
_OFFERS = ("offers", "priceSpecification")

_KEY = lazy_pattern('"([A-Za-z0-9]+)(?=")')
# This is three times as fast as descendant-or-self::*[@itemtype].
_ITEMS = etree.XPath("descendant-or-self::*/@itemtype/..")
_PROPERTIES = etree.XPath("descendant-or-self::*/@itemprop", smart_strings=False)
_WHITE_SPACE = " \t\n\v\f\r"


class Structured(NamedTuple):
    """Structured data of a page."""

    rows: tuple[int, ...] = ()
    """Rows for page/fingerprint/facts.py, if the page describes exactly one thing of its first kind; else empty."""
    offer: str = ""
    """Price, currency and availability of all things that the page describes."""


#: The result for a page without structured data, and for plain text.
NOTHING = Structured()


def structured(root: etree._Element, holds: int = SCRIPTS | ITEMS) -> Structured:
    """Return the structured data of the page under *root*.

    A thing counts if it is not part of another thing and its name is in the title or in an ``h1``. If such things
    have several kinds, the rows are those of the first kind in `_KINDS`. Hidden elements are ignored. *holds* has a
    bit for each kind of structured data that the tree may contain. The tree is not changed. Scripts that are not
    JSON, or that are too long, are skipped. Never raises. O(nodes + characters of the scripts).
    """
    is_hidden = AnyAncestor(_hides)
    texts = _scripts_in(root, is_hidden) if holds & SCRIPTS else ()
    items = _items_in(root, is_hidden) if holds & ITEMS else ()
    return described(_names_of_page(root), texts, items)


def described(names: Iterable[str], texts: Iterable[str], items: Iterable[Mapping[str, Any]]) -> Structured:
    """Return the structured data of a page with the titles and headings *names*.

    *texts* are the visible JSON-LD scripts, and *items* the visible microdata.
    """
    things = [*_things_of(texts), *items]
    kinds = [(kind, thing) for thing in things if (kind := kind_of(thing)) is not None]
    if not kinds:
        return NOTHING
    seen = {word for text in names for word in _words(text)}
    found: dict[int, set[tuple[int, ...]]] = {}
    terms: list[str] = []
    for kind, thing in kinds:
        name = _words(text_of(thing.get("title") or thing.get("name")))
        # As for title keys, at least six of seven words must agree.
        if name and 7 * len(seen.intersection(name)) >= 6 * len(set(name)):
            found.setdefault(kind, set()).add(_rows(name, thing))
            terms += _terms(thing.get("offers"))
    if not found:
        return NOTHING
    first = found[min(found)]
    return Structured(first.pop() if len(first) == 1 else (), "\n".join(terms))


def _rows(name: list[str], thing: Mapping[str, Any]) -> tuple[int, ...]:
    """Return a row for each property of *thing*; an article number replaces the name."""
    named = _number_of(thing) or _number_of(thing.get("offers"))
    parts = [named, [] if named else name, *(_words(text_of(thing.get(part))) for part in _ROWS)]
    return tuple(STRUCTURED | label << 16 | _number(words) for label, words in enumerate(parts) if words)


def _number_of(thing: object) -> list[str]:
    """Return the words of the article number of a product, or of its only offer."""
    if isinstance(thing, list) and len(thing) == 1:
        thing = thing[0]
    if not isinstance(thing, dict):
        return []
    return next((words for key in _NUMBERS if (words := _words(text_of(thing.get(key))))), [])


def _number(words: Iterable[str]) -> int:
    """Return a 16-bit hash of words in any order."""
    return number(" ".join(sorted(set(words)))) >> 48


def _terms(offer: object, depth: int = _MAX_OFFERS) -> Iterator[str]:
    """Yield the terms of an offer and of nested offers; an IRI is shortened to its last word."""
    if not depth:
        return
    if isinstance(offer, list):
        for one in offer:
            yield from _terms(one, depth - 1)
    elif isinstance(offer, dict):
        for key in _TERMS:
            if isinstance(value := offer.get(key), str):
                yield f"{key} {type_name(value)}"
        for key in _OFFERS:
            yield from _terms(offer.get(key), depth - 1)


def kind_of(thing: Mapping[str, Any]) -> int | None:
    """Return the kind of *thing*, 0 to 3; None if it is unknown.

    >>> kind_of({"name": "Concert", "startDate": "2026-05-03"})
    1
    """
    return next((kind for kind, words in enumerate(_KINDS) if any(thing.get(word) for word in words)), None)


def type_name(name: str) -> str:
    """Return the last word of a type name, which may be a full or a compact IRI."""
    return name.strip().rpartition("/")[2].rpartition(":")[2]


def text_of(value: object, depth: int = _MAX_DEPTH) -> str:
    """Return the text of a JSON-LD value: the name and address of a thing, or all entries of a list."""
    if isinstance(value, str):
        return value[:MAX_VALUE]
    if isinstance(value, dict):
        value = [value[key] for key in _TEXTS if key in value]
    if not isinstance(value, list) or not depth:
        return ""
    text = ""
    for one in value:
        if len(text) >= MAX_VALUE:
            break
        text += " " + text_of(one, depth - 1)
    return text


def _words(text: str) -> list[str]:
    return tokenize(normalize(unescape(text)))


def _names_of_page(root: etree._Element) -> Iterator[str]:
    for heading in elements(root, "{*}title", "{*}h1", limit=MAX_NAMES):
        yield beginning(heading, MAX_ELEMENTS, MAX_VALUE)


# --- JSON-LD


def scripts(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the ``script`` elements with JSON-LD."""
    for script in elements(root, "{*}script", limit=MAX_SCRIPTS):
        if (script.get("type") or "").strip(_WHITE_SPACE).lower().startswith(JSON_LD):
            yield script


def things_in(script: str) -> Iterator[dict[str, Any]]:
    """Yield the top-level objects of a JSON-LD script, including objects in lists and graphs, and main entities.

    Yields nothing for invalid JSON, or for a script that is too long. Numbers are strings.
    """
    if len(script) > MAX_SCRIPT:
        return
    try:
        # Real scripts have line breaks within strings. Numbers may have any length, so they are kept as strings.
        waiting = [json.loads(script, strict=False, parse_int=str, parse_float=str, parse_constant=str)]
    except (ValueError, RecursionError):
        return
    for _ in range(MAX_THINGS):
        if not waiting:
            return
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            yield value
            waiting += [value[key] for key in ("@graph", "mainEntity") if key in value]


def _scripts_in(root: etree._Element, is_hidden: AnyAncestor) -> Iterator[str]:
    return (element.text or "" for element in scripts(root) if not is_hidden(element.getparent()))


def _things_of(texts: Iterable[str]) -> Iterator[dict[str, Any]]:
    left = MAX_SCRIPT
    for text in texts:
        # This check avoids most of the slow parsing, because most scripts describe other things.
        if len(text) <= left and any(match[1] in PROPERTIES for match in _KEY.finditer(text)):
            left -= len(text)
            yield from things_in(text)


# --- Microdata


class Attributes(Protocol):
    """The attributes of an element."""

    def get(self, name: str, /) -> str | None:
        """Return the value of an attribute; None if it is missing."""


def is_part(element: Attributes) -> bool:
    """Return whether an item is part of another item."""
    part = element.get("itemprop") or element.get("property") or element.get("rel")
    return part is not None and "mainEntity" not in part.rpartition(":")[2].split()


def _items_in(root: etree._Element, is_hidden: AnyAncestor) -> Iterator[Mapping[str, Any]]:
    # Most items are articles and menus, and reading an item is slow.
    words = _PROPERTIES(root)
    if not isinstance(words, list) or not any(PROPERTIES.intersection(str(word).split()) for word in words):
        return
    items = _ITEMS(root)
    count = 0
    for element in items if isinstance(items, list) else ():
        if not isinstance(element, etree._Element) or is_part(element):
            continue
        if not is_hidden(element):
            yield _item(element)
            count += 1
            if count == MAX_ITEMS:
                return


def _item(element: etree._Element) -> Mapping[str, Any]:
    """Return an item in the form of JSON-LD, with the first value of each property."""
    item: dict[str, Any] = {}
    waiting = [(child, item) for child in reversed(element)]
    for _ in range(MAX_ELEMENTS):
        if not waiting:
            break
        child, owner = waiting.pop()
        if not isinstance(child.tag, str):
            continue
        names, inner = (child.get("itemprop") or "").split(), owner
        if child.get("itemscope") is not None:
            inner = {}
        if not owner.keys() >= set(names):
            value = inner if inner is not owner else _value(child)
            for name in names:
                owner.setdefault(name, value)
        waiting += [(grandchild, inner) for grandchild in reversed(child)]
    return item


def _value(element: etree._Element) -> str:
    names: tuple[str, ...] = ("content", "datetime")
    # The availability of an offer is an invisible link.
    if cast("str", element.tag).rpartition("}")[2] == "link":
        names += ("href",)
    for name in names:
        if (value := element.get(name)) is not None:
            return value
    return beginning(element, MAX_VALUE_NODES, MAX_VALUE)


def _hides(element: etree._Element) -> bool:
    """Return whether an element hides its content, as in text/outline.py."""
    tag = cast("str", element.tag).rpartition("}")[2]
    if tag in UNSEEN:
        return True
    return tag not in NEVER_HIDDEN and region(tag, attributes_of(element)) is Region.HIDDEN
