"""Pairs: which pages a crawl compared, by its report, and by which threshold each two are near-duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from scrapy_simhash.judge.hints import says_of_urls
from scrapy_simhash.judge.policy import Exemption

#: Pages that are kept whatever the threshold: no threshold is to be chosen for them.
_KEPT_ANYWAY = {kind.value for kind in (Exemption.PAGINATION, Exemption.LANGUAGE, Exemption.PRODUCT)}
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
                comes_again or line.get("exemption") in _KEPT_ANYWAY,
            )


def _hints(line: Mapping[str, Any]) -> Iterator[str]:
    hints = line.get("hints")
    if isinstance(hints, list | tuple):
        yield from (hint for hint in hints if hint in TOLD)
    if line.get("exemption") == Exemption.PAGINATION.value:
        yield "pagination"
