"""Measure whether the page hash distinguishes changed pages from unchanged pages.

    SIMHASH_EVAL_PACK=/path/to/pack:/path/to/another python benchmarks/unchanged.py      # --json for programs
    python benchmarks/unchanged.py --pages 500 --seed 2

* fact seen, line seen: the share of pages whose hash changes if one word of a fact, or of any line, is changed. A
  *fact* is a short text between the first heading and the first long paragraph, a cell, a term, a caption, an entry
  or a time. Facts and lines are inside the *article*: the smallest element with the first ``h1`` and the element
  whose paragraphs have the most text. Links, forms, scripts and hidden elements are not changed.

The benchmark itself finds the article, without the code of the package. Results are separate for each evaluation
pack.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from lxml import etree

# So that this file can be run as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.documents import FINGERPRINTER
from benchmarks.lib.pack import Pack, absence
from benchmarks.lib.report import arguments_of, counted, show
from scrapy_simhash.page.text import parse

#: Min words of a long paragraph, and max words of a short text.
LONG, SHORT = 25, 12
#: Elements that are not changed, with their content.
LEFT = frozenset(
    "a aside button footer form head header nav noscript script select style svg textarea".split()
)
#: Elements whose text is a fact, if it is short.
FACTS = frozenset("caption dd dt figcaption li td th time".split())


class Line(NamedTuple):
    """A text node of an article that can be changed."""

    element: etree._Element
    is_tail: bool
    is_fact: bool

    def change(self, random: Random) -> None:
        """Replace one word, or one number, by another."""
        text = (self.element.tail if self.is_tail else self.element.text) or ""
        words = text.split()
        place = random.randrange(len(words))
        word = words[place]
        is_number = any(character.isdigit() for character in word)
        words[place] = str(random.randrange(10_000, 99_999)) if is_number else f"{word[:1]}quorl"
        changed = f" {' '.join(words)} "
        if self.is_tail:
            self.element.tail = changed
        else:
            self.element.text = changed


def article_of(root: etree._Element) -> etree._Element | None:
    """Return the smallest element with the first ``h1`` and most of the paragraphs; None if one is missing."""
    heading = next(root.iter("h1"), None)
    held: Counter[etree._Element] = Counter()
    for paragraph in root.iter("p"):
        parent = paragraph.getparent()
        if parent is not None and not any(element.tag in LEFT for element in paragraph.iterancestors()):
            held[parent] += len(" ".join(paragraph.itertext()).split())
    if heading is None or not held:
        return None
    body = max(held, key=lambda element: held[element])
    around = {body, *body.iterancestors()}
    return next((element for element in heading.iterancestors() if element in around), None)


def lines_of(article: etree._Element) -> Iterator[Line]:
    """Yield the texts of an article that can be changed, in their order."""
    is_behind_heading = is_behind_long = False
    left: set[etree._Element] = set()
    for element in article.iter():
        if not isinstance(element.tag, str):
            continue
        parent = element.getparent()
        hides = element.get("hidden") is not None or "display:none" in (element.get("style") or "").replace(
            " ", ""
        )
        if parent in left or element.tag in LEFT or hides:
            left.add(element)
        elif element.text and element.text.strip():
            words = len(" ".join(element.itertext()).split())
            is_beside = is_behind_heading and not is_behind_long and words < SHORT
            is_fact = words < SHORT and (element.tag in FACTS or is_beside) and element.tag != "h1"
            is_behind_long = is_behind_long or (is_behind_heading and words >= LONG)
            yield Line(element, False, is_fact)
        is_behind_heading = is_behind_heading or element.tag == "h1"
        if element is not article and element.tail and element.tail.strip() and parent not in left:
            yield Line(element, True, False)


def page_hash(root: etree._Element) -> int | None:
    """Return the page hash."""
    return FINGERPRINTER.read(root).page_hash


def changes_seen(page: bytes, random: Random) -> dict[str, bool]:
    """Return, for a ``fact`` and a ``line`` if the page has them, whether changing it changes the page hash."""
    before, seen = page_hash(parse(page)), {}
    for what in ("fact", "line"):
        root = parse(page)
        article = article_of(root)
        lines = (
            [] if article is None else [line for line in lines_of(article) if line.is_fact or what == "line"]
        )
        if lines and before is not None:
            random.choice(lines).change(random)
            seen[what] = page_hash(root) != before
    return seen


def measure(pack: Pack, pages: int, seed: int) -> dict[str, Any]:
    """Return how many changes of the pages of *pack* are detected."""
    random = Random(seed)
    ids = sorted(id for id, doc in pack.docs.items() if doc.kind == "page")
    changed = set(random.sample(ids, min(len(ids), pages)))
    found: Counter[str] = Counter()
    for doc, body in counted(pack.html(), len(pack.docs), f"pages of {pack.name}"):
        if doc.id in changed:
            for what, is_seen in changes_seen(body, Random(f"{seed} {doc.id}")).items():
                found.update({what: 1, f"{what} seen": is_seen})
    return {
        "facts": found["fact"],
        "fact seen": _share(found["fact seen"], found["fact"]),
        "lines": found["line"],
        "line seen": _share(found["line seen"], found["line"]),
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON, and return 0, even without a pack."""
    parser = arguments_of(__doc__)
    parser.add_argument("--pages", type=int, default=200, help="pages of a pack to change (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="which pages are drawn (default: 1)")
    options = parser.parse_args(arguments)
    packs = Pack.locate_all()
    figures: dict[str, Any] = {pack.name: measure(pack, options.pages, options.seed) for pack in packs}
    return show(__file__, options, arguments, figures or {"skipped": absence()})


if __name__ == "__main__":
    sys.exit(main())
