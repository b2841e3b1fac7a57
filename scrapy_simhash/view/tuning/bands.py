"""Bands: pairs by their threshold, as a histogram has them, and which of them are judged first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scrapy_simhash.page.fingerprint import digest
from scrapy_simhash.view.tuning.pairs import Pair

#: Where the bands begin; what is below the first is near by hardly any setting, or by none. Every edge is a threshold
#: that can be chosen.
EDGES = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)

#: Answers of whoever judged, by `Pair.key`: whether the pages are the same one.
Labels = Mapping[tuple[str, str], bool]


@dataclass(slots=True)
class Band:
    """The pairs whose threshold is at least ``begin`` and less than ``end``."""

    begin: float
    end: float
    identical: int = 0
    """Pairs with one text."""
    same: int = 0
    different: int = 0
    """Of the others, those that were judged."""
    unjudged: list[Pair] = field(default_factory=list)
    """The rest, in random order, the same one for the same pairs."""

    @property
    def is_judged(self) -> bool:
        """Whether anything is known about its pairs."""
        return bool(self.identical or self.same or self.different)

    @property
    def pairs(self) -> int:
        """How many pairs there are in all."""
        return self.identical + self.same + self.different + len(self.unjudged)


def bands_of(pairs: Iterable[Pair], labels: Labels) -> list[Band]:
    """Return the bands of *pairs*, lowest first; none has what is below the first edge, or kept anyway."""
    bands = [Band(begin, end) for begin, end in zip(EDGES, (*EDGES[1:], 1.001), strict=True)]
    for pair in pairs:
        place = bisect_right(EDGES, pair.threshold) - 1
        if place < 0 or pair.is_kept:
            continue
        band, answer = bands[place], labels.get(pair.key)
        if pair.is_same_text:
            band.identical += 1
        elif answer is None:
            band.unjudged.append(pair)
        elif answer:
            band.same += 1
        else:
            band.different += 1
    for band in bands:
        band.unjudged.sort(key=lambda pair: digest(" ".join(pair.key)))
    return bands


def to_judge(bands: Sequence[Band], near: float, each: int) -> list[Pair]:
    """Return the pairs to judge next, until there are so many answers that a band has *each* of them in the mean.

    Half of them are the same number for each band, the others go by its size: what is most is worth knowing best.
    Those from around the threshold *near* come first.
    """
    all_of_them = sum(map(_open, bands)) or 1
    wanted = []
    for band in sorted(bands, key=lambda band: abs((band.begin + band.end) / 2 - near)):
        number = (each + each * len(bands) * _open(band) // all_of_them + 1) // 2
        wanted.append(band.unjudged[: max(0, number - band.same - band.different)])
    # Band by band in turn: who stops early has judged some of each that matters.
    turns = max(map(len, wanted), default=0)
    return [pairs[turn] for turn in range(turns) for pairs in wanted if turn < len(pairs)]


def _open(band: Band) -> int:
    """Return how many pairs of a band somebody has judged, or could."""
    return band.pairs - band.identical
