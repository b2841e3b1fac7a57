"""Neighbours: to which earlier page each page of a sample is most alike, by the fingerprints of a store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scrapy_simhash.index import HammingIndex
from scrapy_simhash.judge.rule import Nearest, Rule
from scrapy_simhash.store import Page
from scrapy_simhash.store.candidates import BY_ALL, distance_of, index_for, search, values_by
from scrapy_simhash.view.tuning.pairs import Pair


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
        self._indexes: dict[str, HammingIndex] = {}
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
                ours.text_hash is not None and ours.text_hash == its.text_hash,
            )

    def _compare(self, place: int, page: Page) -> None:
        ours = self._sample[place].posting.fingerprint
        nearest = self._rule.nearest(ours, [page.posting.fingerprint.compared_bytes()])
        best = self._best.get(place)
        if nearest is not None and (best is None or nearest.similarity > best.nearest.similarity):
            self._best[place] = _Best(page, nearest)
