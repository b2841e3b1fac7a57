"""The expected result for any two pages of the site, from truth.json.

README.md describes the file. The first rule that applies decides:

    1. one page is not content (short, file, error, redirect)      unscored    kind: its status
    2. same story, same language                                   duplicate   kind: how the copy was made
       (every edit keeps at least 90 % of the words; the grade is the share)
    3. same story, different language                              different   translation
    4. both are the login page, or both a soft 404                 duplicate   login-wall, soft-404
    5. two sizes of one product                                    different   product-variant
       (nine of ten words are equal, but they are different products)
    6. other texts (lists, notices), by their share of equal words:
       .99 or more                                                 duplicate
       .90 to .99                                                  unscored    both answers are correct
       below .90                                                   different
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple

from magazine.page import Address

Expected = Literal["duplicate", "different", "unscored"]

TRUTH_FILE = Path(__file__).parent / "truth.json"
SAME, CLOSE, KIN = 0.99, 0.95, 0.90


@dataclass(frozen=True)
class PageTruth:
    """The data about a page in truth.json.

    *text* is the key of the first page with the same main text; *words* is the length of this text. *family* is the
    same for the pages of one listing, and the sizes of one product. *crawl* is False if robots.txt
    forbids the page.
    """

    status: Literal["content", "short", "not_html", "error", "redirect"]
    kind: str
    text: str
    words: int
    http: int = 200
    lang: str = ""
    story: str = ""
    family: str = ""
    crawl: bool = True

    @property
    def names_its_text(self) -> bool:
        """Whether two pages with this text must be duplicates; not if their headlines differ."""
        return self.status == "content" and self.kind != "new-headline"


class Relation(NamedTuple):
    """The expected result for two pages.

    *equal* is the share (0-1) of equal words in their main texts; 0.0 below 0.8, and if a page is not content.
    *grade* is `>=.99`, `.95-.99` or `.90-.95` for duplicates, empty otherwise.
    """

    expected: Expected
    kind: str
    equal: float
    grade: str = ""


def grade(equal: float) -> str:
    """Return the grade of a duplicate by its share of equal words.

    >>> grade(1.0), grade(0.97), grade(0.9)
    ('>=.99', '.95-.99', '.90-.95')
    """
    if equal >= SAME:
        return ">=.99"
    return ".95-.99" if equal >= CLOSE else ".90-.95"


class Truth:
    """The data of truth.json. A page is named by its key in truth.json or by its full URL."""

    def __init__(self) -> None:
        document = json.loads(TRUTH_FILE.read_text(encoding="utf-8"))
        self.pages = {key: PageTruth(**page) for key, page in document["pages"].items()}
        self._shares = {frozenset(pair): share for *pair, share in document["shares"]}

    def key(self, url: str) -> str:
        """Return the key of a URL of the running site, with any port. Raises KeyError for an unknown page."""
        key = Address.of(url).key
        if key not in self.pages:
            raise KeyError(f"no page {key!r} in truth.json")
        return key

    def page(self, url: str) -> PageTruth:
        """Return the data about a page. Raises KeyError for an unknown page."""
        return self.pages[self.key(url)]

    def relation(self, one: str, other: str) -> Relation:
        """Return the expected result for two different pages; the order does not matter.

        Raises KeyError for an unknown page.
        """
        a, b = self.page(one), self.page(other)
        for page in (a, b):
            if page.status != "content":
                return Relation("unscored", page.status, 0.0)
        equal = 1.0 if a.text == b.text else self._shares.get(frozenset((a.text, b.text)), 0.0)
        if a.story and a.story == b.story:
            # How the two differ: `print-view`, or `corrected+print-view` for two copies.
            return Relation(
                "duplicate", "+".join(sorted({a.kind, b.kind} - {"article"})), equal, grade(equal)
            )
        if a.story and b.story and a.story.partition("/")[2] == b.story.partition("/")[2]:
            return Relation("different", "translation", equal)
        if a.kind == b.kind and a.kind in ("login-wall", "soft-404"):
            return Relation("duplicate", a.kind, equal, grade(equal))
        is_family = bool(a.family) and a.family == b.family
        if is_family and a.kind == b.kind == "product":
            return Relation("different", "product-variant", equal)
        kind = "listing-page" if is_family and a.kind == "listing" else "unrelated"
        if equal >= SAME:
            return Relation("duplicate", kind, equal, grade(equal))
        return Relation("unscored" if equal >= KIN else "different", kind, equal)

    def pairs(self, expected: Expected | None = None) -> Iterator[tuple[str, str, Relation]]:
        """Yield all pairs of content pages that may be crawled, as (key, key, relation).

        With *expected*, yield only pairs with this result. O(pages²): about twenty thousand pairs.
        """
        content = [key for key, page in self.pages.items() if page.status == "content" and page.crawl]
        for a, b in combinations(content, 2):
            relation = self.relation(a, b)
            if expected is None or relation.expected == expected:
                yield a, b, relation
