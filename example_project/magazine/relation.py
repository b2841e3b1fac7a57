"""The rules: what a near-duplicate detector ought to conclude about two pages, and why.

The first rule that fits decides.

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

from dataclasses import dataclass
from typing import Literal

Status = Literal["content", "short", "not_html", "error", "redirect"]
Expected = Literal["duplicate", "different", "unscored"]

SAME = 0.99
CLOSE = 0.95
KIN = 0.90


@dataclass(frozen=True)
class PageTruth:
    """What truth.json says of one page.

    *text* names the first page with the same main text; *words* is the length of that text. *family* joins the
    pages of one listing, the sizes of one product, the months. *crawl* is False where robots.txt says no.
    """

    status: Status
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


@dataclass(frozen=True)
class Relation:
    """What to conclude about two pages.

    *equal* is the share (0-1) of words their main texts have in common, 0.0 where it is below 0.8 or a page is not
    content. *grade* is `>=.99`, `.95-.99` or `.90-.95` for duplicates, empty otherwise.
    """

    expected: Expected
    kind: str
    equal: float
    grade: str = ""


def judge(a: PageTruth, b: PageTruth, equal: float) -> Relation:
    """Apply the rules of this module to two different pages whose main texts share *equal* of their words."""
    for page in (a, b):
        if page.status != "content":
            return Relation("unscored", page.status, 0.0)
    if a.story and a.story == b.story:
        return _duplicate(_copy_kind(a, b), equal)
    if a.story and b.story and a.story.partition("/")[2] == b.story.partition("/")[2]:
        return Relation("different", "translation", equal)
    if a.kind == b.kind and a.kind in ("login-wall", "soft-404"):
        return _duplicate(a.kind, equal)
    is_family = bool(a.family) and a.family == b.family
    if is_family and a.kind == b.kind == "product":
        return Relation("different", "product-variant", equal)
    kind = _FAMILY_KINDS.get(a.kind, "unrelated") if is_family else "unrelated"
    if equal >= SAME:
        return _duplicate(kind, equal)
    return Relation("unscored" if equal >= KIN else "different", kind, equal)


def grade(equal: float) -> str:
    """Return the grade of a duplicate by its share of equal words.

    >>> grade(1.0), grade(0.97), grade(0.9)
    ('>=.99', '.95-.99', '.90-.95')
    """
    if equal >= SAME:
        return ">=.99"
    return ".95-.99" if equal >= CLOSE else ".90-.95"


_FAMILY_KINDS = {"calendar": "calendar-month", "listing": "listing-page"}


def _duplicate(kind: str, equal: float) -> Relation:
    if equal < KIN:
        raise ValueError(f"{kind}: only {equal:.3f} of the words are equal, too few for a planted duplicate")
    return Relation("duplicate", kind, equal, grade(equal))


def _copy_kind(a: PageTruth, b: PageTruth) -> str:
    """Name the way from one copy to the other: `print-view`, or `corrected+print-view` between two copies."""
    kinds = sorted({a.kind, b.kind} - {"article"})
    return "+".join(kinds)
