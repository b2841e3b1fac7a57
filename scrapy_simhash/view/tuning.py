"""Choose ``SIMHASH_MIN_SIMILARITY`` for a site: estimates from judged pairs of pages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from random import Random
from typing import Any, NamedTuple

from scrapy_simhash.page.fingerprint import digest
from scrapy_simhash.page.fingerprint.fold import number
from scrapy_simhash.view.overview import KEPT_ANYWAY


class Pair(NamedTuple):
    """Two pages; the first was compared with the second."""

    url: str
    other: str
    threshold: float
    """The greatest ``SIMHASH_MIN_SIMILARITY`` at which the pages are near-duplicates; 0 if there is no such value."""
    is_same_text: bool = False
    """Whether title and main text are identical: such pairs need not be judged."""
    is_kept: bool = False
    """Whether both pages are kept at any threshold, such as pages of a listing. Such pairs are not counted."""

    @property
    def key(self) -> tuple[str, str]:
        """Both URLs in alphabetical order."""
        return (self.url, self.other) if self.url < self.other else (self.other, self.url)


def pairs_of(lines: Iterable[Mapping[str, Any]]) -> Iterator[Pair]:
    """Yield the pairs of a report: each page with its original or near miss, if the pair has a threshold."""
    for line in lines:
        miss = line.get("near_miss")
        found = miss if isinstance(miss, Mapping) else {**line, "url": line.get("duplicate_of")}
        url, other, threshold = str(line.get("url")), found.get("url"), found.get("threshold")
        if isinstance(other, str) and isinstance(threshold, int | float) and 0 <= threshold <= 1:
            yield Pair(
                url,
                other,
                float(threshold),
                line.get("exact") is True,
                line.get("protected") in KEPT_ANYWAY,
            )


def sample(pairs: Iterable[Pair], most: int) -> list[Pair]:
    """Return at most *most* pairs: the last pair of each key, for the keys with the smallest hashes, in any order.

    >>> len(sample((Pair(str(number), "0", 0.5) for number in range(100)), 10))
    10
    """
    kept: dict[int, Pair] = {}
    for pair in pairs:
        kept[number(" ".join(pair.key))] = pair
        if len(kept) > 2 * most:
            kept = {place: kept[place] for place in nsmallest(most, kept)}
    return [kept[place] for place in nsmallest(most, kept)]


#: Lower edges of the bands of thresholds. Settings are hardly ever below the first edge.
EDGES = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)

#: Answers by `Pair.key`: whether both pages are the same page.
Labels = Mapping[tuple[str, str], bool]


@dataclass(slots=True)
class Band:
    """The pairs whose threshold is at least ``begin`` and less than ``end``."""

    begin: float
    end: float
    identical: int = 0
    """Pairs with the same text."""
    same: int = 0
    different: int = 0
    """The judged pairs with different texts."""
    unjudged: list[Pair] = field(default_factory=list)
    """The remaining pairs, in a random order that depends only on the pairs."""

    @property
    def is_judged(self) -> bool:
        """Whether a pair of the band was judged, or needs no answer because the texts are the same."""
        return bool(self.identical or self.same or self.different)

    @property
    def pairs(self) -> int:
        """The number of all pairs of the band."""
        return self.identical + self.same + self.different + len(self.unjudged)


def bands_of(pairs: Iterable[Pair], labels: Labels) -> list[Band]:
    """Return the bands of *pairs*, lowest first. Pairs below the first edge, or always kept, belong to no band."""
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


def to_judge(bands: Sequence[Band], near: float, per_band: int) -> list[Pair]:
    """Return the pairs to judge next, so that the average number of answers per band is *per_band*.

    Half of the pairs are spread evenly over the bands, and the other half in proportion to the size of the bands.
    Pairs near the threshold *near* come first, one from each band in rotation, so that the user can stop early.
    """
    total = sum(map(_judgeable, bands)) or 1
    wanted = []
    for band in sorted(bands, key=lambda band: abs((band.begin + band.end) / 2 - near)):
        count = (per_band + per_band * len(bands) * _judgeable(band) // total + 1) // 2
        wanted.append(band.unjudged[: max(0, count - band.same - band.different)])
    turns = max(map(len, wanted), default=0)
    return [pairs[turn] for turn in range(turns) for pairs in wanted if turn < len(pairs)]


def _judgeable(band: Band) -> int:
    return band.pairs - band.identical


DRAWS = 1_000
#: Share of draws outside an interval, half at each end. With 0.05, fewer than 9 of 10 intervals would contain the
#: true value.
OUTSIDE = 0.02
_PRIOR = 0.5
_BOUNDS = (False, True)

Draws = Sequence[tuple[float, ...]]


@dataclass(frozen=True)
class Interval:
    """A share, 0-1, with its 90 % interval."""

    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    """The estimated effect of a threshold."""

    threshold: float
    precision: Interval | None
    """Share of the near-duplicates at this threshold that are the same page; None without near-duplicates."""
    recall: Interval | None
    """Share of the compared pairs of the same page that are near-duplicates at this threshold."""
    is_judged: bool
    """Whether any pair was judged that is accepted at this threshold, but not at the next higher one."""


def estimates(bands: Sequence[Band]) -> list[Estimate]:
    """Return an estimate for each of *bands*, for the threshold at which it begins, lowest first.

    The result is deterministic. `DRAWS` draws per band and threshold take 0.2 seconds in all.
    """
    random = Random(0)
    low, high = (_drawn(bands, random, bound, is_shared=False) for bound in _BOUNDS)
    found = []
    for place, band in enumerate(bands):
        above = bands[place:]
        called = sum(one.pairs for one in above)
        precision = recall = None
        if called:
            ends = (_drawn(above, random, bound) for bound in _BOUNDS)
            precision = _interval(*([sum(draw) / called for draw in end] for end in ends))
        if any(one.identical or one.same for one in bands):
            # The lower end of the recall has the most pairs of the same page below the threshold.
            recall = _interval(_shares(low, high, place), _shares(high, low, place))
        found.append(Estimate(band.begin, precision, recall, band.is_judged))
    return found


def least_for(precision: float, found: Sequence[Estimate]) -> Estimate | None:
    """Return the lowest threshold whose interval of precision begins at *precision* or above, or None.

    A threshold that adds only pairs without answers is never returned.
    """
    shown = [one for one in found if one.precision and one.precision.low >= precision and one.is_judged]
    return next(iter(shown), None)


def _drawn(bands: Sequence[Band], random: Random, bound: bool, is_shared: bool = True) -> Draws:
    """Return random numbers of pairs of the same page in each of *bands*, for the low or the high end."""
    unjudged = sum(len(band.unjudged) for band in bands) or 1
    columns = []
    for band in bands:
        sure, rest = band.identical + band.same, len(band.unjudged)
        prior = _PRIOR * rest / unjudged if is_shared else _PRIOR
        # If all answers are the same, use the extreme value, which cannot be ruled out.
        if not rest or (band.different == 0 if bound else band.same == 0):
            columns.append([float(sure + rest * bound)] * DRAWS)
        else:
            columns.append(
                [
                    sure + rest * random.betavariate(prior + band.same, prior + band.different)
                    for _ in range(DRAWS)
                ]
            )
    return list(zip(*columns, strict=True))


def _shares(above: Draws, below: Draws, place: int) -> list[float]:
    found = [(sum(a[place:]), sum(b[:place])) for a, b in zip(above, below, strict=True)]
    return [right / (right + missed) if right else 0.0 for right, missed in found]


def _interval(for_low: list[float], for_high: list[float]) -> Interval:
    cut = int(DRAWS * OUTSIDE / 2)
    low, high = sorted(for_low)[cut], sorted(for_high)[-1 - cut]
    middle = (sorted(for_low)[DRAWS // 2] + sorted(for_high)[DRAWS // 2]) / 2
    return Interval(middle, low, high)
