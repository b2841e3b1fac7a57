"""Measure how well near-duplicates are told on labelled real pages.

    python benchmarks/quality.py                 # a table; --json for programs
    SIMHASH_EVAL_PACK=/path/to/pack:/path/to/another python benchmarks/quality.py --k 3

Every page of each evaluation pack (see ``lib``) goes as bytes, without HTTP headers, through a PageFingerprinter
with default settings. Then by each rule, ``classic`` at each distance ``--k`` and ``similarity``, the default
(``PageFingerprinter.is_near_duplicate``):

* precision: near / (near + different) among the labelled pairs within the rule; grey pairs do not count;
* recall: the share of ALL near pairs that lie within the rule. A pair is a miss when one of its pages has no
  fingerprint;
* both over all pairs, and as a mean over the sources that have near pairs, so that no large one hides the rest;
* unlisted pairs: pages within the rule that nobody has labelled. The pack says these are errors too; they are
  printed with their URLs, to be read by eye. They are found with ProbingIndex, and counted again at the default
  distance by the pack's own scorer;
* extraction: the tokens of ``Document.text`` against a main text that people have marked, as bags, mean over pages;
* the example site: the same for its invented pages and what its ``truth.json`` says of every two of them.

``--peers`` measures other libraries in the same run (``quality_peers``), ``--hold-out`` how the two numbers of the
second look fare on a source they were not chosen on (``quality_holdout``), ``--html FILE`` draws the figures
(``quality_html``).

Not measured: speed (``benchmarks/page.py``), the order of a crawl (a page is compared with every other, not only
with what was seen before it), clusters, pages under 25 words. Without a pack only the example site is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import add
from pathlib import Path
from time import perf_counter
from typing import Any

# For a run as a file; and the example site is measured too.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "example_project"))

from magazine import relation as magazine_relation
from magazine.site import build_site
from magazine.truth import Truth

from benchmarks.lib import documents, quality_holdout, quality_html, quality_peers
from benchmarks.lib.documents import SIMILARITY, Judge, Outcome, Task, fingerprint, fingerprint_all, rules
from benchmarks.lib.pack import Pack, Pair, absence
from benchmarks.lib.report import environment, opening, share, table
from benchmarks.lib.scores import (
    Overlap,
    Score,
    band,
    compare,
    extraction_by_type,
    mean,
    score,
    scores_by,
    unlisted,
)
from scrapy_simhash import Config, Fingerprint
from scrapy_simhash.page.fingerprint import similarity

DISTANCES = (0, 3, 6, 8)
DEFAULT_DISTANCE = Config().max_distance
#: Unlisted pairs that are named.
NAMED = 20


def fingerprint_pack(pack: Pack, jobs: int = 1) -> list[Outcome]:
    """Return the outcome of every document of *pack*, in any order."""
    gold = pack.gold
    tasks = (Task(doc.id, html, gold[doc.id].text if doc.id in gold else None) for doc, html in pack.html())
    return list(fingerprint_all(tasks, jobs, len(pack.docs)))


def measure_pack(pack: Pack, ks: Sequence[int] = DISTANCES, jobs: int = 1) -> dict[str, Any]:
    """Return the figures of *pack* by each of the rules, as plain values.

    Raises RuntimeError if the pack's own scorer counts other unlisted pairs.
    """
    return pack_figures(pack, fingerprint_pack(pack, jobs), ks)


def pack_figures(pack: Pack, outcomes: Sequence[Outcome], ks: Sequence[int]) -> dict[str, Any]:
    """Return what measure_pack() returns, from the *outcomes* of its documents."""
    return {
        "name": pack.name,
        "digest": pack.digest,
        "documents": len(pack.docs),
        "pairs": dict(Counter(pair.label for pair in pack.pairs)),
        **score_pack(pack, {outcome.id: outcome.page for outcome in outcomes}, ks),
        "extraction": extraction_by_type(((one.id, one.extraction) for one in outcomes), pack.gold),
    }


def score_pack(pack: Pack, prints: Mapping[str, Fingerprint | None], ks: Sequence[int]) -> dict[str, Any]:
    """Return how *prints*, the fingerprint of each document, agree with the labels by each of the rules."""
    pages = {doc.id: doc for doc in pack.docs.values() if doc.kind == "page"}
    known = {id: page for id in pages if (page := prints.get(id)) is not None}
    values = {id: page.value for id, page in known.items()}
    found = unlisted(values, pack.pairs, max(*ks, DEFAULT_DISTANCE, documents.FINGERPRINTER.rule.reach))
    own = pack.unlisted_by_own_scorer(values, DEFAULT_DISTANCE)
    if own is not None and own != {(a, b) for distance, a, b in found if distance <= DEFAULT_DISTANCE}:
        raise RuntimeError("the pack's own scorer finds other unlisted pairs: one of the two is wrong")
    by_rule = {}
    for name, judge in rules(ks).items():
        hits = [one for one in found if judge(known[one.a], known[one.b])]
        named = [
            {
                "distance": one.distance,
                "similarity": similarity(known[one.a].sketch, known[one.b].sketch),
                "ids": [one.a, one.b],
                "urls": [pages[one.a].url, pages[one.b].url],
            }
            for one in hits[:NAMED]
        ]
        by_rule[name] = {
            **scores_of(pack.pairs, prints, judge),
            "unlisted": {
                "count": len(hits),
                "of_two_sites": sum(pages[one.a].site != pages[one.b].site for one in hits),
                "first": named,
            },
        }
    by_source = Counter(page.source for page in pages.values())
    without = Counter(page.source for page in pages.values() if page.id not in known)
    return {
        "within": by_rule,
        "checked_by_own_scorer": own is not None,
        "no_fingerprint": {
            source: {"pages": pages, "without": without[source]}
            for source, pages in sorted(by_source.items())
        },
    }


def scores_of(
    pairs: Sequence[Pair], prints: Mapping[str, Fingerprint | None], judge: Judge
) -> dict[str, Any]:
    """Return precision and recall of a rule, over all pairs and by each thing that tells them apart."""
    hits = compare(pairs, prints, judge)
    groups = {
        "source": scores_by(lambda pair: pair.source, pairs, hits),
        "language": scores_by(lambda pair: pair.language, pairs, hits),
        "similarity": scores_by(lambda pair: band(pair.similarity), pairs, hits),
        "kind": scores_by(lambda pair: f"{pair.label}: {pair.kind}", pairs, hits),
    }
    return {
        "all": score(pairs, hits).as_dict(),
        "mean_over_sources": mean(groups["source"].values()),
        **{f"by_{by}": {name: one.as_dict() for name, one in group.items()} for by, group in groups.items()},
    }


def measure_example(ks: Sequence[int] = DISTANCES) -> dict[str, Any]:
    """Return the figures of the example site by each of the rules: every two of its pages are labelled."""
    truth = Truth.load()
    labels = {"duplicate": "near", "different": "different", "unscored": "grey"}
    pairs = [
        Pair(a, b, labels[is_so.expected], is_so.kind, is_so.equal, "example", "")
        for a, b, is_so in truth.pairs()
    ]
    prints = {
        address.key: fingerprint(Task(address.key, page.body(), content_type=page.content_type)).page
        for address, page in build_site().items()
        if truth.pages[address.key].status == "content"
    }
    by_rule = {}
    for name, judge in rules(ks).items():
        hits = compare(pairs, prints, judge)
        grades = scores_by(_grade, pairs, hits)
        kinds = scores_by(lambda pair: f"{pair.label}: {pair.kind}", pairs, hits)
        by_rule[name] = {
            "all": score(pairs, hits).as_dict(),
            "by_grade": {grade: one.as_dict() for grade, one in grades.items() if grade},
            "by_kind": {kind: one.as_dict() for kind, one in kinds.items()},
        }
    return {
        "pages": len(prints),
        "without": sorted(key for key, page in prints.items() if page is None),
        "pairs": dict(Counter(pair.label for pair in pairs)),
        "within": by_rule,
    }


def _grade(pair: Pair) -> str:
    """Return the grade of a duplicate, "" for a different pair, which has none."""
    return magazine_relation.grade(pair.similarity) if pair.label == "near" else ""


def as_text(result: Mapping[str, Any]) -> str:
    """Return *result* as a person reads it."""
    parts = [opening(result)]
    if not result["packs"]:
        parts.append(result["skipped"])
    for pack in result["packs"]:
        parts += _pack_as_text(pack)
    return "\n\n".join([*parts, *_example_as_text(result["example"])])


def _pack_as_text(pack: Mapping[str, Any]) -> Iterator[str]:
    within: Mapping[str, Any] = pack["within"]
    counts = ", ".join(f"{n:,} {label}" for label, n in sorted(pack["pairs"].items()))
    yield f"PACK {pack['name']}: {pack['documents']:,} documents; labelled pairs: {counts}"
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
    if "hold_out" in pack:
        yield from quality_holdout.as_text(pack["hold_out"])
    if "peers" in pack:
        yield from quality_peers.as_text(pack["peers"], pack["extraction"])
    elif pack.get("peers_skipped"):
        yield pack["peers_skipped"]


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
    rows = [
        [title, *(f"{figures['unlisted'][key]:,}" for figures in within.values())]
        for title, key in (("unlisted pairs within", "count"), ("... of two sites", "of_two_sites"))
    ]
    yield table(["", *_heads(within)], rows)
    for name in (str(DEFAULT_DISTANCE), SIMILARITY):
        if name not in within:
            continue
        shown = within[name]["unlisted"]
        yield f"unlisted pairs, to be read by eye: {_head(name)}"
        for pair in shown["first"]:
            yield "  {} bits, {:.2f} alike  {}  {}".format(pair["distance"], pair["similarity"], *pair["ids"])
            yield from (f"          {url}" for url in pair["urls"])
        if shown["count"] > len(shown["first"]):
            yield f"  ... and {shown['count'] - len(shown['first']):,} more"
    if not is_checked:
        yield "  (not checked: the pack has no scorer of its own)"


def _regrouped(
    within: Mapping[str, Any], by: str, rename: Callable[[str], str]
) -> dict[str, dict[str, Score]]:
    """Return for each rule the scores of the groups *by* under new names; what gets one name is added up."""
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
    return [_head(name) for name in within]


def _head(name: str) -> str:
    return f"{name} bits" if name.isdecimal() else name


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
    parser.add_argument("--peers", action="store_true", help="measure other libraries too, if installed")
    parser.add_argument("--hold-out", action="store_true", help="choose the rule without each source in turn")
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="draw the figures, and show the worst errors; several packs make FILE-<pack>",
    )
    options = parser.parse_args(given)
    start = perf_counter()
    packs = Pack.locate_all()
    ks = sorted(set(options.k))
    result: dict[str, Any] = {
        **environment(__file__, given),
        "packs": [],
        "skipped": None if packs else f"{absence()}: only the example site is measured",
        "example": measure_example(ks),
    }
    for pack in packs:
        outcomes = fingerprint_pack(pack, options.jobs)
        prints = {outcome.id: outcome.page for outcome in outcomes}
        figures = pack_figures(pack, outcomes, ks)
        result["packs"].append(figures)
        if options.hold_out:
            figures["hold_out"] = quality_holdout.measure_hold_out(pack.pairs, prints)
        if options.peers:
            figures["peers_skipped"] = quality_peers.absent()
            if not figures["peers_skipped"]:
                figures["peers"] = quality_peers.measure_peers(pack, options.jobs, figures["within"])
        if options.html:
            page = quality_html.render(pack, prints, figures, result)
            file = (
                options.html
                if len(packs) == 1
                else options.html.with_stem(f"{options.html.stem}-{pack.name}")
            )
            file.write_text(page, encoding="utf-8")
    result["seconds"] = perf_counter() - start
    print(json.dumps(result, indent=2, ensure_ascii=False) if options.json else as_text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
