"""Protections: why a page that repeats another one is treated with care."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import chain

from lxml import etree

from scrapy_simhash.judge.hints.evidence import SAME_PAGE
from scrapy_simhash.judge.hints.listing import is_listing
from scrapy_simhash.judge.hints.markup import Hints, steps_in_body
from scrapy_simhash.judge.hints.product import is_product, makes_offer
from scrapy_simhash.judge.hints.series import are_pages_of_one_listing
from scrapy_simhash.page.text import Document


def protections(
    root: etree._Element,
    url: str,
    original: str,
    hints: Hints,
    evidence: Collection[str],
    wanted: Collection[str],
    document: Callable[[], Document] | None,
) -> Iterator[str]:
    """Yield those of *wanted* that hold for the page at *url*, which repeats the one at *original*; cheapest first.

    - ``language``: the page calls *original* its translation;
    - ``pagination``: both are pages of one listing, see `are_pages_of_one_listing`. Of the evidence only that of
      the URL goes before: that page 2 names page 1 as canonical is the commonest mistake there is, and pages with
      the very same text may still hold other links;
    - ``product``: the page is about a thing on sale, unless the *evidence* says that it is the same page. It says so
      in its markup: then even the same text lifts nothing, for size and colour may stand in a form, a picture, in
      JSON alone. Or it shows a name and a price, as *document* reads it; None for a page that is the same to the
      letter, which is as likely to be put up twice;
    - ``listing``: the page is mostly links to others.

    Each is looked at when it is asked for. *root* is read only. Never raises. O(nodes).
    """
    if "language" in wanted and "hreflang" in evidence:
        yield "language"
    if "pagination" in wanted and "address" not in evidence and _is_paged(root, url, original, hints):
        yield "pagination"
    may_be_variant = "product" in wanted and SAME_PAGE.isdisjoint(evidence)
    if may_be_variant and (is_product(root) or (document is not None and makes_offer(document()))):
        yield "product"
    if "listing" in wanted and is_listing(root):
        yield "listing"


def _is_paged(root: etree._Element, url: str, original: str, hints: Hints) -> bool:
    # The body is read only if URLs and head have not told.
    return are_pages_of_one_listing(url, original, chain(hints.steps(), steps_in_body(root, hints.base)))
