"""Histogram: how alike the pages are that were compared, on both sides of the threshold."""

from __future__ import annotations

from typing import Any

from scrapy_simhash.view.overview.line import Likeness
from scrapy_simhash.view.overview.tally import Example

#: Bins of which a histogram is made: two hundredths each.
BINS = 50
#: Pairs that are kept as examples of a bin, of each kind.
_EXAMPLES = 3


class Histogram:
    """Pairs of pages by the greatest ``SIMHASH_MIN_SIMILARITY`` by which they are near-duplicates.

    Two series: pages that repeat another one, and near misses. Identical texts are counted apart: they are often so
    many that nothing else could be seen beside them.
    """

    def __init__(self) -> None:
        self._counts = ([0] * BINS, [0] * BINS)
        self._examples: tuple[dict[int, list[Example]], ...] = ({}, {})
        self.identical = 0
        self.unknown = 0

    def add(self, found: Likeness, url: str, other: str, is_miss: bool) -> None:
        """Count the page at *url*, which repeats *other*, or nearly did."""
        if found.is_same_text:
            self.identical += 1
            return
        if found.threshold is None:
            self.unknown += 1
            return
        place = min(int(found.threshold * BINS + 1e-9), BINS - 1)
        self._counts[is_miss][place] += 1
        examples = self._examples[is_miss].setdefault(place, [])
        if len(examples) < _EXAMPLES:
            examples.append(Example(url, other))

    def as_dict(self) -> dict[str, Any]:
        """Return the bins with a pair in them, as JSON has them."""
        return {
            "identical": self.identical,
            "unknown": self.unknown,
            "bins": [
                {
                    "from": place / BINS,
                    "to": (place + 1) / BINS,
                    "near_duplicates": counts[0],
                    "near_misses": counts[1],
                    "examples": {
                        name: [example.as_dict() for example in self._examples[series].get(place, ())]
                        for series, name in enumerate(("near_duplicates", "near_misses"))
                    },
                }
                for place, counts in enumerate(zip(*self._counts, strict=True))
                if any(counts)
            ],
        }
