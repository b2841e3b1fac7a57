"""Evidence: which hints connect a page with the one that it repeats. Protections: why it is treated with care."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from lxml import etree

from scrapy_simhash.judge.hints.markup import Hints, steps_in_body
from scrapy_simhash.judge.hints.page_kind import is_listing
from scrapy_simhash.judge.hints.urls import are_pages_of_one_listing, url_key

#: All there are, in the order in which they are named.
HINTS = ("canonical", "address", "redirect", "hreflang")
#: Those that call the two the same page.
SAME_PAGE = frozenset(("canonical", "address", "redirect"))
#: Says which page is for readers of any language: no language itself.
_NO_LANGUAGE = "x-default"


def evidence(hints: Hints, url: str, original: str, redirects: Sequence[str] = ()) -> tuple[str, ...]:
    """Return which of `HINTS` hold between the page at *url*, which says *hints*, and the page at *original*.

    - ``canonical``: the page names *original* as its canonical URL;
    - ``address``: both URLs are surely those of one page, see `url_key`;
    - ``redirect``: *original* is among *redirects*, the URLs by which this request came to *url*;
    - ``hreflang``: the page names *original* as itself in another language.

    URLs are compared by their keys. Never raises. O(URLs), some 30 µs each.

    >>> page = Hints("http://example.com/print/7", canonical="https://example.com/boats/")
    >>> evidence(page, "http://example.com/print/7", "http://example.com/boats")
    ('canonical',)
    """
    own, other = url_key(url), url_key(original)
    held = {
        "canonical": hints.canonical is not None and url_key(hints.canonical) == other,
        "address": own == other,
        "redirect": any(url_key(redirect) == other for redirect in redirects),
        "hreflang": _is_translation(hints, own, other),
    }
    return tuple(hint for hint in HINTS if held[hint])


def _is_translation(hints: Hints, own: str, other: str) -> bool:
    """Tell whether the page at *other* is an alternate in a language that the page at *own* is not in."""
    entries = [
        (language, url_key(target)) for language, target in hints.alternates if language != _NO_LANGUAGE
    ]
    spoken = {language for language, key in entries if key == own}
    return any(key == other and language not in spoken for language, key in entries) and own != other


def protections(
    root: etree._Element,
    url: str,
    original: str,
    hints: Hints,
    evidence: Collection[str],
    wanted: Collection[str],
    contradicts: bool,
) -> Iterator[str]:
    """Yield those of *wanted* that hold for the page at *url*, which repeats the one at *original*; cheapest first.

    - ``language``: the page calls *original* its translation;
    - ``pagination``: both are pages of one listing, see `are_pages_of_one_listing`. Of the evidence only that of
      the URL goes before: that page 2 names page 1 as canonical is the commonest mistake there is, and pages with
      the very same text may still hold other links;
    - ``facts``: its facts *contradict* those of *original*, unless the *evidence* says that it is the same page;
    - ``listing``: the page is mostly links to others.

    Each is looked at when it is asked for. *root* is read only. Never raises. O(nodes).
    """
    if "language" in wanted and "hreflang" in evidence:
        yield "language"
    if "pagination" in wanted and "address" not in evidence:
        # The body is read only if URLs and head have not told.
        steps = chain(hints.steps(), steps_in_body(root, hints.base))
        if are_pages_of_one_listing(url, original, steps):
            yield "pagination"
    if contradicts and "facts" in wanted and SAME_PAGE.isdisjoint(evidence):
        yield "facts"
    if "listing" in wanted and is_listing(root):
        yield "listing"
