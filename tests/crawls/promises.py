"""What is promised of a page of the annex, as its truth has it: the other side of docs/how-to/protected.rst."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from scrapy_simhash.config import PROTECTIONS
from tests.annex.truth import AnnexTruth
from tests.crawls.harness import IN_ORDER, Crawl, Page

#: Breadth first, one page after another.
NEAREST_FIRST: Mapping[str, Any] = {**IN_ORDER, "DEPTH_PRIORITY": 1}
#: Links that make a listing, see docs/concepts/hints.rst: shorter ones are not told from a "see also".
ENTRIES = 3


class Promise(NamedTuple):
    """What is to be done about a page, and why not more."""

    done: str
    exemption: str | None = None


def both(*actions: str) -> str:
    """Return the action that drops whatever one of *actions* does."""
    words = {word for action in actions for word in action.split(",")}
    if "drop_page" in words:
        return "drop_page"
    return ",".join(sorted(words - {"mark"})) or "mark"


def with_links(action: str) -> str:
    """Return what is left of *action* for a page whose links are followed."""
    return "drop_items" if loses_items(action) else "mark"


def loses_items(action: str) -> bool:
    return not {"drop_items", "drop_page"}.isdisjoint(action.split(","))


def loses_links(action: str) -> bool:
    return not {"drop_links", "drop_page"}.isdisjoint(action.split(","))


def seen(truth: AnnexTruth, done: Crawl) -> dict[str, Page]:
    """Return the pages of a crawl by their keys, in their order; the last visit to each."""
    return {truth.key(page.url): page for page in done.pages}


def copies(truth: AnnexTruth, done: Crawl) -> dict[str, str]:
    """Return the pages that repeat another one, and which."""
    return {
        key: truth.key(page.marks["duplicate_of"])
        for key, page in seen(truth, done).items()
        if "duplicate_of" in page.marks
    }


def is_exact(truth: AnnexTruth, key: str, original: str) -> bool:
    """Tell whether the main texts of two pages are the same to the letter."""
    one, other = truth.pages[key], truth.pages[original]
    # The pages of the board differ in the line that tells their number, which is no part of the main text.
    return one.text == other.text or one.family == other.family == "board"


def is_listing(truth: AnnexTruth, key: str) -> bool:
    """Tell whether a page is there for its links, and has enough of them. A digest is there for its texts."""
    page = truth.pages[key]
    return page.kind != "digest" and page.role in ("listing", "pagination") and len(page.links) >= ENTRIES


def protection(
    truth: AnnexTruth, key: str, original: str, starts: Collection[str], protect: Collection[str]
) -> str | None:
    """Return which of *protect* holds for the page at *key*; if several do, the one that keeps most."""
    page = truth.pages[key]
    # Parameters by which a shop counts its letters make no other address.
    own, other = key.partition("?utm_")[0], original.partition("?utm_")[0]
    is_variant = page.family.startswith("product:") and other not in (own, page.canonical)
    is_card = key.startswith("/annex/slip/card/")
    holds = {
        "language": page.role == "language",
        "pagination": page.role == "pagination",
        # Cards show what they want for it.
        "product": is_variant or (is_card and not is_exact(truth, key, original)),
        "start": key in starts,
        "listing": is_listing(truth, key),
    }
    return next((name for name in holds if holds[name] and name in protect), None)


def promise(
    truth: AnnexTruth,
    key: str,
    original: str,
    wish: str,
    starts: Collection[str],
    protect: Collection[str] = PROTECTIONS,
) -> Promise:
    """Return what is left of *wish* for the page at *key*, which repeats the one at *original*."""
    name = protection(truth, key, original, starts, protect)
    if name is None or wish == "mark":
        return Promise(wish)
    if name in ("language", "pagination", "product"):
        return Promise("mark", name)
    return Promise(with_links(wish), name if loses_links(wish) else None)


def made(page: Page) -> Promise:
    """Return what was done about a page."""
    return Promise(page.marks["done"], page.marks.get("exemption"))


def reached(
    truth: AnnexTruth, starts: Iterable[str], promises: Mapping[str, Promise], is_whole: bool = True
) -> set[str]:
    """Return what a crawl from *starts* comes to if each page is done to as promised.

    Where it is not the *whole* annex, the link to the start page, which every page has, is not followed.
    """
    cut = [key for key, promised in promises.items() if loses_links(promised.done)]
    if is_whole:
        return set(truth.reachable(*starts, without_links_of=cut))
    home = truth.starts[0]
    return set(truth.reachable(*starts, without_links_of=[home, *cut])) - {home}


def scraped(truth: AnnexTruth, done: Crawl) -> list[str]:
    """Return the keys of the pages of which there are items, sorted."""
    return sorted(truth.key(item["url"]) for item in done.items)


def with_items(keys: Iterable[str], promises: Mapping[str, Promise]) -> list[str]:
    """Return the pages among *keys* of which items are promised, sorted."""
    return sorted(key for key in keys if key not in promises or not loses_items(promises[key].done))
