"""From fingerprints and labels to precision and recall: counting only."""

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
    """How many labelled pairs there are, and how many of them a rule takes for near-duplicates."""

    near: int = 0
    near_within: int = 0
    different: int = 0
    different_within: int = 0

    @property
    def precision(self) -> float | None:
        """Share of near pairs among the pairs within the rule; None when there are none of either."""
        within = self.near_within + self.different_within
        return self.near_within / within if within else None

    @property
    def recall(self) -> float | None:
        """Share of the near pairs that lie within the rule; None when there is no near pair."""
        return self.near_within / self.near if self.near else None

    def as_dict(self) -> dict[str, Any]:
        """Return the counts with both shares."""
        return {**self._asdict(), "precision": self.precision, "recall": self.recall}


class Found(NamedTuple):
    """Two documents within a distance of each other, the smaller id first."""

    distance: int
    a: str
    b: str


class Overlap(NamedTuple):
    """How much two bags of tokens have in common, 0-1."""

    precision: float
    recall: float
    f1: float
    near: bool | None = None
    """Whether texts of these tokens are near-duplicates, None where one cannot say."""


def compare(
    pairs: Iterable[Pair], pages: Mapping[str, Page | None], measure: Callable[[Page, Page], Measure]
) -> list[Measure | None]:
    """Return *measure* of each pair, None where one of its pages is None or missing: too short."""
    found: list[Measure | None] = []
    for pair in pairs:
        a, b = pages.get(pair.a), pages.get(pair.b)
        found.append(None if a is None or b is None else measure(a, b))
    return found


def score(pairs: Sequence[Pair], hits: Sequence[bool | None]) -> Score:
    """Return the score of *pairs*, each of which a rule takes for near-duplicates (*hits*) or does not.

    Grey pairs do not count. A near pair whose hit is None (a page is too short) is a miss, a different one no
    error.
    """
    counts: Counter[tuple[str, bool]] = Counter(
        (pair.label, bool(hit)) for pair, hit in zip(pairs, hits, strict=True)
    )
    near, different = counts["near", True], counts["different", True]
    return Score(near + counts["near", False], near, different + counts["different", False], different)


def scores_by(
    key: Callable[[Pair], str], pairs: Sequence[Pair], hits: Sequence[bool | None]
) -> dict[str, Score]:
    """Return a score for each value of *key*, sorted by it; grey pairs make no value."""
    groups: defaultdict[str, tuple[list[Pair], list[bool | None]]] = defaultdict(lambda: ([], []))
    for pair, hit in zip(pairs, hits, strict=True):
        if pair.label != "grey":
            groups[key(pair)][0].append(pair)
            groups[key(pair)][1].append(hit)
    return {name: score(*group) for name, group in sorted(groups.items())}


def mean(scores: Iterable[Score]) -> dict[str, float | None]:
    """Return mean precision and mean recall of those *scores* that have near pairs; each counts the same."""
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
    """Return every two documents within *distance* bits whom no pair names, whatever its label; nearest first."""
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
    """Return how much of *tokens* is in *gold* and of *gold* in *tokens*, as bags: order does not matter.

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
    """Return the means over the pages with a gold text, of each of the *groups* that a page's id is in."""
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
