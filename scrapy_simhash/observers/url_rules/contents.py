"""The content of a page that URL rules and traps compare."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from itertools import islice, takewhile
from math import log2
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_simhash.judge.hints import is_listing
from scrapy_simhash.observers.url_rules.urls import CutUrl, cut
from scrapy_simhash.page.fingerprint import number
from scrapy_simhash.page.text.tree import Walk, elements, texts
from scrapy_simhash.verdict import Reason, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_simhash.crawling import Page

#: Max links of a list page whose texts are compared, and max nodes per link.
MAX_LINKS, MAX_LINK_NODES = 1_000, 15
#: Max nodes of a short page, or of a page with a date in its URL, that are read again.
MAX_NODES = 10_000
#: Elements whose text is not displayed.
_UNSEEN = frozenset(("script", "style", "noscript", "template"))
_TOKENS = re.compile(r"\w+")
#: A part of a date, in any language whose month names begin with these letters.
_PART = re.compile(
    "[0-9]+|w|week|(?:jan|feb|mar|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-z]*", re.IGNORECASE
)
_WORDS = re.compile("[0-9]+|[a-z]+", re.IGNORECASE)
#: A year and month, with or without a day, without separators; or seconds since 1970 in a query.
_COMPACT = re.compile(r"(?<![0-9])((?:19|20)[0-9]{2})(0[1-9]|1[0-2])([0-3][0-9])?(?![0-9])")
_SECONDS = re.compile(r"(?<![0-9])1[0-9]{9}(?![0-9])")
_YEAR = re.compile("(?:19|20)[0-9][0-9]|=1[0-9]{9}")
#: A page that is smaller by more size steps than this (by a third to a half) may lack links.
SMALLER = 2
#: Max characters of a date at the end of a path.
MAX_DATE = 40


class Content(NamedTuple):
    """The content of a page, as two hashes."""

    text: int
    """Hash of title, text and facts; for a short page or an interstitial, of all displayed text."""
    links: int = 0
    """Hash of the texts of the links of a list page, whatever their order; 1 for a page that is not a list, 0 if
    unknown."""
    is_short: bool = False
    is_interstitial: bool = False
    is_silent: bool = False
    """Whether the page has hardly any main text, because scripts may insert it."""
    size: int = 0
    """Size of the page in steps of a fifth: 4 log2(bytes)."""

    def equals(self, text: int, links: int, size: int = 255) -> bool | None:
        """Return whether an earlier page with these hashes and this size can replace this one; None if unknown.

        Lists with the same links in a different order are equal, because both lead to the same pages. A page that is
        much smaller, such as a print view, may lack links.
        """
        if self.size > size + SMALLER:
            return False
        if self.text == text:
            return True
        if self.links > 1 and links == 0:
            return None
        return self.links > 1 and self.links == links


def content_of(page: Page, url: CutUrl) -> Content | None:
    """Return the content of *page*; None if the page was not compared.

    Takes less than a microsecond, except for short pages, and for near-duplicates that are not exact duplicates.
    """
    verdict, reading = page.verdict, page.reading
    if reading is None:
        is_other = verdict.reason is Reason.NOT_HTML and page.response.body
        return Content(number(page.response.body.hex())) if is_other else None
    if verdict.status is Status.UNKNOWN:
        return None
    if reading.is_interstitial:
        return Content(_seen_text(page), is_short=True, is_interstitial=True)
    if reading.page_hash is None:
        text = _seen_text(page, _UNSEEN - {"script"})
        return Content(text, is_short=True, is_silent=True)
    if reading.fingerprint is None:
        return Content(_seen_text(page), is_short=True)
    links = _links(page.tree) if url.query and verdict.duplicate_of and not verdict.is_exact else 0
    return Content(reading.page_hash, links, size=int(4 * log2(len(page.response.body) or 1)))


def _seen_text(page: Page, unseen: frozenset[str] = _UNSEEN) -> int:
    """Return a hash of all displayed text of *page*, except for white space. O(nodes)."""
    return number("\n".join(_lines(page.tree, unseen)))


def _links(root: Any) -> int:
    """Return a hash of the texts of the links of a list page, in any order; 1 for a page that is not a list."""
    if not is_listing(root):
        return 1
    links = elements(root, "a", limit=MAX_LINKS)
    shown = sorted(" ".join("".join(texts(link, MAX_LINK_NODES)).split()) for link in links)
    return number("\n".join(shown)) | 2


class Date(NamedTuple):
    """A date in a URL, with or without a day."""

    year: str
    numbers: frozenset[int]
    """The numbers of year, month and day, except those written as words."""


def may_be_dated(url: str) -> bool:
    """Return whether *url* may name a date."""
    # Searching for a string takes a tenth of the time of a regular expression.
    return ("20" in url or "19" in url or "=1" in url) and _YEAR.search(url) is not None


def date_in(url: CutUrl) -> Date | None:
    """Return the date in *url*; None if there is no date.

    The path of an archive of a day or a month ends with the date; the path of an article continues after it.

    >>> [sorted(date_in(cut(f"https://a.example/{rest}")).numbers) for rest in ("may-2024", "?t=1714521600")]
    [[2024], [1, 5, 2024]]
    """
    words = _WORDS.findall(_COMPACT.sub(r"\1 \2 \3", url.path[-MAX_DATE:]))
    found = [list(takewhile(_PART.fullmatch, reversed(words)))]
    if url.query:
        text = _SECONDS.sub(_date_of_seconds, "&".join(url.query))
        found.append(list(filter(_PART.fullmatch, _WORDS.findall(_COMPACT.sub(r"\1 \2 \3", text)))))
    for parts in found:
        year = next((part for part in parts if len(part) == 4 and part[:2] in ("19", "20")), None)
        others = [part for part in parts if len(part) < 3 or part.isalpha()]
        if year is not None and others:
            return Date(year, frozenset(int(part) for part in (year, *others) if part.isdecimal()))
    return None


def _date_of_seconds(match: re.Match[str]) -> str:
    return datetime.fromtimestamp(int(match[0]), timezone.utc).strftime("%Y %m %d")


def text_without_date(page: Page, date: Date) -> int:
    """Return a hash of the displayed text of *page* without the *date* in its URL.

    In a line with the year, the numbers of year, month and day are left out, each with the words next to it, such as
    the name of a month or a weekday in any language. Lines with only a number, as in a calendar, and links to URLs
    with a date are also left out. O(nodes).
    """
    lines = []
    for line in _lines(page.tree, _UNSEEN, page.response.urljoin):
        tokens = _TOKENS.findall(line)
        if len(tokens) == 1 and tokens[0].isdecimal():
            continue
        if date.year in line:
            named = {
                at for at, token in enumerate(tokens) if token.isdecimal() and int(token) in date.numbers
            }
            tokens = [token for at, token in enumerate(tokens) if named.isdisjoint((at - 1, at, at + 1))]
        lines.append(" ".join(tokens))
    return number("\n".join(lines))


def _lines(root: Any, unseen: frozenset[str], urljoin: Any = None) -> Iterator[str]:
    """Yield the texts under *root* outside *unseen* elements; if *urljoin* is given, without links to dates."""
    walk = Walk(root)
    for event, node in islice(walk, 2 * MAX_NODES):
        if event == "start":
            walk.skips = node.tag in unseen or (
                node.tag == "a" and urljoin is not None and _has_date(urljoin, node.get("href", ""))
            )
        text = node.text if event == "start" and not walk.skips else node.tail if event != "start" else None
        if text and not text.isspace():
            yield " ".join(text.split())


def _has_date(urljoin: Any, href: str) -> bool:
    if not may_be_dated(href):
        return False
    try:
        url = cut(urljoin(href))
    except ValueError:
        return False
    return url is not None and date_in(url) is not None
