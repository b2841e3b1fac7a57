"""Descriptions of the values in a report, and of the verdict on a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import floor
from typing import Any

from scrapy_simhash.display import shown

#: Descriptions of actions.
DONE = {
    "mark": "It was marked, and nothing was dropped",
    "drop_items": "Its items were dropped",
    "drop_links": "Its links were dropped",
    "drop_items,drop_links": "Its items and its links were dropped",
    "drop_page": "It was dropped: its callback did not run",
}
#: Reasons why a page was protected from an action.
PROTECTED = {
    "url": "its URL matches SIMHASH_KEEP_URLS",
    "itself": "it has the same URL as its original",
    "start": "the links of a start page are followed",
    "listing": "the links of a listing are followed",
    "pagination": "it is another page of the same listing",
    "language": "it is the same page for a different language or country",
    "facts": "its facts contradict those of its original",
}
#: Results for a page that was seen before.
REVISITS = {
    "unchanged": "its text is unchanged",
    "small_change": "a little of its text has changed",
    "changed": "its text has changed",
    "now_near_duplicate": "its text has changed and is now a near-duplicate of another page",
}
#: Reasons why a page was not compared.
SKIPPED = {
    "opted_out": "its request has simhash: False",
    "status": "its HTTP status is not 2xx",
    "not_html": "it is not HTML",
    "truncated": "its body is not complete",
    "too_large": "it is larger than SIMHASH_MAXSIZE",
    "interstitial": "it is a login, consent or captcha page in place of another page",
    "short_text": "it has too little text for a fingerprint, and no other page has the same text",
}


#: The result of comparing a page.
STATUSES = {
    "new": "no earlier page has nearly the same text",
    "near_duplicate": "an earlier page has nearly the same text",
    "revisit": "the page was seen before",
    "skipped": "the page was not compared",
    "unknown": "the page could not be compared",
}
#: Descriptions of values, by key of a report.
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "status": STATUSES,
    "reason": {**SKIPPED, **REVISITS},
    "action": DONE,
    "protected": PROTECTED,
}


def explained(page: Mapping[str, Any], copies: int = 0) -> str:
    """Describe the line *page* of a report; *copies* is the number of its near-duplicates in the report.

    >>> explained({"url": "http://example.com/", "status": "skipped", "reason": "not_html"})
    'http://example.com/ was not compared: it is not HTML.'
    """
    return " ".join(f"{sentence}." for sentence in _sentences(page, copies))


def rounded(value: float, limit: float | None) -> float:
    """Return *value* rounded down to three digits, or to more if it would otherwise cross *limit*.

    Rounded down, the value stays below any threshold that it does not reach.

    >>> rounded(0.97897, 0.9789), rounded(0.97903, 0.979), rounded(0.8817, None)
    (0.9789, 0.979, 0.881)
    """
    for digits in range(3, 9):
        scale = float(10**digits)
        # 0.29 is stored as 0.28999999999999998.
        found = floor(value * scale + 1e-6) / scale
        if limit is None or (found >= limit) == (value >= limit):
            return found
    return value


def _sentences(page: Mapping[str, Any], copies: int) -> Iterator[str]:
    yield f"{shown(page['url'])} {_verdict(page)}"
    if page.get("duplicate_of") is not None and page["status"] == "revisit":
        yield f"It is a near-duplicate of {_original(page)}"
    if isinstance(miss := page.get("near_miss"), dict):
        yield _near_miss(miss)
    if page.get("hints"):
        yield f"Hints in markup and URLs connect the two pages: {', '.join(map(shown, page['hints']))}"
    if copies:
        yield (
            f"{copies:,} other pages are near-duplicates of it"
            if copies > 1
            else "One other page is a near-duplicate of it"
        )
    if page.get("action") is not None:
        yield DONE.get(page["action"], f"The action was {shown(page['action'])}")
    if page.get("protected") is not None:
        why = PROTECTED.get(page["protected"], "unknown reason")
        yield f"It was protected from the full action ({shown(page['protected'])}): {why}"


def _near_miss(miss: Mapping[str, Any]) -> str:
    alike = f"distance {shown(miss.get('distance'))}, similarity {shown(miss.get('similarity'))}"
    what = f"The most similar page that it was compared with is {shown(miss.get('url'))} ({alike})"
    if not miss.get("threshold"):
        return f"{what}: no SIMHASH_MIN_SIMILARITY would make it a near-duplicate"
    return f"{what}: with a SIMHASH_MIN_SIMILARITY of {shown(miss['threshold'])} or less it would be a near-duplicate"


def _verdict(page: Mapping[str, Any]) -> str:
    status, reason = page["status"], page.get("reason")
    if status == "near_duplicate":
        return f"is a near-duplicate of {_original(page)}"
    if status == "revisit":
        when = f", last on {shown(page['last_seen'])}" if page.get("last_seen") else ""
        return f"was seen before{when}: {REVISITS.get(str(reason), shown(reason))}"
    if status == "skipped":
        if reason == "status" and page.get("http_status") is not None:
            return f"was not compared: its HTTP status is {shown(page['http_status'])}"
        return f"was not compared: {SKIPPED.get(str(reason), shown(reason))}"
    if status == "new" and page.get("by_learning"):
        return (
            "was new: an earlier page had nearly the same text, but the unique texts of the two pages differ, too"
            " little was known about the site, or their structured data names different things"
        )
    if status == "new":
        return "was new: no earlier page had nearly the same text"
    if status == "unknown":
        why = "the store did not answer" if reason == "store" else "an error occurred, see the log"
        return f"was not compared: {why}"
    return f"was called {shown(status)}"


def _original(page: Mapping[str, Any]) -> str:
    original = f"{shown(page['duplicate_of'])}, which was seen first"
    if page.get("reason") == "short_text":
        return f"{original}: both have too little text for a fingerprint, and exactly the same text"
    how = "title and main text are identical" if page.get("exact") else "the texts are nearly the same"
    if page.get("by_learning"):
        how += " without the text that the site repeats"
    figures = []
    # The distance of a revisit refers to the former text of the same page.
    if page.get("distance") is not None and page["status"] != "revisit":
        figures.append(f"distance {shown(page['distance'])}")
    if page.get("similarity") is not None:
        figures.append(f"similarity {shown(page['similarity'])}")
    return f"{original}: {how}" + (f" ({', '.join(figures)})" if figures else "")
