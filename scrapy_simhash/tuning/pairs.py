"""Pairs: which pages a crawl compared, by its report, and by which threshold each two are near-duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from scrapy_simhash.policy import Exemption

#: Pages that are kept whatever the threshold: no threshold is to be chosen for them.
_KEPT_ANYWAY = {kind.value for kind in (Exemption.PAGINATION, Exemption.LANGUAGE, Exemption.PRODUCT)}


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

    @property
    def key(self) -> tuple[str, str]:
        """Both URLs in alphabetical order: which page came first does not matter to whoever judges."""
        return (self.url, self.other) if self.url < self.other else (self.other, self.url)


def pairs_of(lines: Iterable[Mapping[str, Any]]) -> Iterator[Pair]:
    """Yield the pairs of a report: of each page, what it repeats, or its near miss, if the line tells a threshold.

    Lines of reports that were written before there were thresholds have none. Pages of a list, translations and
    products, which are kept whatever they repeat, are left out.
    """
    for line in lines:
        if line.get("exemption") in _KEPT_ANYWAY:
            continue
        miss = line.get("near_miss")
        told = miss if isinstance(miss, Mapping) else {**line, "url": line.get("duplicate_of")}
        other, threshold = told.get("url"), told.get("threshold")
        if isinstance(other, str) and isinstance(threshold, int | float) and 0 <= threshold <= 1:
            yield Pair(
                str(line.get("url")),
                other,
                float(threshold),
                # The distance of a revisit is that from its own former self.
                None if line.get("status") == "revisit" else told.get("distance"),
                told.get("similarity"),
                line.get("exact") is True,
            )
