"""Measure what edits and templates do to the default rule.

    python benchmarks/ladders.py                 # three tables; --json for programs
    python benchmarks/ladders.py --variants 1 --pages 60

Pages of this project's own, made from the stories of the example magazine; no pack. The same seed, the same pages.

* edits: in each story (English, Spanish, Chinese) 0.5 to 20 % of the words are replaced by words of other stories,
  as one phrase or scattered; a larger edit contains the smaller one. Which share does the default rule still find?
  Beside it four small differences that must all be found: an advertisement, a counter, a timestamp, a new title.
* templates: pages of different words under one template, whose menus, sidebars, footers and repeated teasers make up
  0 to 95 % of the words, marked by tags and class names or not at all. Which share of the page pairs is merged?
* variants: translations, pages of one listing and sizes of one product on the example site. How many are merged?

Exit status 1 when a demand is broken: found shares and similarity fall and distances rise with the edit (but for
noise: two pages of a rung, 0.3 bits, 0.01), the four kinds found, less than one page pair in a thousand merged
under a template, no variant merged.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

# For a run as a file; and the pages are made of the example site's stories.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "example_project"))

from magazine.site import build_site
from magazine.stories import LANGUAGES, Story, in_language
from magazine.truth import Truth

from benchmarks.lib.report import environment, opening, progress, share, table
from scrapy_simhash import Fingerprint, PageFingerprinter, hamming_distance
from scrapy_simhash.page.fingerprint import similarity

EDITS = (0.5, 1, 2, 3, 5, 8, 10, 15, 20)
CHROME = (0, 25, 50, 70, 80, 90, 95)
WAYS = ("phrase", "scattered")
VARIANTS = ("translation", "listing-page", "product-variant")
SEED = 2024
#: Words of a page's own under a template.
CONTENT_WORDS = 150
#: By how much a rung may be against the order: noise. Of the found share it is NOISY_PAGES of a rung's pages.
NOISE = {"distance": 0.3, "similarity": 0.01}
NOISY_PAGES = 2
#: The share of page pairs under a template that may be merged is below this.
MOST_MERGED = 0.001

_FINGERPRINTER = PageFingerprinter()

Words = list[list[str]]
"""The words of each paragraph; a Chinese character is one."""


def measure_edits(variants: int) -> dict[str, Any]:
    """Return the rungs of the edit ladder by language and way, and the four small kinds."""
    result: dict[str, Any] = {"rungs": [], "kinds": []}
    for language in LANGUAGES:
        stories = in_language(language)
        for way in WAYS:
            found: dict[float, list[tuple[bool, int, float]]] = {percent: [] for percent in EDITS}
            for story in stories:
                progress(f"edits: {story.key}, {way} ...")
                others = [
                    word for other in stories if other is not story for p in _split(other) for word in p
                ]
                original = _print(_article(story, _split(story)))
                for variant in range(variants):
                    edits = _edits(_split(story), others, way, f"{SEED} {story.key} {way} {variant}")
                    for percent, words in edits:
                        found[percent].append(_compare(original, _print(_article(story, words))))
            result["rungs"] += [
                {"language": language, "way": way, "percent": percent, "pages": len(rows), **_means(rows)}
                for percent, rows in found.items()
            ]
        kinds: dict[str, list[tuple[bool, int, float]]] = {}
        for story in stories:
            original = _print(_article(story, _split(story)))
            for kind, html in _small_differences(story).items():
                kinds.setdefault(kind, []).append(_compare(original, _print(html)))
        result["kinds"] += [
            {"language": language, "kind": kind, "pages": len(rows), **_means(rows)}
            for kind, rows in kinds.items()
        ]
    progress("")
    return result


def measure_templates(pages: int) -> list[dict[str, Any]]:
    """Return the rungs of the template ladder: *pages* pages each."""
    rungs = []
    for is_marked in (True, False):
        for percent in CHROME:
            progress(f"templates: {percent} % ...")
            chance = random.Random(f"{SEED} {percent}")
            prints = [_print(html) for html in _under_template(pages, percent, is_marked, chance)]
            known = [page for page in prints if page is not None]
            pairs = list(combinations(known, 2))
            merged = sum(_FINGERPRINTER.is_near_duplicate(a, b) for a, b in pairs)
            classic = sum(hamming_distance(a.value, b.value) <= 3 for a, b in pairs)
            rungs.append(
                {
                    "chrome_percent": percent,
                    "marked": is_marked,
                    "pages": pages,
                    "without": pages - len(known),
                    "pairs": len(pairs),
                    "merged": merged,
                    "merged_share": merged / len(pairs) if pairs else 0.0,
                    "merged_at_3_bits": classic,
                }
            )
    progress("")
    return rungs


def measure_variants() -> list[dict[str, Any]]:
    """Return how many pairs of each kind of variant of the example site are merged."""
    truth, site = Truth.load(), build_site()
    prints = {
        address.key: _FINGERPRINTER.from_html(page.body(), content_type=page.content_type)
        for address, page in site.items()
        if truth.pages[address.key].status == "content"
    }
    rows = {kind: {"kind": kind, "pairs": 0, "merged": 0, "merged_at_3_bits": 0} for kind in VARIANTS}
    for a, b, relation in truth.pairs("different"):
        page_a, page_b = prints[a], prints[b]
        if relation.kind in rows and page_a is not None and page_b is not None:
            row: dict[str, Any] = rows[relation.kind]
            row["pairs"] += 1
            row["merged"] += _FINGERPRINTER.is_near_duplicate(page_a, page_b)
            row["merged_at_3_bits"] += hamming_distance(page_a.value, page_b.value) <= 3
    return list(rows.values())


def broken(result: Mapping[str, Any]) -> list[str]:
    """Return what is not as it must be, a sentence each."""
    sentences = []
    ladders: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for rung in result["edits"]["rungs"]:
        ladders.setdefault((rung["language"], rung["way"]), []).append(rung)
    for (language, way), rungs in ladders.items():
        for less, more in pairwise(rungs):
            for name, sign in (("found", 1), ("distance", -1), ("similarity", 1)):
                noise = NOISY_PAGES / less["pages"] if name == "found" else NOISE[name]
                if sign * (more[name] - less[name]) > noise:
                    sentences.append(
                        f"{language}, {way}: {name} is {less[name]:.3f} at {less['percent']} % but"
                        f" {more[name]:.3f} at {more['percent']} %"
                    )
    for one in result["edits"]["kinds"]:
        if one["found"] < 1:
            sentences.append(f"{one['language']}, {one['kind']}: only {one['found']:.3f} found")
    for rung in result["templates"]:
        if rung["merged_share"] >= MOST_MERGED:
            marked = "marked" if rung["marked"] else "unmarked"
            sentences.append(
                f"template {rung['chrome_percent']} % {marked}: {rung['merged_share']:.2%} of pairs merged"
            )
    sentences += [
        f"{one['kind']}: {one['merged']} pairs merged" for one in result["variants"] if one["merged"]
    ]
    return sentences


def as_text(result: Mapping[str, Any]) -> str:
    """Return *result* as a person reads it."""
    parts = [opening(result)]
    parts.append("EDITS: found / mean distance / mean similarity")
    rungs = {(one["language"], one["way"], one["percent"]): one for one in result["edits"]["rungs"]}
    columns = list(dict.fromkeys((language, way) for language, way, _ in rungs))
    rows = [
        [f"{percent} % of the words", *(_cell(rungs[language, way, percent]) for language, way in columns)]
        for percent in EDITS
    ]
    parts.append(table(["", *(" ".join(column) for column in columns)], rows))
    kinds = {(one["kind"], one["language"]): one for one in result["edits"]["kinds"]}
    names = list(dict.fromkeys(kind for kind, _ in kinds))
    rows = [[kind, *(_cell(kinds[kind, language]) for language in LANGUAGES)] for kind in names]
    parts.append(table(["small differences", *LANGUAGES], rows))
    rows = [
        [
            f"{one['chrome_percent']} % chrome, {'marked' if one['marked'] else 'unmarked'}",
            f"{one['pages']:,}",
            f"{one['without']:,}",
            f"{one['pairs']:,}",
            f"{one['merged']:,}",
            f"{one['merged_share']:.4%}",
            f"{one['merged_at_3_bits']:,}",
        ]
        for one in result["templates"]
    ]
    head = ["TEMPLATES", "pages", "without", "pairs", "merged", "share", "at 3 bits"]
    parts.append(table(head, rows))
    rows = [
        [one["kind"], str(one["pairs"]), str(one["merged"]), str(one["merged_at_3_bits"])]
        for one in result["variants"]
    ]
    parts.append(table(["VARIANTS of the example site", "pairs", "merged", "at 3 bits"], rows))
    parts.append(
        "\n".join(["BROKEN DEMANDS:", *result["broken"]]) if result["broken"] else "All demands hold."
    )
    return "\n\n".join(parts)


def _cell(one: Mapping[str, Any]) -> str:
    return f"{share(one['found'])} / {one['distance']:4.1f} / {one['similarity']:.2f}"


def _print(html: str) -> Fingerprint | None:
    return _FINGERPRINTER.from_html(html)


def _compare(a: Fingerprint | None, b: Fingerprint | None) -> tuple[bool, int, float]:
    if a is None or b is None:
        return False, 64, 0.0
    return (
        _FINGERPRINTER.is_near_duplicate(a, b),
        hamming_distance(a.value, b.value),
        similarity(a.sketch, b.sketch),
    )


def _means(rows: Sequence[tuple[bool, int, float]]) -> dict[str, float]:
    return {
        name: fmean(float(row[place]) for row in rows)
        for place, name in enumerate(("found", "distance", "similarity"))
    }


def _split(story: Story) -> Words:
    """Return the words of each block of *story*."""
    return [list(block.text) if story.lang == "zh" else block.text.split() for block in story.blocks]


def _edits(words: Words, others: Sequence[str], way: str, seed: str) -> Iterator[tuple[float, Words]]:
    """Yield the text with each share of its words replaced; a larger edit contains the smaller ones."""
    chance = random.Random(seed)
    usable = [word for word in others if word[0].isalnum()]
    places = [(i, j) for i, block in enumerate(words) for j, word in enumerate(block) if word[0].isalnum()]
    if way == "phrase":
        start = chance.randrange(len(places) - int(len(places) * EDITS[-1] / 100))
        order = places[start:]
    else:
        order = chance.sample(places, len(places))
    # A phrase by someone else, not a heap of words: where a phrase is replaced, by running text.
    first = chance.randrange(len(usable))
    new = [usable[(first + n) % len(usable)] for n in range(len(places))]
    if way == "scattered":
        new = chance.choices(usable, k=len(places))
    for percent in EDITS:
        edited = [list(block) for block in words]
        for (i, j), word in list(zip(order, new, strict=False))[: max(1, round(len(places) * percent / 100))]:
            edited[i][j] = word
        yield percent, edited


def _article(
    story: Story, words: Words, *, title: str = "", before: str = "", within: str = "", after: str = ""
) -> str:
    glue = "" if story.lang == "zh" else " "
    blocks = [
        f"<h2>{glue.join(text)}</h2>" if block.is_heading else f"<p>{glue.join(text)}</p>"
        for block, text in zip(story.blocks, words, strict=True)
    ]
    blocks.insert(len(blocks) // 2, within)
    name = title or story.headline
    return (
        f"<html lang={story.lang}><title>{name}</title><body><nav><a href=/>Home</a> <a href=/a>About</a></nav>"
        f"<main><article><h1>{name}</h1>{before}{''.join(blocks)}{after}</article></main><footer>2024</footer>"
    )


def _small_differences(story: Story) -> dict[str, str]:
    """Return the page with each of the four small differences."""
    words = _split(story)
    advertisement = (
        "<div class=ad><a href=/buy>Sponsored: the new boots are here, now with a third off, only this week, in "
        "all of our shops and on our own pages</a></div>"
    )
    return {
        "advertisement": _article(story, words, within=advertisement),
        "counter": _article(story, words, after="<p>Read 18,234 times, 57 comments</p>"),
        "timestamp": _article(story, words, before="<p>Updated 2024-11-20 21:52:25</p>"),
        "new title": _article(story, words, title=f"{story.section} 2: {story.title[::-1]}"),
    }


def _under_template(pages: int, percent: int, is_marked: bool, chance: random.Random) -> Iterator[str]:
    """Yield pages of different words under one template, whose words are *percent* of all."""
    running = [word for story in in_language("en") for block in _split(story) for word in block]
    names = [word.strip(".,;:—").title() for word in running if word.isalpha() and len(word) > 4]
    total = round(CONTENT_WORDS * percent / (100 - percent))
    quarter = total // 4
    menu = "".join(f"<li><a href=/{n}>{chance.choice(names)}</a></li>" for n in range(quarter))
    sidebar = "".join(f"<li><a href=/s{n}>{chance.choice(names)}</a></li>" for n in range(quarter))
    teasers = "".join(
        f"<div class=teaser><h3><a href=/t{n}>{chance.choice(names)}</a></h3><p>{text}</p></div>"
        for n, text in enumerate(_prose(running, quarter, 25, chance))
    )
    footer = "".join(f"<p>{text}</p>" for text in _prose(running, quarter, 40, chance))
    if is_marked:
        head = f"<nav class=menu><ul>{menu}</ul></nav>"
        tail = (
            f"<aside class=sidebar><ul>{sidebar}</ul></aside><aside class=related>{teasers}</aside>"
            f"<footer>{footer}</footer>"
        )
    else:
        plain = teasers.replace(" class=teaser", "")
        head = f"<div><ul>{menu}</ul></div>"
        tail = f"<div><ul>{sidebar}</ul></div><div>{plain}</div><div>{footer}</div>"
    own = ("<main><article>", "</article></main>") if is_marked else ("<div>", "</div>")
    for _ in range(pages):
        title = " ".join(chance.choices(names, k=4))
        text = "".join(f"<p>{one}</p>" for one in _prose(running, CONTENT_WORDS, 50, chance))
        yield (
            f"<html lang=en><title>{title} - The Paper</title><body>{head if total else ''}{own[0]}<h1>{title}</h1>"
            f"{text}{own[1]}{tail if total else ''}"
        )


def _prose(running: Sequence[str], words: int, length: int, chance: random.Random) -> list[str]:
    """Return paragraphs of *length* words drawn at random from *running* text, *words* together."""
    drawn = chance.choices(running, k=words)
    return [" ".join(drawn[n : n + length]) for n in range(0, words, length)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON; 1 when a demand is broken."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--variants", type=int, default=8, help="edits of each size a story and way (default: 8)"
    )
    parser.add_argument("--pages", type=int, default=200, help="pages a rung of templates (default: 200)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    options = parser.parse_args(given)
    start = perf_counter()
    result: dict[str, Any] = {
        **environment(__file__, given),
        "edits": measure_edits(options.variants),
        "templates": measure_templates(options.pages),
        "variants": measure_variants(),
    }
    result["broken"] = broken(result)
    result["seconds"] = perf_counter() - start
    print(json.dumps(result, indent=2, ensure_ascii=False) if options.json else as_text(result))
    return 1 if result["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
