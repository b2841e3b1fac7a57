"""The figures of ``quality`` as one HTML page that needs nothing else: the part behind ``--html FILE``.

Curves of precision and recall, histograms of distance and similarity, tables by source, and the worst errors with
the first lines in which their main texts differ. Drawings are inline SVG; there is no script. The page quotes the
evaluation pack: it is for the eyes of those who have one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from html import escape
from typing import Any, NamedTuple

from benchmarks.lib.pack import Pack, Pair
from benchmarks.lib.report import share
from benchmarks.lib.scores import Score, compare, score, within
from scrapy_simhash import Config, Document, Fingerprint, PageFingerprinter, hamming_distance
from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.page.fingerprint import OTHER_KEY, compare_keys, similarity

DISTANCES = range(17)
SIMILARITIES = [step / 100 for step in range(50, 101, 2)]
LABELS = ("near", "grey", "different")
COLOURS = {"near": "#2a7f4f", "grey": "#999", "different": "#c0392b"}
#: Misses and false hits that are shown, and lines of each.
WORST = 25
LINES = 4

_STYLE = """
body { font: 15px/1.45 sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse } td, th { padding: .2em .8em; border-bottom: 1px solid #ddd; text-align: right }
td:first-child, th:first-child { text-align: left } section.pair { border-top: 1px solid #ccc; margin-top: 1.2em }
svg { background: #fafafa; margin: .5em 1em .5em 0 } svg text { font-size: 11px } code { font-size: 13px }
del { background: #fdd; text-decoration: none } ins { background: #dfd; text-decoration: none }
p.line { margin: .2em 0 .2em 1em; overflow-wrap: anywhere }
"""


class Look(NamedTuple):
    """Two pages compared."""

    distance: int
    alike: float
    has_other_title: bool


def look(a: Fingerprint, b: Fingerprint) -> Look:
    """Compare two pages every way the default rule does."""
    return Look(
        hamming_distance(a.value, b.value),
        similarity(a.sketch, b.sketch),
        compare_keys(a.sketch, b.sketch) == OTHER_KEY,
    )


def render(
    pack: Pack,
    prints: Mapping[str, Fingerprint | None],
    figures: Mapping[str, Any],
    environment: Mapping[str, Any],
) -> str:
    """Return the page for the fingerprints *prints* of *pack* and what was measured on them."""
    looks = compare(pack.pairs, prints, look)
    rule = PageFingerprinter().rule
    hits = compare(pack.pairs, prints, lambda a, b: rule.similarity(a, b) is not None)
    judged = list(zip(pack.pairs, looks, hits, strict=True))
    misses = [(pair, seen) for pair, seen, hit in judged if pair.label == "near" and not hit]
    # The worst miss is of pages that are the most alike, the worst false hit of those that are the least.
    misses.sort(key=lambda one: -one[0].similarity)
    false_hits = [(pair, seen) for pair, seen, hit in judged if pair.label == "different" and hit]
    false_hits.sort(key=lambda one: one[0].similarity)
    shown = [*misses[:WORST], *false_hits[:WORST]]
    documents = _documents(pack, {id for pair, _ in shown for id in (pair.a, pair.b)})
    parts = [
        "<h1>How well are near-duplicates told?</h1>",
        f"<p>{escape(environment['versions'])}<br>{escape(environment['machine'])}<br>"
        f"<code>{escape(environment['command'])}</code></p>",
        "<h2>Precision and recall</h2>",
        *_curves(pack.pairs, prints, looks),
        "<h2>Distance and similarity of the labelled pairs</h2>",
        _histogram(
            "distance, bits", _bars((pair.label, one.distance) for pair, one, _ in judged if one), 0, 40, 1
        ),
        _histogram(
            "similarity, %",
            _bars((pair.label, int(one.alike * 50) * 2) for pair, one, _ in judged if one),
            0,
            100,
            2,
        ),
        "<h2>By source</h2>",
        _source_table(figures["within"]),
        f"<h2>Misses ({len(misses)}; the most alike first)</h2>",
        *(_pair(pack, *one, documents) for one in misses[:WORST]),
        f"<h2>False hits ({len(false_hits)}; the least alike first)</h2>",
        *(_pair(pack, *one, documents) for one in false_hits[:WORST]),
    ]
    head = f"<meta charset=utf-8><title>Quality</title><style>{_STYLE}</style>"
    return f"<!doctype html><html lang=en><head>{head}</head><body>{''.join(parts)}</body></html>\n"


def _documents(pack: Pack, ids: set[str]) -> dict[str, Document]:
    fingerprinter = PageFingerprinter()
    return {doc.id: fingerprinter.extract(html) for doc, html in pack.html() if doc.id in ids}


def _curves(
    pairs: Sequence[Pair], prints: Mapping[str, Fingerprint | None], looks: Sequence[Look | None]
) -> list[str]:
    """Return the curve of both rules, and their points as a table."""
    bits = [one.distance if one else None for one in looks]
    by_distance = {f"{k} bits": score(pairs, within(bits, k)) for k in DISTANCES}
    config = Config()
    by_similarity = {}
    for least in SIMILARITIES:
        rule = SimilarityRule(config.candidate_distance, least)
        hits = [found is not None for found in compare(pairs, prints, rule.similarity)]
        by_similarity[f"{least:.2f} alike"] = score(pairs, hits)
    curves = (("one stage, 0 to 16 bits", "#555", by_distance), ("similarity", "#2a5db0", by_similarity))
    left, top, width, height = 45, 20, 480, 300
    least = min(
        (one.precision for *_, points in curves for one in points.values() if one.precision is not None),
        default=0.0,
    )
    floor = min(0.95, int(least * 20) / 20)
    drawn = [_axes(left, top, width, height, "recall 0 to 1", f"precision {floor:.2f} to 1")]
    for number, (name, colour, points) in enumerate(curves):
        places = [
            (
                left + width * (one.recall or 0),
                top + height * (1 - ((one.precision or floor) - floor) / (1 - floor)),
                f"{label}: {_both(one)}",
            )
            for label, one in points.items()
            if one.precision is not None
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
        drawn.append(f"<polyline points='{line}' fill='none' stroke='{colour}'/>")
        drawn += [
            f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{colour}'><title>{escape(label)}</title></circle>"
            for x, y, label in places
        ]
        drawn.append(
            f"<text x='{left + 10}' y='{top + height - 30 + 15 * number}' fill='{colour}'>{name}</text>"
        )
    rows = [[label, _both(one)] for *_, points in curves for label, one in points.items()]
    return [
        _svg(left + width + 20, top + height + 40, drawn),
        _error_chart(by_distance, by_similarity),
        f"<details><summary>The points</summary>{_table(['', 'precision / recall'], rows)}</details>",
    ]


def _error_chart(*curves: Mapping[str, Score]) -> str:
    """Return the errors a rule makes against its misses, both as counts."""
    left, top, width, height = 45, 20, 300, 300
    most_misses = (
        max((one.near - one.near_within for points in curves for one in points.values()), default=0) or 1
    )
    most_errors = max((one.different_within for points in curves for one in points.values()), default=0) or 1
    drawn = [_axes(left, top, width, height, f"misses 0 to {most_misses}", f"false hits 0 to {most_errors}")]
    for colour, points in zip(("#555", "#2a5db0"), curves, strict=True):
        drawn += [
            f"<circle cx='{left + width * (one.near - one.near_within) / most_misses:.1f}'"
            f" cy='{top + height * (1 - one.different_within / most_errors):.1f}' r='3' fill='{colour}'>"
            f"<title>{escape(label)}: {one.near - one.near_within} misses,"
            f" {one.different_within} false hits</title></circle>"
            for label, one in points.items()
        ]
    return _svg(left + width + 20, top + height + 40, drawn)


def _bars(values: Iterable[tuple[str, int]]) -> dict[str, Counter[int]]:
    bars: dict[str, Counter[int]] = {label: Counter() for label in LABELS}
    for label, value in values:
        bars[label][value] += 1
    return bars


def _histogram(title: str, bars: Mapping[str, Counter[int]], first: int, last: int, step: int) -> str:
    """Return three histograms above each other, each to its own scale; what lies beyond is in the last bar."""
    left, width, height = 60, 640, 90
    places = range(first, last + 1, step)
    drawn = []
    for number, label in enumerate(LABELS):
        base = (height + 15) * (number + 1)
        counts = {place: bars[label][place] for place in places}
        counts[places[-1]] += sum(n for place, n in bars[label].items() if place > places[-1])
        most = max(counts.values()) or 1
        bar = width / len(places)
        drawn.append(f"<text x='2' y='{base - height + 12}' fill='{COLOURS[label]}'>{label}</text>")
        drawn.append(f"<text x='2' y='{base - height + 26}' fill='#666'>max {most:,}</text>")
        drawn += [
            f"<rect x='{left + bar * place:.1f}' y='{base - height * count / most:.1f}' width='{bar - 1:.1f}'"
            f" height='{height * count / most:.1f}' fill='{COLOURS[label]}'>"
            f"<title>{value}: {count:,} {label}</title></rect>"
            for place, (value, count) in enumerate(counts.items())
            if count
        ]
    base = (height + 15) * len(LABELS) + 15
    drawn += [
        f"<text x='{left + width / len(places) * place:.1f}' y='{base}'>{value}</text>"
        for place, value in enumerate(places)
        if place % 5 == 0
    ]
    drawn.append(f"<text x='{left + width / 2}' y='{base + 15}'>{escape(title)}</text>")
    return _svg(left + width + 20, base + 25, drawn)


def _source_table(rules: Mapping[str, Any]) -> str:
    heads = [f"{name} bits" if name.isdecimal() else name for name in rules]
    scores = {name: {"all pairs": figures["all"], **figures["by_source"]} for name, figures in rules.items()}
    rows = [
        [source, f"{one['near']:,}", f"{one['different']:,}"]
        + [f"{share(of[source]['precision'])} / {share(of[source]['recall'])}" for of in scores.values()]
        for source, one in next(iter(scores.values())).items()
    ]
    means = [figures["mean_over_sources"] for figures in rules.values()]
    last = ["mean over sources", "", "", *(f"{share(m['precision'])} / {share(m['recall'])}" for m in means)]
    return _table(["precision / recall", "near", "different", *heads], [*rows, last])


def _pair(pack: Pack, pair: Pair, seen: Look | None, documents: Mapping[str, Document]) -> str:
    """Return what there is to know of a pair that was told wrong."""
    if seen is None:
        told = "a page has no fingerprint"
    else:
        subject = "titles differ" if seen.has_other_title else "titles agree"
        told = f"{seen.distance} bits, {seen.alike:.2f} alike, {subject}"
    parts = [f"<section class=pair><b>{escape(told)}</b> (labelled {pair.label}, {escape(pair.kind)},"]
    parts.append(f" {pair.similarity:.3f} by the pack; {escape(pair.source)}, {escape(pair.language)})")
    for id in (pair.a, pair.b):
        document = documents.get(id)
        subject = " ".join(document.subject) if document else ""
        parts.append(f"<br><code>{id}</code> {escape(pack.docs[id].url)} <i>{escape(subject)}</i>")
    if pair.a in documents and pair.b in documents:
        parts += _differences(documents[pair.a].text.split("\n"), documents[pair.b].text.split("\n"))
    return "".join([*parts, "</section>"])


def _differences(a: list[str], b: list[str]) -> list[str]:
    """Return the first lines of either text that the other has not."""
    shown = []
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            shown += [f"<p class=line><del>- {escape(line[:300])}</del></p>" for line in a[a1:a2][:LINES]]
            shown += [f"<p class=line><ins>+ {escape(line[:300])}</ins></p>" for line in b[b1:b2][:LINES]]
        if len(shown) >= 2 * LINES:
            break
    return shown or ["<p class=line>(the main texts are the same)</p>"]


def _axes(left: int, top: int, width: int, height: int, x: str, y: str) -> str:
    return (
        f"<rect x='{left}' y='{top}' width='{width}' height='{height}' fill='none' stroke='#ccc'/>"
        f"<text x='{left + width / 2 - 40}' y='{top + height + 20}'>{escape(x)}</text>"
        f"<text transform='translate({left - 15},{top + height / 2 + 50}) rotate(-90)'>{escape(y)}</text>"
    )


def _svg(width: float, height: float, drawn: Iterable[str]) -> str:
    return f"<svg width='{width:.0f}' height='{height:.0f}'>{''.join(drawn)}</svg>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _both(one: Score) -> str:
    return f"{share(one.precision)} / {share(one.recall)}"
