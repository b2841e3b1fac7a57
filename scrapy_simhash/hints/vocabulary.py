"""What a page says that it is, in the words of schema.org: JSON-LD, microdata, RDFa."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from lxml import etree

#: One thing on sale, and offers of one.
PRODUCTS = frozenset(
    "AggregateOffer Car IndividualProduct Motorcycle Offer Product ProductGroup ProductModel Vehicle".split()
)
#: Pages that list others. Shops say SomeProducts of a category.
LISTS = frozenset(
    "CollectionPage ItemList OfferCatalog ProductCollection SearchResultsPage SomeProducts".split()
)

#: Scripts of a page that are looked at, and characters of all that are parsed: what says what a page is fits a few
#: thousand.
MAX_SCRIPTS = 5_000
MAX_SCRIPT = 256 * 1024
#: Things of one script that are looked at, and elements that are things.
MAX_THINGS = 1_000
_WORDS = PRODUCTS | LISTS
_TYPED = etree.XPath(f"descendant-or-self::*[@itemtype or @typeof][position() <= {MAX_THINGS}]")


def claimed_types(root: etree._Element) -> Counter[str]:
    """Return how many things of each type the page is about, of `PRODUCTS` and `LISTS`; the tree is read only.

    What is part of another thing (``itemprop``, a member of a list, the product of a review) does not count, except
    for the ``mainEntity`` of a page. Scripts that are no JSON, or far too long, are passed over. Never raises.
    O(nodes + characters of the scripts).
    """
    found: Counter[str] = Counter()
    room = MAX_SCRIPT
    for script in islice(root.iter("{*}script"), MAX_SCRIPTS):
        if (script.get("type") or "").strip().lower().startswith("application/ld+json"):
            text = script.text or ""
            # Most scripts name other things, and parsing is what costs.
            if len(text) > room or not any(word in text for word in _WORDS):
                continue
            room -= len(text)
            for thing in _things(text):
                found.update(_known(thing.get("@type")))
    elements = _TYPED(root)
    if isinstance(elements, list):
        for element in elements:
            if isinstance(element, etree._Element) and _is_main(element):
                found.update(_known((element.get("itemtype") or element.get("typeof") or "").split()))
    return found


def _things(script: str) -> Iterator[dict[str, Any]]:
    """Yield the objects at the top of a JSON-LD script: also those in lists, in graphs, and main entities."""
    try:
        # Real scripts have line breaks inside strings.
        waiting = [json.loads(script, strict=False)]
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


def _known(types: object) -> set[str]:
    """Return the words of `PRODUCTS` and `LISTS` in *types*, which may be IRIs, short or long.

    >>> sorted(_known(["https://schema.org/Product", "schema:Car", "Boat"]))
    ['Car', 'Product']
    """
    names = types if isinstance(types, list) else [types]
    words = {name.strip().rpartition("/")[2].rpartition(":")[2] for name in names if isinstance(name, str)}
    return words & _WORDS


def _is_main(element: etree._Element) -> bool:
    part = element.get("itemprop") or element.get("property") or element.get("rel")
    return part is None or "mainEntity" in part.rpartition(":")[2].split()
