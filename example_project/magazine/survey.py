"""Make the truth: look at every page of the built site and measure how much of their words any two share.

Everything here is counted from the content (`Page.main_text`); no markup is read and no detector is asked.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from magazine.page import Page
from magazine.relation import Expected, PageTruth, Status, grade, judge
from magazine.site import Site
from magazine.words import bag_share, words

# Fewer words than this are a caption, not a text: no fingerprint of them would mean anything.
SHORT = 25


@dataclass(frozen=True)
class Group:
    """Pages that belong together. In a story's group the first URL is the article, the rest are its copies.

    *main_text_equal* is the smallest share found: to the first URL in a `star` group, between any two in a
    `clique`. *expected* holds for exactly those pairs.
    """

    kind: str
    expected: Expected
    shape: Literal["star", "clique"]
    urls: tuple[str, ...]
    main_text_equal: float
    grade: str = ""


class Shares:
    """The share of equal words between any two main texts of a site, each pair measured once."""

    def __init__(self, site: Site) -> None:
        self._bags = {address.key: Counter(words(page.main_text)) for address, page in site.items()}
        self._measured: dict[tuple[str, str], float] = {}

    def between(self, a: str, b: str) -> float:
        """Return the share (0-1) for the pages with these keys. Raises KeyError for an unknown page."""
        pair = (a, b) if a < b else (b, a)
        if pair not in self._measured:
            self._measured[pair] = bag_share(self._bags[a], self._bags[b])
        return self._measured[pair]


def survey_pages(site: Site) -> dict[str, PageTruth]:
    """Return what there is to say about each page, by key, sorted."""
    first_with: dict[str, str] = {}
    pages = {}
    for address, page in site.items():
        text = first_with.setdefault(page.main_text, address.key) if page.main_text else ""
        pages[address.key] = PageTruth(
            status=_status(page),
            kind=page.kind,
            text=text,
            words=len(words(page.main_text)),
            http=page.status,
            lang=page.lang,
            story=page.story,
            family=page.family,
            crawl=page.kind != "robots-disallowed",
        )
    return dict(sorted(pages.items()))


def survey_groups(pages: Mapping[str, PageTruth], shares: Shares) -> list[Group]:
    """Return the groups, sorted by kind and first URL."""
    groups = [
        *_story_groups(pages, shares),
        *_translation_groups(pages, shares),
        *_family_groups(pages, shares),
    ]
    return sorted(groups, key=lambda group: (group.kind, group.urls))


def close_texts(pages: Mapping[str, PageTruth], shares: Shares, least: float) -> dict[tuple[str, str], float]:
    """Return every two different main texts of content pages that share at least *least* of their words."""
    texts = sorted({page.text for page in pages.values() if page.status == "content"})
    measured = {pair: shares.between(*pair) for pair in combinations(texts, 2)}
    return {pair: share for pair, share in measured.items() if share >= least}


def _status(page: Page) -> Status:
    if page.kind in ("redirect", "meta-refresh"):
        return "redirect"
    if page.status >= 400:
        return "error"
    if not page.is_html:
        return "not_html"
    return "content" if len(words(page.main_text)) >= SHORT else "short"


def _story_groups(pages: Mapping[str, PageTruth], shares: Shares) -> Iterator[Group]:
    articles = {page.story: key for key, page in pages.items() if page.kind == "article"}
    copies: dict[tuple[str, str], list[str]] = {}
    for key, page in pages.items():
        if page.story and page.kind != "article":
            copies.setdefault((page.story, page.kind), []).append(key)
    for (story, kind), urls in copies.items():
        article = articles[story]
        equal = min(shares.between(article, url) for url in urls)
        yield Group(kind, "duplicate", "star", (article, *urls), _rounded(equal), grade(equal))


def _translation_groups(pages: Mapping[str, PageTruth], shares: Shares) -> Iterator[Group]:
    by_slug: dict[str, list[str]] = {}
    for key, page in pages.items():
        if page.kind == "article":
            by_slug.setdefault(page.story.partition("/")[2], []).append(key)
    for urls in by_slug.values():
        if len(urls) > 1:
            yield clique("translation", "different", urls, shares)


def _family_groups(pages: Mapping[str, PageTruth], shares: Shares) -> Iterator[Group]:
    """Group login pages, soft 404s, products, pages of one listing, and the months, by what the rules expect."""
    families: dict[str, list[str]] = {}
    for key, page in pages.items():
        if page.status == "content" and (page.family or page.kind in ("login-wall", "soft-404")):
            families.setdefault(page.family or page.kind, []).append(key)
    for urls in families.values():
        together: dict[tuple[Expected, str], set[str]] = {}
        for a, b in combinations(urls, 2):
            relation = judge(pages[a], pages[b], shares.between(a, b))
            together.setdefault((relation.expected, relation.kind), set()).update((a, b))
        for (expected, kind), members in together.items():
            if all(
                judge(pages[a], pages[b], shares.between(a, b)).expected == expected
                for a, b in combinations(sorted(members), 2)
            ):
                yield clique(kind, expected, sorted(members), shares)


def clique(kind: str, expected: Expected, urls: list[str], shares: Shares) -> Group:
    """Return the group of *urls*, of which any two have the relation *kind*."""
    equal = min(shares.between(a, b) for a, b in combinations(urls, 2))
    return Group(
        kind,
        expected,
        "clique",
        tuple(urls),
        _rounded(equal),
        grade(equal) if expected == "duplicate" else "",
    )


def _rounded(share: float) -> float:
    return round(share, 4)
