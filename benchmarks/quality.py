"""Measure precision and recall on labelled real pages.

    python benchmarks/quality.py                 # a table; --json for programs
    SIMHASH_EVAL_PACK=/path/to/pack:/path/to/another python benchmarks/quality.py --k 3

A PageFingerprinter with default settings reads every page of each evaluation pack as bytes, without HTTP headers. For
each rule, ``classic`` at each distance ``--k`` and ``similarity``, the default:

* precision: near / (near + different) among the labelled pairs that the rule accepts; grey pairs do not count;
* recall: the share of near pairs that the rule accepts. If a page has no fingerprint, the pair is a miss;
* both are shown over all pairs, and as a mean over the sources with near pairs, so that no large source hides others;
* unlisted pairs: pairs without a label that the rule accepts. According to the packs, these are also errors;
* extraction: the tokens of ``Document.text`` compared with those of the main text that people have marked, in any
  order; mean over pages. *near* is the share of pages whose text is a near-duplicate of the marked text.

``--peers`` measures other libraries in the same run; ``--text`` measures only the main text, also of other libraries
(``lib/quality_peers.py``). Not measured: speed, the order of a crawl, clusters, pages of fewer than 25 words.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# So that this file can be run as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib import documents, quality_peers
from benchmarks.lib.documents import Judge, Task, fingerprint_all, rules
from benchmarks.lib.pack import Pack, Pair, absence
from benchmarks.lib.report import arguments_of, cell, show
from benchmarks.lib.scores import (
    band,
    compare,
    extraction_by,
    mean,
    score,
    scores_by,
    unlisted,
)
from scrapy_simhash import Config, Fingerprint

DISTANCES = (0, 3, 6, 8)
DEFAULT_DISTANCE = Config(rule="classic").distance


def measure_pack(pack: Pack, ks: Sequence[int] = DISTANCES, jobs: int = 1) -> dict[str, Any]:
    """Return the precision and recall of each rule on *pack*, as plain values."""
    gold = pack.gold
    tasks = (
        Task(doc.id, html, gold[doc.id].text if doc.id in gold else None, url=doc.url)
        for doc, html in pack.html()
    )
    outcomes = list(fingerprint_all(tasks, jobs, len(pack.docs)))
    return {
        "digest": pack.digest,
        "documents": len(pack.docs),
        "pairs": dict(Counter(pair.label for pair in pack.pairs)),
        **score_pack(pack, {outcome.id: outcome.page for outcome in outcomes}, ks),
        "extraction": extraction_by(pack.gold_groups, ((one.id, one.extraction) for one in outcomes)),
    }


def score_pack(pack: Pack, prints: Mapping[str, Fingerprint | None], ks: Sequence[int]) -> dict[str, Any]:
    """Return the scores by rule; *prints* are the fingerprints of the documents."""
    pages = {doc.id: doc for doc in pack.docs.values() if doc.kind == "page"}
    known = {id: page for id in pages if (page := prints.get(id)) is not None}
    values = {id: page.value for id, page in known.items()}
    found = unlisted(values, pack.pairs, max(*ks, DEFAULT_DISTANCE, documents.FINGERPRINTER.rule.reach))
    by_rule = {}
    for name, judge in rules(ks).items():
        hits = [one for one in found if judge(known[one.a], known[one.b])]
        by_rule[name] = {
            **scores_of(pack.pairs, prints, judge),
            "unlisted": {
                "count": len(hits),
                "of_two_sites": sum(pages[one.a].site != pages[one.b].site for one in hits),
            },
        }
    by_source = Counter(page.source for page in pages.values())
    without = Counter(page.source for page in pages.values() if page.id not in known)
    return {
        "within": by_rule,
        "no_fingerprint": {
            source: {"pages": pages, "without": without[source]}
            for source, pages in sorted(by_source.items())
        },
    }


def scores_of(
    pairs: Sequence[Pair], prints: Mapping[str, Fingerprint | None], judge: Judge
) -> dict[str, Any]:
    """Return precision and recall of a rule, over all pairs and by group."""
    hits = compare(pairs, prints, judge)
    groups = {
        "source": scores_by(lambda pair: pair.source, pairs, hits),
        "similarity": scores_by(lambda pair: band(pair.similarity), pairs, hits),
        "kind": scores_by(lambda pair: f"{pair.label}: {pair.kind}", pairs, hits),
    }
    return {
        "all": score(pairs, hits).as_dict(),
        "mean_over_sources": mean(groups["source"].values()),
        **{f"by_{by}": {name: one.as_dict() for name, one in group.items()} for by, group in groups.items()},
    }


def shown(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return *figures* for tables: precision / recall of each group by rule.

    A group without near pairs shows only the number of wrong pairs.
    """
    result = {name: value for name, value in figures.items() if name != "within"}
    within: Mapping[str, Any] = figures["within"]
    first = next(iter(within.values()))
    for by in [name for name in first if name.startswith("by_")]:
        result[f"precision / recall {by.replace('_', ' ')}"] = {
            group: {
                "pairs": one["near"] + one["different"],
                **{_head(rule): _both(scores[by][group]) for rule, scores in within.items()},
            }
            for group, one in first[by].items()
        }
    result["precision / recall"] = {
        over: {_head(rule): _both(scores[over]) for rule, scores in within.items()}
        for over in ("all", "mean_over_sources")
        if over in first
    }
    if "unlisted" in first:
        result["unlisted pairs"] = {
            _head(rule): {name: one["unlisted"][name] for name in ("count", "of_two_sites")}
            for rule, one in within.items()
        }
    return result


def _head(name: str) -> str:
    return f"{name} bits" if name.isdecimal() else name


def _both(one: Mapping[str, Any]) -> str:
    if one.get("near") == 0:
        return f"{one['different_within']} wrong"
    return f"{cell(one['precision'])} / {cell(one['recall'])}"


def _texts(jobs: int) -> dict[str, Any]:
    packs = Pack.locate_all()
    reason = quality_peers.absent(quality_peers.NEEDED_FOR_TEXT) or ("" if packs else absence())
    if reason:
        return {"skipped": reason}
    return {pack.name: quality_peers.measure_texts(pack, jobs) for pack in packs}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON, and return 0, even without a pack."""
    parser = arguments_of(__doc__)
    parser.add_argument(
        "--k", type=int, nargs="+", default=DISTANCES, help="distances in bits (default: 0 3 6 8)"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)"
    )
    parser.add_argument("--peers", action="store_true", help="measure other libraries too, if installed")
    parser.add_argument("--text", action="store_true", help="only the main text, by all libraries")
    options = parser.parse_args(arguments)
    ks = sorted(set(options.k))
    if options.text:
        return show(__file__, options, arguments, _texts(options.jobs))
    result: dict[str, Any] = {}
    for pack in Pack.locate_all():
        figures = result[pack.name] = measure_pack(pack, ks, options.jobs)
        if options.peers:
            figures["peers"] = quality_peers.absent() or quality_peers.measure_peers(pack, options.jobs)
    if not options.json:
        result = {name: shown(figures) for name, figures in result.items()}
    return show(__file__, options, arguments, result or {"skipped": absence()})


if __name__ == "__main__":
    sys.exit(main())
