"""Leave one source out: the part of ``quality`` behind ``--hold-out``.

The two numbers of the second look are chosen on every source but one, where their F1 over all labelled pairs is
the best (ties: the first of the grid), and measured on the one left out. If the figures hold, the defaults are no
accident of the pack. What was made with the pack in sight, such as the extraction, is not held out by this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from benchmarks.lib.pack import Pair
from benchmarks.lib.report import share, table
from benchmarks.lib.scores import Score, compare, mean, score
from scrapy_simhash import Fingerprint
from scrapy_simhash.judge.rule import SimilarityRule

SIMILARITIES = (0.7, 0.75, 0.8, 0.85)
DISTANCES = (8, 10, 12)


def measure_hold_out(pairs: Sequence[Pair], prints: Mapping[str, Fingerprint | None]) -> dict[str, Any]:
    """Return the whole grid, and for each source the choice made without it and what that is worth there."""
    sources = sorted({pair.source for pair in pairs if pair.label == "near"})
    parts = {source: [pair for pair in pairs if pair.source == source] for source in sources}
    # Sources without near pairs are never left out, but their different pairs always have a say.
    parts[""] = [pair for pair in pairs if pair.source not in parts]
    scores: dict[tuple[int, float], dict[str, Score]] = {}
    for distance, least in product(DISTANCES, SIMILARITIES):
        rule = SimilarityRule(distance, least)
        scores[distance, least] = {
            source: score(part, [alike is not None for alike in compare(part, prints, rule.similarity)])
            for source, part in parts.items()
        }
    left_out = []
    for source in sources:
        totals = {
            choice: _sum(one for name, one in by_source.items() if name != source)
            for choice, by_source in scores.items()
        }
        choice = max(totals, key=lambda choice: totals[choice].f1)
        left_out.append(
            {
                "source": source,
                "candidate_distance": choice[0],
                "min_similarity": choice[1],
                "f1_of_the_others": totals[choice].f1,
                **scores[choice][source].as_dict(),
                "by_default": scores[10, 0.8][source].as_dict(),
            }
        )
    grid = [
        {
            "candidate_distance": distance,
            "min_similarity": least,
            **_sum(by_source.values()).as_dict(),
            "f1": _sum(by_source.values()).f1,
            "mean_over_sources": mean(by_source.values()),
        }
        for (distance, least), by_source in scores.items()
    ]
    return {"grid": grid, "left_out": left_out}


def as_text(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the two tables."""
    yield "HOLD-OUT: the similarity rule, its numbers chosen without the source they are measured on"
    rows = [
        [
            one["source"],
            str(one["candidate_distance"]),
            f"{one['min_similarity']:.2f}",
            share(one["f1_of_the_others"]),
            f"{share(one['precision'])} / {share(one['recall'])}",
            f"{share(one['by_default']['precision'])} / {share(one['by_default']['recall'])}",
        ]
        for one in result["left_out"]
    ]
    chosen = ["bits", "similarity", "F1 of the others", "precision / recall", "by default"]
    yield table(["left out", *chosen], rows)
    rows = [
        [
            f"{one['candidate_distance']} bits, {one['min_similarity']:.2f}",
            f"{share(one['precision'])} / {share(one['recall'])}",
            f"{one['f1']:.4f}",
            f"{share(one['mean_over_sources']['precision'])} / {share(one['mean_over_sources']['recall'])}",
        ]
        for one in result["grid"]
    ]
    yield table(["all sources", "precision / recall", "F1", "mean over sources"], rows)


def _sum(scores: Any) -> Score:
    return Score(*map(sum, zip(*scores, strict=True)))
