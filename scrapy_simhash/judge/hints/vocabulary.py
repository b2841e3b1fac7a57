"""What a page says that it is, in the words of schema.org: JSON-LD, microdata, RDFa."""

from __future__ import annotations

from collections import Counter

from lxml import etree

from scrapy_simhash.page.structured import MAX_SCRIPT, MAX_THINGS, is_part, scripts, things_in, type_name

#: One thing on sale, and offers of one.
PRODUCTS = frozenset(
    "AggregateOffer Car IndividualProduct Motorcycle Offer Product ProductGroup ProductModel Vehicle".split()
)
#: Pages that list others. Shops say SomeProducts of a category.
LISTS = frozenset(
    "CollectionPage ItemList OfferCatalog ProductCollection SearchResultsPage SomeProducts".split()
)

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
    for element in scripts(root):
        script = element.text or ""
        # Most scripts name other things, and parsing is what costs.
        if len(script) <= room and any(word in script for word in _WORDS):
            room -= len(script)
            for thing in things_in(script):
                found.update(_known(thing.get("@type")))
    elements = _TYPED(root)
    if isinstance(elements, list):
        for element in elements:
            if isinstance(element, etree._Element) and not is_part(element):
                found.update(_known((element.get("itemtype") or element.get("typeof") or "").split()))
    return found


def _known(types: object) -> set[str]:
    """Return the words of `PRODUCTS` and `LISTS` in *types*, which may be IRIs, short or long.

    >>> sorted(_known(["https://schema.org/Product", "schema:Car", "Boat"]))
    ['Car', 'Product']
    """
    names = types if isinstance(types, list) else [types]
    return {type_name(name) for name in names if isinstance(name, str)} & _WORDS
