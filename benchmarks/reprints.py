"""Measure whether an article is found again in the template of another site, and nothing else with it.

    SIMHASH_EVAL_PACK=/path/to/pack:/path/to/another python benchmarks/reprints.py      # --json for programs
    python benchmarks/reprints.py --pairs 500 --seed 2 --show 20

A reprint is made of two labelled pages of one language: where people have marked main text in the *template*, the
marked paragraphs go, and those of another page, the *article*, stand in their place. All else of the template stays
where it is: menus, teasers, share bars between the paragraphs. ``h1`` and ``title`` become those of the article. A
page serves as a template if the elements that hold only marked text cover most of it.

Pages are compared two by two, as pages of two sites about which nothing is known (``PageFingerprinter``):

* found: of one article in templates of two sites, the share that is near-duplicates. Its bound is the next figure;
* near itself: a reprint and the article's text alone (``from_text``), the share that is near-duplicates;
* merged: of two articles in one template, the share that is near-duplicates. All of these are errors: articles whose
  texts alone are near-duplicates are not drawn.

By the language and by the source of the templates. ``--show`` names the first reprints that were not found.

Not measured: shortened reprints, what is learned about a site, pages as they came (``benchmarks/quality.py``).
"""

from __future__ import annotations

import copy
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from lxml import etree

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.documents import FINGERPRINTER
from benchmarks.lib.pack import Doc, Pack, absence
from benchmarks.lib.report import arguments_of, counted, show
from scrapy_simhash.page.language import detect, normalize, tokenize
from scrapy_simhash.page.text import parse

#: Tokens of an article, at least: shorter ones are hardly a story.
LEAST = 120
#: Shares of the marked text that the elements of a template must hold, and of their text that must be marked.
COVERED, MARKED = 0.85, 0.8
#: Length of the shingles by which a paragraph is known as marked text.
SHINGLE = 3


class Article(NamedTuple):
    """The main text of a page as people see it, and its title."""

    id: str
    site: str
    language: str
    title: str
    paragraphs: tuple[str, ...]


class Template(NamedTuple):
    """A page without its marked text; an empty ``<ins id="reprint">`` shows where that began."""

    id: str
    site: str
    source: str
    language: str
    root: etree._Element


def pages_of(pack: Pack) -> Iterator[tuple[Article, Template | None]]:
    """Yield each page of *pack* that has a marked text of some length, as an article and as a template."""
    for doc, html in pack.html():
        if (gold := pack.gold.get(doc.id)) is None:
            continue
        tokens = tokens_of(gold.text)
        language = detect(tokens) or "other"
        if len(tokens) < LEAST:
            continue
        root = parse(html)
        lines = tuple(line for line in map(str.strip, gold.text.splitlines()) if line)
        yield (
            Article(doc.id, _site(doc), language, title_of(root), lines),
            template_of(doc, language, root, tokens),
        )


def tokens_of(text: str) -> list[str]:
    """Return the words of *text* as they are compared."""
    return list(tokenize(normalize(text)))


def title_of(root: etree._Element) -> str:
    """Return the text of the only ``h1``, or else the first part of ``title``."""
    headings = [" ".join("".join(one.itertext()).split()) for one in root.iter("h1")]
    title = " ".join((root.findtext("head/title") or "").split())
    return headings[0] if len(headings) == 1 and headings[0] else title.split(" | ")[0].split(" - ")[0]


def template_of(doc: Doc, language: str, root: etree._Element, gold: Sequence[str]) -> Template | None:
    """Return the page without its marked text, or None if that cannot be taken out cleanly. Changes *root*."""
    marked = set(_shingles(gold))
    left = Counter(gold)
    found = size = 0
    leaves = []
    for element in root.iter(etree.Element):
        if (
            element.tag in _UNSEEN
            or element.tag in _INLINE
            or any(one.tag not in _INLINE for one in element.iter(etree.Element) if one is not element)
        ):
            continue
        words = tokens_of("".join(element.itertext()))
        own = list(_shingles(words))
        if own and sum(one in marked for one in own) >= MARKED * len(own):
            count = Counter(words)
            found += (count & left).total()
            left -= count
            size += len(words)
            leaves.append(element)
    body = root.find("body")
    if found < COVERED * len(gold) or found < MARKED * size or body is None:
        return None
    # Where most of the marked text is, not a summary far above it.
    held: Counter[Any] = Counter()
    for element in leaves:
        held[element.getparent()] += len("".join(element.itertext()))
    ((most, _),) = held.most_common(1)
    siblings = [one for one in leaves if one.getparent() is most]
    siblings[0].addprevious(etree.fromstring('<ins id="reprint"/>'))
    for element in leaves:
        _drop(element)
    return Template(doc.id, _site(doc), doc.source, language, root)


#: Elements inside of a paragraph.
_INLINE = frozenset(
    "a abbr b bdi bdo big br cite code em font i img ins kbd mark q s small span strike strong sub sup time tt u"
    " wbr".split()
)
_UNSEEN = frozenset(("script", "style", "noscript", "template", "title", "head", "html", "body"))


def _drop(element: Any) -> None:
    parent, tail = element.getparent(), element.tail or ""
    before = element.getprevious()
    if before is not None:
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    parent.remove(element)


def _shingles(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield from zip(*(words[start:] for start in range(min(SHINGLE, len(words)))), strict=False)


def _site(doc: Doc) -> str:
    return doc.site or doc.id


def reprint(article: Article, template: Template) -> etree._Element:
    """Return *article* in *template*, as a tree of its own."""
    root = copy.deepcopy(template.root)
    for place in root.iter("h1", "title"):
        tail = place.tail
        place.clear()
        place.text, place.tail = article.title, tail
    (mark,) = root.xpath("//ins[@id='reprint']")
    for paragraph in article.paragraphs:
        element = etree.SubElement(mark.getparent(), "p")
        element.text = paragraph
        mark.addprevious(element)
    mark.getparent().remove(mark)
    return root


def measure(
    articles: Sequence[Article], templates: Sequence[Template], pairs: int, seed: int, shown: int
) -> dict[str, Any]:
    """Return the figures of *pairs* reprints of two sites, and as many pairs of articles in one template."""
    draw = Random(seed)
    by_language: defaultdict[str, list[Template]] = defaultdict(list)
    for template in templates:
        by_language[template.language].append(template)
    of_language = {
        language: [one for one in articles if one.language == language] for language in by_language
    }
    rows: dict[str, defaultdict[str, Counter[str]]] = {
        "by_language": defaultdict(Counter), "by_source": defaultdict(Counter), "all": defaultdict(Counter)
    }  # fmt: skip
    missed: list[dict[str, Any]] = []
    near = FINGERPRINTER.is_near_duplicate
    usable = [
        one for one in templates if len(by_language[one.language]) > 2 and len(of_language[one.language]) > 2
    ]
    for _ in counted(range(pairs), pairs, "pairs"):
        first = draw.choice(usable)
        others = [one for one in by_language[first.language] if one.site != first.site]
        stories = [one for one in of_language[first.language] if one.site != first.site]
        if not others or len(stories) < 2:
            continue
        second = draw.choice(others)
        article, other = draw.sample(stories, 2)
        itself, another = (FINGERPRINTER.from_text("\n".join(one.paragraphs)) for one in (article, other))
        if itself is None or another is None or near(itself, another):
            continue
        a, b, c = (
            FINGERPRINTER.from_html(reprint(story, template))
            for story, template in ((article, first), (article, second), (other, first))
        )
        is_found = a is not None and b is not None and near(a, b)
        counts = {
            "pairs": 1,
            "found": is_found,
            "near itself": a is not None and near(a, itself),
            "merged": a is not None and c is not None and near(a, c),
        }
        for by, of in (("all", "all"), ("by_language", first.language), ("by_source", first.source)):
            rows[by][of].update(counts)
        if not is_found and len(missed) < shown:
            missed.append({"article": article.id, "templates": f"{first.id}, {second.id}"})
    figures: dict[str, Any] = {
        by: {of: _shares(counts) for of, counts in sorted(group.items())} for by, group in rows.items()
    }
    return figures | ({"not found": missed} if missed else {})


def _shares(counts: Counter[str]) -> dict[str, float]:
    shares = {name: counts[name] / counts["pairs"] for name in ("found", "near itself", "merged")}
    return {"pairs": counts["pairs"], **shares}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON; 0 also without a pack."""
    parser = arguments_of(__doc__)
    parser.add_argument("--pairs", type=int, default=2_000, help="pairs of each kind (default: 2000)")
    parser.add_argument("--seed", type=int, default=1, help="which pairs are drawn (default: 1)")
    parser.add_argument("--show", type=int, default=0, help="name so many reprints that were not found")
    options = parser.parse_args(arguments)
    packs = Pack.locate_all()
    if not packs:
        return show(__file__, options, arguments, {"skipped": {"reason": absence()}})
    both = [both for pack in packs for both in pages_of(pack)]
    articles = [article for article, _ in both]
    templates = [template for _, template in both if template is not None]
    figures = measure(articles, templates, options.pairs, options.seed, options.show)
    return show(
        __file__, options, arguments, {"articles": len(articles), "templates": len(templates), **figures}
    )


if __name__ == "__main__":
    sys.exit(main())
