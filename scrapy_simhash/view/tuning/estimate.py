"""Estimates: precision and recall at each threshold, with intervals, from the pairs of each band that were judged.

The judged pairs of a band are a random sample of it, so that the share of its pairs which are the same page has a
beta distribution. Draws from those of several bands, added up, give the interval of their sum. For precision the
bands share one Jeffreys prior, by their size; for recall each has its own: a large one may hide a few copies. Where
nobody has seen a different page the upper end is 1. Source: Brown, Cai, DasGupta, "Interval Estimation for a Binomial
Proportion", 2001. ``benchmarks/tuning.py`` measures how many intervals hold the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from scrapy_simhash.view.tuning.bands import Band

DRAWS = 1_000
#: Share of the draws outside of an interval, half at each end. With 0.05, fewer than 9 of 10 hold the truth.
OUTSIDE = 0.02
_PRIOR = 0.5
_BOUNDS = (False, True)

Draws = Sequence[tuple[float, ...]]


class Interval(NamedTuple):
    """A share, 0-1, and within which bounds it is in 9 of 10 cases."""

    share: float
    low: float
    high: float


class Estimate(NamedTuple):
    """What a threshold would do."""

    threshold: float
    pairs: int
    """Pairs that it calls near-duplicates."""
    precision: Interval | None
    """Share of them that are the same page; None if there are none."""
    recall: Interval | None
    """Share of all pairs that are the same page, of those that were compared, which it calls near-duplicates."""
    is_judged: bool
    """Whether anything is known about the pairs that it adds to those of the next higher threshold."""


def estimates(bands: Sequence[Band]) -> list[Estimate]:
    """Return an estimate for each threshold at which one of *bands* begins, lowest first.

    The same for the same counts. `DRAWS` draws for each band and threshold, .2 seconds in all.
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
            # Fewest are found when most of those below are the same page.
            recall = _interval(_shares(low, high, place), _shares(high, low, place))
        found.append(Estimate(band.begin, called, precision, recall, band.is_judged))
    return found


def least_for(precision: float, found: Sequence[Estimate]) -> Estimate | None:
    """Return the lowest threshold whose *precision* is shown: the low end of its interval reaches it.

    None if there is none. Above it there may be some that do not: with fewer judged pairs intervals are wider. None
    is chosen that adds only pairs of which nobody knows anything.
    """
    shown = [one for one in found if one.precision and one.precision.low >= precision and one.is_judged]
    return next(iter(shown), None)


def _drawn(bands: Sequence[Band], random: Random, bound: bool, is_shared: bool = True) -> Draws:
    """Return draw by draw how many pairs of each of *bands* are the same page, for the low or the high end."""
    unjudged = sum(len(band.unjudged) for band in bands) or 1
    columns = []
    for band in bands:
        sure, rest = band.identical + band.same, len(band.unjudged)
        prior = _PRIOR * rest / unjudged if is_shared else _PRIOR
        # Of what was never seen, the end that cannot be ruled out.
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
