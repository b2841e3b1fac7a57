"""What a near-duplicate detector ought to conclude about any two pages of the site, and why, by truth.json.

The layout of the file stands in the project's README. The first rule that fits decides.

    1. one of them is not content (short, file, error, redirect)   unscored    kind: its status
    2. same story, same language                                   duplicate   kind: how the copy was made
       (every planted edit keeps at least 90 % of the words; the grade says how much)
    3. same story, another language                                different   translation
    4. both the login page, both the soft 404                      duplicate   login-wall, soft-404
    5. two sizes of one product                                    different   product-variant
       (nine words in ten agree, but a shop sells them apart)
    6. two texts that were never one story (lists, months, notices), by their words:
       at least .99 equal                                          duplicate
       .90 to .99 equal                                            unscored    neither answer is wrong
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
_FAMILY_KINDS = {"calendar": "calendar-month", "listing": "listing-page"}


@dataclass(frozen=True)
class PageTruth:
    """What truth.json says of one page.

    *text* names the first page with the same main text; *words* is the length of that text. *family* joins the
    pages of one listing, the sizes of one product, the months. *crawl* is False where robots.txt says no.
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
        """Whether pages with this text are one page: under another headline on one site they may be two."""
        return self.status == "content" and self.kind != "new-headline"


class Relation(NamedTuple):
    """What to conclude about two pages.

    *equal* is the share (0-1) of words their main texts have in common, 0.0 where it is below 0.8 or a page is not
    content. *grade* is `>=.99`, `.95-.99` or `.90-.95` for duplicates, empty otherwise.
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
    """What is so about the pages of the site. A page is named by its key in truth.json or by its full URL."""

    def __init__(self) -> None:
        document = json.loads(TRUTH_FILE.read_text(encoding="utf-8"))
        self.pages = {key: PageTruth(**page) for key, page in document["pages"].items()}
        self._shares = {frozenset(pair): share for *pair, share in document["shares"]}

    def key(self, url: str) -> str:
        """Return the key of a URL of the running site, whatever its port. Raises KeyError for an unknown page."""
        key = Address.of(url).key
        if key not in self.pages:
            raise KeyError(f"no page {key!r} in truth.json")
        return key

    def page(self, url: str) -> PageTruth:
        """Return what is known of one page. Raises KeyError for an unknown one."""
        return self.pages[self.key(url)]

    def relation(self, one: str, other: str) -> Relation:
        """Return what to conclude about two different pages; the order does not matter.

        Raises KeyError for an unknown page.
        """
        a, b = self.page(one), self.page(other)
        for page in (a, b):
            if page.status != "content":
                return Relation("unscored", page.status, 0.0)
        equal = 1.0 if a.text == b.text else self._shares.get(frozenset((a.text, b.text)), 0.0)
        if a.story and a.story == b.story:
            # The way from one copy to the other: `print-view`, or `corrected+print-view` between two copies.
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
        kind = _FAMILY_KINDS.get(a.kind, "unrelated") if is_family else "unrelated"
        if equal >= SAME:
            return Relation("duplicate", kind, equal, grade(equal))
        return Relation("unscored" if equal >= KIN else "different", kind, equal)

    def pairs(self, expected: Expected | None = None) -> Iterator[tuple[str, str, Relation]]:
        """Yield every two content pages that may be crawled, as (key, key, relation); optionally of one outcome.

        O(pages²): some twenty thousand pairs.
        """
        content = [key for key, page in self.pages.items() if page.status == "content" and page.crawl]
        for a, b in combinations(content, 2):
            relation = self.relation(a, b)
            if expected is None or relation.expected == expected:
                yield a, b, relation
