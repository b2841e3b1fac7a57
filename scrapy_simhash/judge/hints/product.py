"""Product: whether a page says that it is about one thing on sale."""

from __future__ import annotations

from itertools import chain, islice

from lxml import etree

from scrapy_simhash.judge.hints.listing import is_listing
from scrapy_simhash.judge.hints.vocabulary import PRODUCTS, claimed_types
from scrapy_simhash.page.text import Document

#: ``meta`` elements that are looked at.
MAX_METAS = 1_000
_OPEN_GRAPH = ("product", "og:product", "product.item", "product.group")


def is_product(root: etree._Element) -> bool:
    """Tell whether the page says that it is about one thing on sale, or about variants of one; the tree is read only.

    By ``og:type``, JSON-LD, microdata or RDFa. Several products are variants of one, unless the page is a listing;
    and no page is about one that calls itself a collection, or results of a search. Never raises. O(nodes).
    """
    if _open_graph_type(root) in _OPEN_GRAPH:
        return True
    types = claimed_types(root)
    count = sum(types[word] for word in PRODUCTS)
    if not count or types["CollectionPage"] or types["SearchResultsPage"]:
        return False
    return count == 1 or types["ProductGroup"] > 0 or not is_listing(root)


def makes_offer(document: Document) -> bool:
    """Tell whether a page names a thing and its price, whatever it says in its markup; see `page/text/columns.py`."""
    return any(paragraph.zone == "offer" for paragraph in document.paragraphs)


def _open_graph_type(root: etree._Element) -> str:
    metas = chain.from_iterable(head.iterchildren("{*}meta") for head in root.iterchildren("{*}head"))
    for meta in islice(metas, MAX_METAS):
        if "og:type" in (meta.get("property"), meta.get("name")):
            return (meta.get("content") or "").strip().lower()
    return ""
