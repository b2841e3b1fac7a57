"""Which ``SIMHASH_MIN_SIMILARITY`` suits a site, by pairs of its pages that somebody judged."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field
from heapq import heappush, heappushpop
from random import Random
from typing import Any, Generic, NamedTuple, TypeVar

from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.judge.hints import says_of_urls
from scrapy_simhash.judge.policy import Protection
from scrapy_simhash.judge.rule import Nearest, Rule
from scrapy_simhash.page.fingerprint import digest
from scrapy_simhash.page.fingerprint.fold import number
from scrapy_simhash.store import Page
from scrapy_simhash.store.candidates import BY_ALL, distance_of, index_for, search, values_by

#: Pages that are kept whatever the threshold: no threshold is to be chosen for them.
_KEPT_ANYWAY = {kind.value for kind in (Protection.PAGINATION, Protection.LANGUAGE, Protection.FACTS)}
#: The name for a page that came again.
REFETCHED = "refetched"
#: What pages say of themselves, by what says it: whether two of them are the same page. The first that holds counts:
#: that page 2 of a list names page 1 as canonical is a common mistake. On labelled pairs of real pages canonical URLs
#: are right for 94 to 95 of 100, equivalent URLs for 91 to 99, page numbers for 28 of 33: good to know, no answers.
#: As a sign of different pages, links to both on one page are right for 16 to 75 of 100, and ``hreflang`` for none of
#: ten: these are no kinds. ``benchmarks/tuning.py`` measures it.
TOLD: Mapping[str, bool] = {
    "pagination": False,
    REFETCHED: True,
    "canonical": True,
    "address": True,
    "redirect": True,
}


class Pair(NamedTuple):
    """Two pages, of which the first was compared with the second."""

    url: str
    other: str
    threshold: float
    """The greatest ``SIMHASH_MIN_SIMILARITY`` by which they are near-duplicates; 0 if by none."""
    distance: int | None = None
    """Bits, 0-64."""
    similarity: float | None = None
    """0-1."""
    is_same_text: bool = False
    """Whether title and main text are identical: nobody needs to judge that."""
    hints: tuple[str, ...] = ()
    """Keys of `TOLD` that hold for the two, but for those that the URLs tell."""
    is_kept: bool = False
    """Whether both are kept whatever the threshold: a page of a list, a translation, a product, a page that came
    again. No threshold is chosen by them."""

    @property
    def key(self) -> tuple[str, str]:
        """Both URLs in alphabetical order: which page came first does not matter to whoever judges."""
        return (self.url, self.other) if self.url < self.other else (self.other, self.url)

    @property
    def told_by(self) -> str | None:
        """What says of the pages whether they are the same one: the first in `TOLD`; None if nothing does. 50 µs."""
        if self.url == self.other:
            return REFETCHED
        said = {*self.hints, *says_of_urls(self.url, self.other)}
        return next((kind for kind in TOLD if kind in said), None)


def pairs_of(lines: Iterable[Mapping[str, Any]]) -> Iterator[Pair]:
    """Yield the pairs of a report: of each page, what it repeats, or its near miss, if the line tells a threshold.

    Lines of reports that were written before there were thresholds have none. A page that came again is compared with
    itself, unless it now repeats another one.
    """
    for line in lines:
        is_revisit = line.get("status") == "revisit"
        miss = line.get("near_miss")
        told = miss if isinstance(miss, Mapping) else {**line, "url": line.get("duplicate_of")}
        url, other, threshold = str(line.get("url")), told.get("url"), told.get("threshold")
        comes_again = is_revisit and other is None
        if comes_again:
            other, threshold = url, threshold or 0
        if isinstance(other, str) and isinstance(threshold, int | float) and 0 <= threshold <= 1:
            yield Pair(
                url,
                other,
                float(threshold),
                # The distance of a revisit is that from its own former self.
                None if is_revisit and not comes_again else told.get("distance"),
                told.get("similarity"),
                line.get("exact") is True,
                tuple(_hints(line)),
                comes_again or line.get("protected") in _KEPT_ANYWAY,
            )


def _hints(line: Mapping[str, Any]) -> Iterator[str]:
    hints = line.get("hints")
    if isinstance(hints, list | tuple):
        yield from (hint for hint in hints if hint in TOLD)
    if line.get("protected") == Protection.PAGINATION.value:
        yield "pagination"


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
    all_of_them = sum(map(_judgeable, bands)) or 1
    wanted = []
    for band in sorted(bands, key=lambda band: abs((band.begin + band.end) / 2 - near)):
        number = (each + each * len(bands) * _judgeable(band) // all_of_them + 1) // 2
        wanted.append(band.unjudged[: max(0, number - band.same - band.different)])
    # Band by band in turn: who stops early has judged some of each that matters.
    turns = max(map(len, wanted), default=0)
    return [pairs[turn] for turn in range(turns) for pairs in wanted if turn < len(pairs)]


def _judgeable(band: Band) -> int:
    """Return how many pairs of a band somebody has judged, or could."""
    return band.pairs - band.identical


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


V = TypeVar("V")


class Sample(Generic[V]):
    """At most *most* values with different keys: those of the keys with the smallest hashes, in any order they come.

    >>> sample = Sample(2)
    >>> for letter in "abcab":
    ...     sample.add(letter, letter.upper())
    >>> sorted(sample.values()), sample.seen
    (['B', 'C'], 5)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[str, V] = {}
        #: The largest hash first.
        self._heap: list[tuple[int, str]] = []
        #: How many values came.
        self.seen = 0
        #: Whether there were more keys than are kept.
        self.is_part = False

    def __len__(self) -> int:
        return len(self._values)

    def add(self, key: str, value: V) -> None:
        """Take *value*, in the place of an earlier one with that *key*, if it is one of the sample. O(log most)."""
        self.seen += 1
        if key in self._values:
            self._values[key] = value
            return
        entry = (-number(key), key)
        if len(self._heap) < self._most:
            heappush(self._heap, entry)
            self._values[key] = value
            return
        self.is_part = True
        gone = heappushpop(self._heap, entry)
        if gone != entry:
            del self._values[gone[1]]
            self._values[key] = value

    def values(self) -> ValuesView[V]:
        """Return the values of the sample."""
        return self._values.values()


class _Best(NamedTuple):
    """The most alike page so far."""

    page: Page
    nearest: Nearest


class Neighbours:
    """Knows the pages of a sample; told of the pages of a store, finds for each what a crawl compared it with.

    That is, of a page that repeats another one, that other one; of any other page, the most alike of the earlier
    originals that a crawl finds for it: within reach of the rule, or with the same title.
    """

    def __init__(self, rule: Rule, sample: Iterable[Page]) -> None:
        """Look for the neighbours of the pages of *sample*, which have fingerprints."""
        self._rule = rule
        self._sample = list(sample)
        self._best: dict[int, _Best] = {}
        #: By scope, those that repeat no other.
        self._indexes: dict[str, SimhashIndex] = {}
        #: The others, by the number of the page that they repeat.
        self._copies: dict[int, list[int]] = defaultdict(list)
        for place, page in enumerate(self._sample):
            if page.cluster != page.number:
                self._copies[page.cluster].append(place)
                continue
            scope, fingerprint = page.posting.scope, page.posting.fingerprint
            index = self._indexes.setdefault(scope, index_for(rule))
            for value in values_by(fingerprint, BY_ALL):
                index.add(value, place)

    def meet(self, page: Page) -> None:
        """Compare *page* with those of the sample that came later. Some 50 µs."""
        if page.cluster != page.number:
            return
        for place in self._copies.get(page.number, ()):
            self._compare(place, page)
        index = self._indexes.get(page.posting.scope)
        if index is not None:
            for match in search(index, page.posting.fingerprint).matches:
                if self._sample[match.key].number > page.number:
                    self._compare(match.key, page)

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs that were found."""
        for place, (other, nearest) in self._best.items():
            ours, its = self._sample[place].posting, other.posting
            yield Pair(
                ours.url,
                its.url,
                nearest.threshold,
                distance_of(ours.fingerprint, its.fingerprint.compared_bytes()),
                round(nearest.similarity, 3),
                ours.page_hash is not None and ours.page_hash == its.page_hash,
            )

    def _compare(self, place: int, page: Page) -> None:
        ours = self._sample[place].posting.fingerprint
        nearest = self._rule.nearest(ours, [page.posting.fingerprint.compared_bytes()])
        best = self._best.get(place)
        if nearest is not None and (best is None or nearest.similarity > best.nearest.similarity):
            self._best[place] = _Best(page, nearest)
