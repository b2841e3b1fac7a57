"""Overview: what all pages of a crawl together say, counted one page at a time in limited memory. Knows no Scrapy."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scrapy_simhash.scope import host_of
from scrapy_simhash.times import parsed
from scrapy_simhash.view.tallies import (
    Clusters,
    Example,
    Likeness,
    Member,
    Parameters,
    Rows,
    Tally,
    kept_url,
    likeness,
    tallied,
    url_group,
)

#: What is counted, by its value.
COUNTED = ("status", "reason", "action", "protected")
#: Values of each of these that are counted: a policy of somebody's own may make them up without end.
MOST_VALUES = 200
#: Pages that are kept as examples of a value, or of a bin of similarity.
EXAMPLES = 3
#: Rows of a table, and clusters, that are told.
ROWS, CLUSTERS = 100, 500
#: What pages are counted as in the timeline.
KINDS = ("new", "near_duplicates", "other")
#: Bins of the histogram of similarity: two hundredths each.
BINS = 50
#: Bars of the timeline at most.
MOST_BARS = 120
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
#: Seconds that a bar may last: what people count time in.
_WIDTHS = (
    *(1, 2, 5, 10, 15, 30),
    *(_MINUTE * count for count in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * count for count in (1, 2, 3, 6, 12)),
    *(_DAY * 2**power for power in range(20)),
)


class Limits(NamedTuple):
    """The most of each thing that is remembered; what was forgotten is told under ``cut``."""

    pages: int
    """Pages that are known again when they come a second time."""
    clusters: int
    """Clusters with members to show; beyond it the half with the fewest pages goes."""
    rows: int
    """Hosts, URL patterns and parameters, of each; beyond it the half with the fewest pages goes."""
    urls: int
    """URLs by which the parameters of later URLs are judged; the oldest goes."""


#: For a report or a store that is read once: some 300 MB at most.
FILE = Limits(pages=1_000_000, clusters=50_000, rows=20_000, urls=200_000)
#: For a crawl that runs: some 30 MB at most.
LIVE = Limits(pages=100_000, clusters=2_000, rows=2_000, urls=20_000)


class Overview:
    """What the pages of a crawl say together.

    >>> overview = Overview()
    >>> overview.add({"url": "http://example.com/a", "status": "new", "cluster": 0})
    >>> overview.add({"url": "http://example.com/b", "status": "near_duplicate", "cluster": 0,
    ...               "duplicate_of": "http://example.com/a"})
    >>> facts = overview.as_dict()
    >>> facts["pages"], facts["clusters"], facts["hosts"]["rows"][0]["near_duplicates"]
    (2, 1, 1)
    """

    def __init__(self, limits: Limits = FILE) -> None:
        self.pages = 0
        self._counts: dict[str, Counter[str]] = {key: Counter() for key in COUNTED}
        self._examples: dict[tuple[str, str], list[Example]] = defaultdict(list)
        self._timeline = Timeline()
        self._hosts: Rows[str, Tally] = Rows(Tally, limits.rows)
        self._patterns: Rows[tuple[str, str], Tally] = Rows(Tally, limits.rows)
        self._parameters = Parameters(limits.urls, limits.rows)
        self._similarity = _Histogram()
        self._clusters = Clusters(limits.clusters, limits.pages)
        self._savings = _Savings(limits.pages)

    def add(self, line: Mapping[str, Any]) -> None:
        """Take *line*, with the keys of a report, of which only ``url`` and ``status`` must be there. Some 20 us."""
        url, status = kept_url(line["url"]), line["status"]
        self.pages += 1
        first = _kept(line.get("duplicate_of"))
        for key, counter in self._counts.items():
            value = line.get(key)
            if value is not None:
                self._count(key, counter, kept_url(value), url, first)
        kind = "near_duplicates" if first is not None else "new" if status == "new" else "other"
        self._timeline.add(line.get("time"), kind, url, first)
        found = likeness(line)
        self._savings.add(url, status, first, found.is_same_text, line.get("reason"), line.get("referer"))
        if first is not None:
            hints = line.get("hints")
            names_first = isinstance(hints, list) and "canonical" in hints
            self._clusters.add(first, Member(url, found), line.get("cluster"), names_first=names_first)
            self._similarity.add(found, url, first, "near_duplicates")
        if isinstance(miss := line.get("near_miss"), dict) and isinstance(miss.get("url"), str):
            self._similarity.add(likeness(miss), url, kept_url(miss["url"]), "near_misses")
        if status in ("skipped", "unknown") and first is None:
            return
        host, pattern = host_of(url), url_group(url)
        self._hosts[host].add(url, first)
        self._hosts.trim()
        self._patterns[host, pattern].add(url, first)
        self._patterns.trim()
        self._parameters.add(host, url, first or url)

    def _count(self, key: str, counter: Counter[str], value: str, url: str, first: str | None) -> None:
        if value not in counter and len(counter) >= MOST_VALUES:
            return
        counter[value] += 1
        examples = self._examples[key, value]
        if len(examples) < EXAMPLES:
            examples.append(Example(url, first))

    def as_dict(self, clusters: int = CLUSTERS) -> dict[str, Any]:
        """Return all that was counted, as JSON has it, with at most so many *clusters*."""
        return {
            "pages": self.pages,
            **{
                key: dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))
                for key, counter in self._counts.items()
            },
            "examples": {
                key: {value: _as_dicts(self._examples[key, value]) for value in self._counts[key]}
                for key in COUNTED
            },
            "timeline": self._timeline.as_dict(),
            "hosts": tallied(self._hosts, ROWS, lambda host: {"host": host}),
            "url_patterns": tallied(
                self._patterns, ROWS, lambda key: dict(zip(("host", "pattern"), key, strict=True))
            ),
            "parameters": self._parameters.as_list(ROWS),
            "similarity": self._similarity.as_dict(),
            "savings": self._savings.as_dict(),
            "clusters": self._clusters.count,
            "largest_clusters": self._clusters.as_list(clusters),
            # What was forgotten for want of memory: then the figures of it are the least that there were.
            "cut": {
                "hosts": self._hosts.forgotten,
                "url_patterns": self._patterns.forgotten,
                "parameters": self._parameters.forgotten,
                "clusters": self._clusters.forgotten,
                "pages": self._clusters.is_full or self._savings.is_full,
            },
        }


def _kept(url: str | None) -> str | None:
    return None if url is None else kept_url(url)


def _as_dicts(examples: list[Example]) -> list[dict[str, str | None]]:
    return [example.as_dict() for example in examples]


# --- Timeline: how many pages came when, in bars of equal length.


class _Bar:
    def __init__(self) -> None:
        self.counts = dict.fromkeys(KINDS, 0)
        self.examples: dict[str, Example] = {}

    def join(self, other: _Bar) -> None:
        """Take over the pages of a later bar."""
        for kind, count in other.counts.items():
            self.counts[kind] += count
        self.examples = {**other.examples, **self.examples}


class Timeline:
    """The pages of a crawl by time. A bar lasts as long as it takes for all of them to be few.

    >>> timeline = Timeline()
    >>> for second in ("00", "01", "59"):
    ...     timeline.add(f"2026-09-21T14:13:{second}Z", "new", "http://example.com/", None)
    >>> timeline.as_dict()["seconds"], [bar["new"] for bar in timeline.as_dict()["bars"]]
    (1, [1, 1, 1])
    """

    def __init__(self) -> None:
        self._width = 0
        self._bars: dict[int, _Bar] = {}
        self._first = self._last = 0
        self._latest: tuple[object, int | None] = (None, None)
        #: Pages without a time.
        self.timeless = 0

    def add(self, time: object, kind: str, url: str, other: str | None) -> None:
        """Count the page at *url*, which came at *time* and is of this *kind*, one of KINDS."""
        # Pages of one second come in a row.
        if time != self._latest[0]:
            self._latest = time, _seconds(time)
        seconds = self._latest[1]
        if seconds is None:
            self.timeless += 1
            return
        if not self._bars:
            self._first = self._last = seconds
        self._first, self._last = min(seconds, self._first), max(seconds, self._last)
        if (self._last - self._first) // _WIDTHS[self._width] >= MOST_BARS - 1:
            self._widen()
        bar = self._bar_at(seconds)
        bar.counts[kind] += 1
        bar.examples.setdefault(kind, Example(url, other))

    def _bar_at(self, seconds: int) -> _Bar:
        start = seconds - seconds % _WIDTHS[self._width]
        bar = self._bars.get(start)
        if bar is None:
            bar = self._bars[start] = _Bar()
        return bar

    def _widen(self) -> None:
        needed = (self._last - self._first) // (MOST_BARS - 2) + 1
        self._width = min(bisect_left(_WIDTHS, needed), len(_WIDTHS) - 1)
        bars, self._bars = self._bars, {}
        for start, bar in sorted(bars.items()):
            self._bar_at(start).join(bar)

    def as_dict(self) -> dict[str, Any]:
        """Return the bars in their order, as JSON has them; those without a page are not there."""
        return {
            "seconds": _WIDTHS[self._width],
            "timeless": self.timeless,
            "bars": [
                {
                    "start": start,
                    **bar.counts,
                    "examples": {
                        kind: bar.examples[kind].as_dict() if kind in bar.examples else None for kind in KINDS
                    },
                }
                for start, bar in sorted(self._bars.items())
            ],
        }


def _seconds(time: object) -> int | None:
    """Return *time* in seconds of Unix time, None for what is no time."""
    try:
        return parsed(time)
    except ValueError:
        return None


class _Histogram:
    """Pairs of pages by the greatest ``SIMHASH_MIN_SIMILARITY`` by which they are near-duplicates.

    Two series: pages that repeat another one, and near misses. Identical texts are counted apart: they are often so
    many that nothing else could be seen beside them.
    """

    _SERIES = ("near_duplicates", "near_misses")

    def __init__(self) -> None:
        self._counts: Counter[tuple[int, str]] = Counter()
        self._examples: dict[tuple[int, str], list[Example]] = defaultdict(list)
        self._identical = 0
        self._unknown = 0

    def add(self, found: Likeness, url: str, other: str, series: str) -> None:
        """Count the page at *url*, which repeats *other*, or nearly did."""
        if found.is_same_text:
            self._identical += 1
        elif found.threshold is None:
            self._unknown += 1
        else:
            place = min(int(found.threshold * BINS + 1e-9), BINS - 1), series
            self._counts[place] += 1
            if len(self._examples[place]) < EXAMPLES:
                self._examples[place].append(Example(url, other))

    def as_dict(self) -> dict[str, Any]:
        """Return the bins with a pair in them, as JSON has them."""
        return {
            "identical": self._identical,
            "unknown": self._unknown,
            "bins": [
                {
                    "from": place / BINS,
                    "to": (place + 1) / BINS,
                    **{series: self._counts[place, series] for series in self._SERIES},
                    "examples": {
                        series: _as_dicts(self._examples.get((place, series), [])) for series in self._SERIES
                    },
                }
                for place in sorted({place for place, _ in self._counts})
            ],
        }


@dataclass
class _Savings:
    """Counts the pages that repeat another one, by what was done about them, and what they led to.

    The links of near-duplicates lead to pages that a crawl without them would not have asked for: those whose referer
    is a near-duplicate, or another page that only such a one led to. Some of them may be linked from elsewhere too,
    so it is the most that can be lost.
    """

    most_pages: int
    is_full: bool = False
    repeats: int = 0
    identical: int = 0
    unchanged: int = 0
    with_referer: int = 0
    led_to: int = 0
    """Pages behind near-duplicates."""
    led_to_new: int = 0
    """Those of them that are new."""
    example: dict[str, str | None] | None = None
    behind: set[int] = field(default_factory=set)
    """Hashes of near-duplicates, and of pages that these led to."""

    def add(
        self, url: str, status: str, first: str | None, is_same_text: bool, reason: object, referer: object
    ) -> None:
        """Take the page at *url*, which repeats *first* if that is not None, and was linked from *referer*."""
        is_behind = False
        if isinstance(referer, str):
            self.with_referer += 1
            is_behind = hash(referer) in self.behind
            if is_behind:
                self.led_to += 1
                if status == "new":
                    self.led_to_new += 1
                    self.example = self.example or Example(url, kept_url(referer)).as_dict()
        if first is not None:
            self.repeats += 1
            self.identical += is_same_text
        elif reason == "unchanged":
            self.unchanged += 1
        if is_behind or first is not None:
            if len(self.behind) < self.most_pages:
                self.behind.add(hash(url))
            else:
                self.is_full = True

    def as_dict(self) -> dict[str, Any]:
        """Return the counts, as JSON has them."""
        return {
            "near_duplicates": self.repeats,
            "identical": self.identical,
            "unchanged": self.unchanged,
            "led_to": self.led_to if self.with_referer else None,
            "led_to_new": self.led_to_new if self.with_referer else None,
            "led_to_example": self.example,
        }
