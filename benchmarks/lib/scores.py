"""Compute precision and recall from fingerprints and labels."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

from benchmarks.lib.pack import Pair
from scrapy_simhash.index import SimhashIndex

Page = TypeVar("Page")
Measure = TypeVar("Measure")


class Score(NamedTuple):
    """The number of labelled pairs, and of those that are near-duplicates by a rule."""

    near: int = 0
    near_within: int = 0
    different: int = 0
    different_within: int = 0

    @property
    def precision(self) -> float | None:
        """Share of near pairs among the near and different pairs that the rule accepts; None without such pairs."""
        within = self.near_within + self.different_within
        return self.near_within / within if within else None

    @property
    def recall(self) -> float | None:
        """Share of near pairs that the rule accepts; None without near pairs."""
        return self.near_within / self.near if self.near else None

    def as_dict(self) -> dict[str, Any]:
        """Return the counts, the precision and the recall."""
        return {**self._asdict(), "precision": self.precision, "recall": self.recall}


class Found(NamedTuple):
    """Two documents within a distance, the smaller id first."""

    distance: int
    a: str
    b: str


class Overlap(NamedTuple):
    """The overlap of two bags of tokens, 0-1."""

    precision: float
    recall: float
    f1: float
    near: bool | None = None
    """Whether texts of these tokens are near-duplicates; None if unknown."""


def compare(
    pairs: Iterable[Pair], pages: Mapping[str, Page | None], measure: Callable[[Page, Page], Measure]
) -> list[Measure | None]:
    """Return *measure* of each pair; None if one of its pages is None or missing, because it is too short."""
    found: list[Measure | None] = []
    for pair in pairs:
        a, b = pages.get(pair.a), pages.get(pair.b)
        found.append(None if a is None or b is None else measure(a, b))
    return found


def score(pairs: Sequence[Pair], hits: Sequence[bool | None]) -> Score:
    """Return the score of *pairs*; *hits* are true for pairs that are near-duplicates by a rule.

    Grey pairs do not count. If a hit is None, because a page is too short, a near pair is a miss, and a different
    pair is not an error.
    """
    counts: Counter[tuple[str, bool]] = Counter(
        (pair.label, bool(hit)) for pair, hit in zip(pairs, hits, strict=True)
    )
    near, different = counts["near", True], counts["different", True]
    return Score(near + counts["near", False], near, different + counts["different", False], different)


def scores_by(
    key: Callable[[Pair], str], pairs: Sequence[Pair], hits: Sequence[bool | None]
) -> dict[str, Score]:
    """Return a score for each value of *key*, sorted by value; values that only grey pairs have are left out."""
    groups: defaultdict[str, tuple[list[Pair], list[bool | None]]] = defaultdict(lambda: ([], []))
    for pair, hit in zip(pairs, hits, strict=True):
        if pair.label != "grey":
            groups[key(pair)][0].append(pair)
            groups[key(pair)][1].append(hit)
    return {name: score(*group) for name, group in sorted(groups.items())}


def mean(scores: Iterable[Score]) -> dict[str, float | None]:
    """Return the mean precision and the mean recall of those *scores* that have near pairs, with equal weight."""
    having_near = [score for score in scores if score.near]
    precisions = [score.precision for score in having_near if score.precision is not None]
    recalls = [score.recall for score in having_near if score.recall is not None]
    return {
        "precision": fmean(precisions) if precisions else None,
        "recall": fmean(recalls) if recalls else None,
    }


def band(similarity: float) -> str:
    """Return the band of a similarity.

    >>> band(1.0), band(0.99), band(0.95), band(0.9), band(0.5)
    ('=1', '.98-1', '.95-.98', '.90-.95', 'below .90')
    """
    if similarity == 1:
        return "=1"
    bands = ((0.98, ".98-1"), (0.95, ".95-.98"), (0.90, ".90-.95"))
    return next((name for least, name in bands if similarity >= least), "below .90")


def unlisted(values: Mapping[str, int], pairs: Iterable[Pair], distance: int) -> list[Found]:
    """Return all pairs of documents within *distance* bits that are not labelled, nearest first."""
    listed = {frozenset((pair.a, pair.b)) for pair in pairs}
    ids = sorted(values)
    index = SimhashIndex(distance, "auto")
    index.add_many([values[id] for id in ids], range(len(ids)))
    return sorted(
        Found(match.distance, id, ids[match.key])
        for number, id in enumerate(ids)
        for match in index.find(values[id])
        if match.key > number and frozenset((id, ids[match.key])) not in listed
    )


def overlap(tokens: Sequence[str], gold: Sequence[str]) -> Overlap:
    """Return the share of *tokens* in *gold*, and of *gold* in *tokens*, as bags: order does not matter.

    >>> overlap(["the", "sea", "the"], ["the", "sea", "is", "calm"])
    Overlap(precision=0.6666666666666666, recall=0.5, f1=0.5714285714285714, near=None)
    >>> overlap([], ["sea"])
    Overlap(precision=0.0, recall=0.0, f1=0.0, near=None)
    """
    common = (Counter(tokens) & Counter(gold)).total()
    if not common:
        return Overlap(0.0, 0.0, 0.0)
    return Overlap(common / len(tokens), common / len(gold), 2 * common / (len(tokens) + len(gold)))


def extraction_by(
    groups: Callable[[str], Iterable[str]], overlaps: Iterable[tuple[str, Overlap | None]]
) -> dict[str, dict[str, float]]:
    """Return, for each of *groups*, the means over its pages that have a gold text."""
    by_group: defaultdict[str, list[Overlap]] = defaultdict(list)
    for id, overlap_of_page in overlaps:
        if overlap_of_page is not None:
            for group in groups(id):
                by_group[group].append(overlap_of_page)
    return {
        group: {
            "pages": len(pages),
            **{name: fmean(known) for name in Overlap._fields if (known := _known(pages, name))},
        }
        for group, pages in sorted(by_group.items())
    }


def _known(pages: Iterable[Overlap], name: str) -> list[float]:
    return [value for one in pages if (value := getattr(one, name)) is not None]
