"""Evidence (hints that connect a page with its original) and protections (reasons to keep a page or its links)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from lxml import etree

from scrapy_simhash.judge.hints.markup import Hints, steps_in_body
from scrapy_simhash.judge.hints.page_kind import is_listing
from scrapy_simhash.judge.hints.urls import are_pages_of_one_listing, url_key

#: Hints that both URLs lead to the same page.
SAME_PAGE = frozenset(("canonical", "address", "redirect"))
#: The hreflang value of the page for all languages that are not listed.
_NO_LANGUAGE = "x-default"


def evidence(hints: Hints, url: str, original: str, redirects: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the hints that connect the page at *url*, whose head has *hints*, with the page at *original*.

    They are reported in this order:

    - ``canonical``: the page names *original* as its canonical URL;
    - ``address``: both URLs certainly lead to the same page, see `url_key`;
    - ``redirect``: *original* is among *redirects*, the URLs from which this request was redirected to *url*;
    - ``hreflang``: the page names *original* as its translation.

    URLs are compared by their keys. Never raises. O(URLs), about 30 µs each.

    >>> page = Hints("http://example.com/print/7", canonical="https://example.com/boats/")
    >>> evidence(page, "http://example.com/print/7", "http://example.com/boats")
    ('canonical',)
    """
    own, other = url_key(url), url_key(original)
    found = []
    if hints.canonical is not None and url_key(hints.canonical) == other:
        found.append("canonical")
    if own == other:
        found.append("address")
    if redirects and other in map(url_key, redirects):
        found.append("redirect")
    if hints.alternates and _is_translation(hints, own, other):
        found.append("hreflang")
    return tuple(found)


def _is_translation(hints: Hints, own: str, other: str) -> bool:
    """Return whether *other* is an alternate of *own* in another language."""
    entries = [
        (language, url_key(target)) for language, target in hints.alternates if language != _NO_LANGUAGE
    ]
    languages = {language for language, key in entries if key == own}
    return any(key == other and language not in languages for language, key in entries) and own != other


def protections(
    root: etree._Element,
    url: str,
    original: str,
    hints: Hints,
    evidence: Collection[str],
    wanted: Collection[str],
    contradicts: bool,
) -> Iterator[str]:
    """Yield the *wanted* protections that apply to the page at *url*, a near-duplicate of *original*; cheapest first.

    - ``language``: the page names *original* as its translation;
    - ``pagination``: both are pages of one listing, see `are_pages_of_one_listing`. Only the hint ``address``
      overrides it: many listings wrongly name page 1 as canonical on page 2, and pages with the same text may have
      different links;
    - ``facts``: the facts of the page *contradict* those of *original*, unless the *evidence* shows that it is the
      same page;
    - ``listing``: the page is mostly links to other pages.

    Each protection is checked when the iterator reaches it. *root* is not changed. Never raises. O(nodes).
    """
    if "language" in wanted and "hreflang" in evidence:
        yield "language"
    if "pagination" in wanted and "address" not in evidence:
        # Read the body only if URLs and head do not decide.
        in_body = steps_in_body(root, hints.base)
        steps = chain(hints.steps(), in_body) if hints.beside else in_body
        if are_pages_of_one_listing(url, original, steps):
            yield "pagination"
    if contradicts and "facts" in wanted and SAME_PAGE.isdisjoint(evidence):
        yield "facts"
    if "listing" in wanted and is_listing(root):
        yield "listing"
