"""Measure how well near-duplicates are told on labelled real pages.

    python benchmarks/quality.py                 # a table; --json for programs
    SIMHASH_EVAL_PACK=/path/to/pack python benchmarks/quality.py --k 3

Every page of the evaluation pack (see ``pack``) goes as bytes, without HTTP headers, through a PageFingerprinter
with default settings. Then, at each distance ``--k``:

* precision: near / (near + different) among the labelled pairs within the distance; grey pairs do not count;
* recall: the share of ALL near pairs that lie within the distance. A pair is a miss when one of its pages has no
  fingerprint;
* both over all pairs, and as a mean over the sources that have near pairs, so that no large one hides the rest;
* unlisted pairs: pages within the distance that nobody has labelled. The pack says these are errors too. They
  are found with SimhashIndex, and counted again at the default distance by the pack's own scorer;
* extraction: the tokens of ``Document.text`` against a main text that people have marked, as bags, mean over pages;
* the example site: the same for its invented pages and what its ``truth.json`` says of every two of them.

Not measured: speed (``benchmarks/page.py``), the order of a crawl (a page is compared with every other, not only
with what was seen before it), clusters, pages under 25 words. Without a pack only the example site is measured.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import add
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any, NamedTuple

# For a run as a file; and the example site is measured too.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "example_project"))

from magazine import relation as magazine_relation
from magazine.site import build_site
from magazine.truth import Truth

from benchmarks.pack import Gold, Pack, Pair, absence
from benchmarks.report import environment, progress, share, table
from benchmarks.scores import Overlap, Score, band, distances, mean, overlap, score, scores_by, unlisted
from scrapy_simhash import Config, PageFingerprinter
from scrapy_simhash.language import normalize, tokenize

DISTANCES = (0, 3, 6, 8)
DEFAULT_DISTANCE = Config().max_distance
#: Unlisted pairs that are named.
NAMED = 20
#: Documents that travel to another process at once, some 50 kB each.
CHUNK = 16

_FINGERPRINTER = PageFingerprinter()


class Task(NamedTuple):
    """A document to fingerprint; *gold* is its main text where people have marked one."""

    id: str
    html: bytes
    gold: str | None = None
    content_type: str | None = None


class Outcome(NamedTuple):
    """What became of a document; *value* is None when its text is too short."""

    id: str
    value: int | None
    extraction: Overlap | None


def fingerprint(task: Task) -> Outcome:
    """Return the fingerprint of a document, and how its text compares with the gold one."""
    # The two steps of PageFingerprinter.from_html(), because the document in between is measured too.
    document = _FINGERPRINTER.extract(task.html, content_type=task.content_type)
    page = _FINGERPRINTER.from_document(document)
    extraction = None
    if task.gold is not None:
        extraction = overlap(tokenize(normalize(document.text)), tokenize(normalize(task.gold)))
    return Outcome(task.id, None if page is None else page.value, extraction)


def fingerprint_all(tasks: Iterable[Task], jobs: int, total: int) -> Iterator[Outcome]:
    """Yield the outcome of each task, in any order, from *jobs* processes; with one job from this one."""
    if jobs == 1:
        yield from _counted(map(fingerprint, tasks), total)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from _counted(pool.imap_unordered(fingerprint, tasks, CHUNK), total)


def _counted(outcomes: Iterable[Outcome], total: int) -> Iterator[Outcome]:
    for number, outcome in enumerate(outcomes, 1):
        if number % 50 == 0:
            progress(f"{number:,} of {total:,} pages ...")
        yield outcome
    progress("")


def measure_pack(pack: Pack, ks: Sequence[int] = DISTANCES, jobs: int = 1) -> dict[str, Any]:
    """Return the figures of *pack* at each of the distances *ks*, as plain values.

    Raises RuntimeError if the pack's own scorer counts other unlisted pairs.
    """
    gold = pack.gold
    tasks = (Task(doc.id, html, gold[doc.id].text if doc.id in gold else None) for doc, html in pack.html())
    outcomes = list(fingerprint_all(tasks, jobs, len(pack.docs)))
    values = {outcome.id: outcome.value for outcome in outcomes}
    return {
        "folder": str(pack.folder),
        "digest": pack.digest,
        "documents": len(pack.docs),
        "pairs": dict(Counter(pair.label for pair in pack.pairs)),
        **score_pack(pack, values, ks),
        "extraction": extraction_by_type(outcomes, gold),
    }


def score_pack(pack: Pack, values: Mapping[str, int | None], ks: Sequence[int]) -> dict[str, Any]:
    """Return how *values*, the fingerprint of each document, agree with the labels at each of *ks*."""
    pages = {doc.id: doc for doc in pack.docs.values() if doc.kind == "page"}
    known = {id: value for id in pages if (value := values.get(id)) is not None}
    found = unlisted(known, pack.pairs, max(ks))
    own = pack.unlisted_by_own_scorer(known, DEFAULT_DISTANCE) if max(ks) >= DEFAULT_DISTANCE else None
    if own is not None and own != {(a, b) for distance, a, b in found if distance <= DEFAULT_DISTANCE}:
        raise RuntimeError("the pack's own scorer finds other unlisted pairs: one of the two is wrong")
    by_distance = {}
    for k in ks:
        within = [pair for pair in found if pair.distance <= k]
        named = [
            {"distance": bits, "ids": [a, b], "urls": [pages[a].url, pages[b].url]}
            for bits, a, b in within[:NAMED]
        ]
        by_distance[str(k)] = {
            **scores_at(pack.pairs, values, k),
            "unlisted": {"count": len(within), "first": named},
        }
    by_source = Counter(page.source for page in pages.values())
    without = Counter(page.source for page in pages.values() if page.id not in known)
    return {
        "within": by_distance,
        "checked_by_own_scorer": own is not None,
        "no_fingerprint": {
            source: {"pages": pages, "without": without[source]}
            for source, pages in sorted(by_source.items())
        },
    }


def scores_at(pairs: Sequence[Pair], values: Mapping[str, int | None], k: int) -> dict[str, Any]:
    """Return precision and recall at distance *k*, over all pairs and by each thing that tells them apart."""
    found = distances(pairs, values)
    groups = {
        "source": scores_by(lambda pair: pair.source, pairs, found, k),
        "language": scores_by(lambda pair: pair.language, pairs, found, k),
        "similarity": scores_by(lambda pair: band(pair.similarity), pairs, found, k),
        "kind": scores_by(lambda pair: f"{pair.label}: {pair.kind}", pairs, found, k),
    }
    return {
        "all": score(pairs, found, k).as_dict(),
        "mean_over_sources": mean(groups["source"].values()),
        **{f"by_{by}": {name: one.as_dict() for name, one in group.items()} for by, group in groups.items()},
    }


def extraction_by_type(outcomes: Iterable[Outcome], gold: Mapping[str, Gold]) -> dict[str, dict[str, float]]:
    """Return mean precision, recall and F1 of the pages with a gold text: of all, and by type of page."""
    by_type: defaultdict[str, list[Overlap]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.extraction is not None:
            for page_type in ("all", gold[outcome.id].page_type):
                by_type[page_type].append(outcome.extraction)
    return {
        page_type: {
            "pages": len(overlaps),
            **{name: fmean(getattr(one, name) for one in overlaps) for name in Overlap._fields},
        }
        for page_type, overlaps in sorted(by_type.items())
    }


def measure_example(ks: Sequence[int] = DISTANCES) -> dict[str, Any]:
    """Return the figures of the example site at each of *ks*: every two of its pages are labelled."""
    truth = Truth.load()
    labels = {"duplicate": "near", "different": "different", "unscored": "grey"}
    pairs = [
        Pair(a, b, labels[is_so.expected], is_so.kind, is_so.equal, "example", "")
        for a, b, is_so in truth.pairs()
    ]
    values = {
        address.key: fingerprint(Task(address.key, page.body(), content_type=page.content_type)).value
        for address, page in build_site().items()
        if truth.pages[address.key].status == "content"
    }
    found = distances(pairs, values)
    by_distance = {}
    for k in ks:
        grades = scores_by(_grade, pairs, found, k)
        kinds = scores_by(lambda pair: f"{pair.label}: {pair.kind}", pairs, found, k)
        by_distance[str(k)] = {
            "all": score(pairs, found, k).as_dict(),
            "by_grade": {grade: one.as_dict() for grade, one in grades.items() if grade},
            "by_kind": {kind: one.as_dict() for kind, one in kinds.items()},
        }
    return {
        "pages": len(values),
        "without": sorted(key for key, value in values.items() if value is None),
        "pairs": dict(Counter(pair.label for pair in pairs)),
        "within": by_distance,
    }


def _grade(pair: Pair) -> str:
    """Return the grade of a duplicate, "" for a different pair, which has none."""
    return magazine_relation.grade(pair.similarity) if pair.label == "near" else ""


def as_text(result: Mapping[str, Any]) -> str:
    """Return *result* as a person reads it."""
    parts = [f"{result['versions']}\n{result['machine']}\n$ {result['command']}  # {result['seconds']:.0f} s"]
    if result["pack"] is None:
        parts.append(result["skipped"])
    else:
        parts += _pack_as_text(result["pack"])
    return "\n\n".join([*parts, *_example_as_text(result["example"])])


def _pack_as_text(pack: Mapping[str, Any]) -> Iterator[str]:
    within: Mapping[str, Any] = pack["within"]
    counts = ", ".join(f"{n:,} {label}" for label, n in sorted(pack["pairs"].items()))
    yield f"THE PACK: {pack['documents']:,} documents; labelled pairs: {counts}"
    means = [_both(figures["mean_over_sources"]) for figures in within.values()]
    yield _score_table(within, [["mean over sources", "", "", *means]])
    yield _score_table(within, [], "by_source")
    yield _score_table(within, [], "by_language")
    yield _recall_table("recall by similarity", within, "by_similarity")
    yield _recall_table("recall by kind of near pair", within, "by_kind")
    yield _error_table(within)
    yield "\n".join(_unlisted_lines(within, pack["checked_by_own_scorer"]))
    without = pack["no_fingerprint"]
    rows = [[source, f"{n['pages']:,}", f"{n['without']:,}"] for source, n in without.items() if n["without"]]
    total = [f"{sum(n[of] for n in without.values()):,}" for of in ("pages", "without")]
    yield table(["pages without a fingerprint", "pages", "without"], [["all", *total], *rows])
    if pack["extraction"]:
        rows = [
            [page_type, f"{one['pages']:,}", *(share(one[name]) for name in Overlap._fields)]
            for page_type, one in pack["extraction"].items()
        ]
        yield table(["extraction by type of page", "pages", *Overlap._fields], rows)


def _example_as_text(example: Mapping[str, Any]) -> Iterator[str]:
    within: Mapping[str, Any] = example["within"]
    counts = ", ".join(f"{n:,} {label}" for label, n in sorted(example["pairs"].items()))
    yield f"THE EXAMPLE SITE: {example['pages']} pages; every two of them: {counts}"
    yield _score_table(within, [])
    yield _recall_table("recall by grade", within, "by_grade")
    yield _recall_table("recall by kind of near pair", within, "by_kind")
    yield _error_table(within)
    if example["without"]:
        yield "pages without a fingerprint: " + ", ".join(example["without"])


def _score_table(within: Mapping[str, Any], further: Sequence[Sequence[str]], by: str | None = None) -> str:
    """Return precision and recall of all pairs, or of each group *by*; groups without near pairs are one."""
    if by is None:
        scores = {k: {"all pairs": Score(**_counts(figures["all"]))} for k, figures in within.items()}
    else:
        near = {name for name, one in next(iter(within.values()))[by].items() if one["near"]}
        scores = _regrouped(within, by, lambda name: name if name in near else "others: different pairs only")
    rows = [
        [name, f"{one.near:,}", f"{one.different:,}", *(_both(of[name].as_dict()) for of in scores.values())]
        for name, one in next(iter(scores.values())).items()
    ]
    title = "precision / recall" + (f" {by.replace('_', ' ')}" if by else "")
    return table([title, "near", "different", *_heads(within)], [*rows, *further])


def _recall_table(title: str, within: Mapping[str, Any], by: str) -> str:
    scores = _regrouped(within, by, _short)
    rows = [
        [name, f"{one.near:,}", *(share(of[name].recall) for of in scores.values())]
        for name, one in next(iter(scores.values())).items()
        if one.near
    ]
    return table([title, "near", *_heads(within)], rows)


def _error_table(within: Mapping[str, Any]) -> str:
    scores = _regrouped(within, "by_kind", _short)
    rows = [
        [name, f"{one.different:,}", *(f"{of[name].different_within:,}" for of in scores.values())]
        for name, one in next(iter(scores.values())).items()
        if one.different
    ]
    return table(["errors by kind of different pair", "different", *_heads(within)], rows)


def _unlisted_lines(within: Mapping[str, Any], is_checked: bool) -> Iterator[str]:
    counts = [f"{figures['unlisted']['count']:,}" for figures in within.values()]
    yield table(["", *_heads(within)], [["unlisted pairs within", *counts]])
    shown = within.get(str(DEFAULT_DISTANCE), list(within.values())[-1])["unlisted"]
    for pair in shown["first"]:
        yield "  {} bits  {}  {}".format(pair["distance"], *pair["ids"])
        yield from (f"          {url}" for url in pair["urls"])
    if shown["count"] > len(shown["first"]):
        yield f"  ... and {shown['count'] - len(shown['first']):,} more"
    if not is_checked:
        yield "  (not checked: the pack has no scorer of its own, or --k is too small)"


def _regrouped(
    within: Mapping[str, Any], by: str, rename: Callable[[str], str]
) -> dict[str, dict[str, Score]]:
    """Return for each distance the scores of the groups *by* under new names; what gets one name is added up."""
    regrouped: dict[str, dict[str, Score]] = {}
    for k, figures in within.items():
        scores = regrouped[k] = {}
        for name, one in figures[by].items():
            new = rename(name)
            scores[new] = Score(*map(add, scores.get(new, Score()), _counts(one).values()))
    return regrouped


def _short(kind: str) -> str:
    """Return a kind without its label; the example site's pairs of two copies, some forty kinds, are one."""
    label, _, name = kind.rpartition(": ")
    return "two copies of a text" if label == "near" and "+" in name else name


def _counts(one: Mapping[str, Any]) -> dict[str, int]:
    return {name: one[name] for name in Score._fields}


def _heads(within: Mapping[str, Any]) -> list[str]:
    return [f"{k} bits" for k in within]


def _both(one: Mapping[str, Any]) -> str:
    if one.get("near") == 0:  # all that can be said is how many are wrong
        return f"{one['different_within']} wrong"
    return f"{share(one['precision'])} / {share(one['recall'])}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON; 0 also without a pack."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--k", type=int, nargs="+", default=DISTANCES, help="distances in bits (default: 0 3 6 8)"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    options = parser.parse_args(given)
    start = perf_counter()
    pack = Pack.locate()
    ks = sorted(set(options.k))
    result: dict[str, Any] = {
        **environment(__file__, given),
        "pack": None if pack is None else measure_pack(pack, ks, options.jobs),
        "skipped": None if pack is not None else f"{absence()}: only the example site is measured",
        "example": measure_example(ks),
    }
    result["seconds"] = perf_counter() - start
    print(json.dumps(result, indent=2, ensure_ascii=False) if options.json else as_text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
