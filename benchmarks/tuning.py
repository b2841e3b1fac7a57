"""Measure whether ``scrapy-simhash tune`` keeps what it promises: its intervals hold the true precision.

    python benchmarks/tuning.py                   # a table; --json for programs
    python benchmarks/tuning.py --each 20 --runs 50

The labelled pairs of each evaluation pack are what a crawl compared, the labels what a person would answer. As many
pairs as ``tune --html`` shows are judged, another random choice in each run, and precision and recall are estimated
from these. By pack:

* precision, recall: the share of intervals, over all thresholds and runs, that hold what all labels say; 95 of 100
  are promised;
* left out: one source is left out of what is judged, and a threshold chosen for ``--precision``: the share of
  sources, over all runs, whose own precision at that threshold is in the interval of the others, or above it;
* width: of an interval of precision, mean over all thresholds.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.documents import Task, fingerprint_all
from benchmarks.lib.pack import Pack, absence
from benchmarks.lib.report import arguments_of, show
from scrapy_simhash import Config
from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.view.tuning import EDGES, Interval, Pair, bands_of, estimates, least_for, to_judge

EACH = 20
RUNS = 20
PRECISION = 0.95


class Labelled(NamedTuple):
    """A pair whose answer is known."""

    pair: Pair
    is_same: bool
    source: str


def labelled_of(pack: Pack) -> list[Labelled]:
    """Return the pairs of *pack* that are near-duplicates or different pages, with their thresholds."""
    tasks = (Task(doc.id, html, url=doc.url) for doc, html in pack.html())
    prints = {one.id: one.page for one in fingerprint_all(tasks, 1, len(pack.docs))}
    rule, found = SimilarityRule(), []
    for pair in pack.pairs:
        a, b = prints.get(pair.a), prints.get(pair.b)
        if a is None or b is None or pair.label not in ("near", "different"):
            continue
        nearest = rule.nearest(a, [b.compared_bytes()])
        if nearest is not None:
            found.append(Labelled(Pair(pair.a, pair.b, nearest.threshold), pair.label == "near", pair.source))
    return found


def judged(given: Sequence[Labelled], each: int, random: Random) -> dict[tuple[str, str], bool]:
    """Return the answers to as many pairs as the page for judging has, *each* of a band in the mean."""
    answers = {one.pair.key: one.is_same for one in given}
    bands = bands_of((one.pair for one in given), {})
    for band in bands:
        random.shuffle(band.unjudged)
    asked = to_judge(bands, Config.min_similarity, each)
    return {pair.key: answers[pair.key] for pair in asked}


def truth(given: Sequence[Labelled], threshold: float) -> tuple[float | None, float | None]:
    """Return precision and recall of *threshold*, as far as there is anything to divide by."""
    called = [one.is_same for one in given if one.pair.threshold >= threshold]
    same = sum(one.is_same for one in given if one.pair.threshold >= EDGES[0])
    return sum(called) / len(called) if called else None, sum(called) / same if same else None


def holds(interval: Interval | None, share: float | None) -> bool | None:
    """Tell whether *share* is in *interval*; None where there is no such question."""
    if interval is None or share is None:
        return None
    # Draws differ from a share of whole pairs by less than that.
    return interval.low - 1e-9 <= share <= interval.high + 1e-9


def measure(given: Sequence[Labelled], each: int, runs: int, precision: float) -> dict[str, Any]:
    """Return the figures of one pack."""
    inside: tuple[list[bool], list[bool]] = ([], [])
    widths, left_out = [], []
    sources = sorted({one.source for one in given})
    for run in range(runs):
        random = Random(run)
        for one in estimates(bands_of((one.pair for one in given), judged(given, each, random))):
            for into, interval, share in zip(
                inside, (one.precision, one.recall), truth(given, one.threshold), strict=True
            ):
                if (answer := holds(interval, share)) is not None:
                    into.append(answer)
            if one.precision:
                widths.append(one.precision.high - one.precision.low)
        source = sources[run % len(sources)]
        others = [one for one in given if one.source != source]
        chosen = least_for(
            precision, estimates(bands_of((one.pair for one in others), judged(others, each, random)))
        )
        if chosen is not None and chosen.precision is not None:
            own, _ = truth([one for one in given if one.source == source], chosen.threshold)
            if own is not None:
                left_out.append(own >= chosen.precision.low)
    return {
        "pairs": len(given),
        "precision": fmean(inside[0]),
        "recall": fmean(inside[1]),
        "left_out": fmean(left_out) if left_out else None,
        "chosen": len(left_out) / runs,
        "width": fmean(widths),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table or JSON, and return 0."""
    parser = arguments_of(__doc__)
    parser.add_argument(
        "--each", type=int, default=EACH, help="judged in each band, in the mean (%(default)s)"
    )
    parser.add_argument("--runs", type=int, default=RUNS, help="random choices (default: %(default)s)")
    parser.add_argument("--precision", type=float, default=PRECISION, help="wanted (default: %(default)s)")
    options = parser.parse_args(arguments)
    packs = Pack.locate_all()
    result: dict[str, Any] = {
        "intervals that hold": {
            pack.name: measure(labelled_of(pack), options.each, options.runs, options.precision)
            for pack in packs
        },
    }
    return show(__file__, options, arguments, result if packs else {"skipped": absence()})


if __name__ == "__main__":
    sys.exit(main())
