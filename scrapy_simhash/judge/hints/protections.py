"""Evidence: which hints connect a page with the one that it repeats. Protections: why it is treated with care."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain

from lxml import etree

from scrapy_simhash.judge.hints.markup import Hints, steps_in_body
from scrapy_simhash.judge.hints.page_kind import is_listing, is_product, makes_offer
from scrapy_simhash.judge.hints.urls import are_pages_of_one_listing, naming_words, url_key, words_of
from scrapy_simhash.page.language import stopwords
from scrapy_simhash.page.text import Document
from scrapy_simhash.page.text.main_text import LINKED

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


def says_of_urls(url: str, other: str) -> tuple[str, ...]:
    """Return what two URLs tell without their pages: ``address``, as in `HINTS`, or ``pagination``, or nothing.

    >>> says_of_urls("https://example.com/boats?page=2", "https://example.com/boats")
    ('pagination',)
    """
    if url_key(url) == url_key(other):
        return ("address",)
    return ("pagination",) if are_pages_of_one_listing(url, other) else ()


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
    document: Callable[[], Document],
    is_exact: bool = False,
) -> Iterator[str]:
    """Yield those of *wanted* that hold for the page at *url*, which repeats the one at *original*; cheapest first.

    - ``language``: the page calls *original* its translation;
    - ``pagination``: both are pages of one listing, see `are_pages_of_one_listing`. Of the evidence only that of
      the URL goes before: that page 2 names page 1 as canonical is the commonest mistake there is, and pages with
      the very same text may still hold other links;
    - ``product``: the page is about a thing on sale, unless the *evidence* says that it is the same page. It says so
      in its markup: then even the same text lifts nothing, for size and colour may stand in a form, a picture, in
      JSON alone. Or it shows a name and a price, as *document* reads it, unless the page *is_exact*, the same to the
      letter, which is as likely to be put up twice;
    - ``named``: each URL has words that the other has not, and the page says one of its own and none of the other
      page, as that of a branch or a job says where it is, see `naming_words`;
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
    may_be_variant = "product" in wanted and SAME_PAGE.isdisjoint(evidence)
    if may_be_variant and (is_product(root) or (not is_exact and makes_offer(document()))):
        yield "product"
    if "named" in wanted and SAME_PAGE.isdisjoint(evidence):
        own, other = naming_words(url, original), naming_words(original, url)
        if own and other and _says_its_name(document(), own, other, is_exact):
            yield "named"
    if "listing" in wanted and is_listing(root):
        yield "listing"


def _says_its_name(document: Document, own: frozenset[str], other: frozenset[str], is_exact: bool) -> bool:
    """Tell whether a page says one of its *own* words, and none of the *other* page, but in links and as stopwords.

    What an exact copy says in its text, the other page says too.
    """
    text = {word for part in document.main for word in part.tokens}
    beside = {
        word
        for part in document.paragraphs
        if part.boilerplate is not None and part.link_density < LINKED
        for word in part.tokens
    }
    said, known = beside | text | words_of(document.title), stopwords(document.language)
    names = beside - text if is_exact else said
    return not (own - known).isdisjoint(names) and (other - known).isdisjoint(said)
