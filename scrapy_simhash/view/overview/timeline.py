"""Timeline: how many pages came when, in bars of equal length."""

from __future__ import annotations

from bisect import bisect_left
from datetime import datetime
from typing import Any

from scrapy_simhash.view.overview.line import is_time
from scrapy_simhash.view.overview.tally import Example

#: Bars at most.
MOST_BARS = 120
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
#: Seconds that a bar may last: what people count time in.
_WIDTHS = (
    *(1, 2, 5, 10, 15, 30),
    *(_MINUTE * count for count in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * count for count in (1, 2, 3, 6, 12)),
    *(_DAY * 2**power for power in range(20)),
)
#: The first and the last second that have a date of four digits.
_FIRST, _LAST = -62_135_596_800, 253_402_300_799
#: What pages are counted as.
KINDS = ("new", "near_duplicates", "other")


class _Bar:
    __slots__ = ("counts", "examples")

    def __init__(self) -> None:
        self.counts = [0, 0, 0]
        self.examples: list[Example | None] = [None, None, None]


class Timeline:
    """The pages of a crawl by time. A bar lasts as long as it takes for all of them to be few.

    >>> timeline = Timeline()
    >>> for second in ("00", "01", "59"):
    ...     timeline.add(f"2026-09-21T14:13:{second}Z", 0, "http://example.com/", None)
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

    def add(self, time: object, kind: int, url: str, other: str | None) -> None:
        """Count the page at *url*, which came at *time* and is of the *kind* with this place in KINDS."""
        # Pages of one second come in a row.
        if time == self._latest[0]:
            seconds = self._latest[1]
        else:
            seconds = _seconds(time)
            self._latest = time, seconds
        if seconds is None:
            self.timeless += 1
            return
        if not self._bars:
            self._first = self._last = seconds
        elif seconds < self._first:
            self._first = seconds
        elif seconds > self._last:
            self._last = seconds
        width = _WIDTHS[self._width]
        if (self._last - self._first) // width >= MOST_BARS - 1:
            self._widen()
            width = _WIDTHS[self._width]
        start = seconds - seconds % width
        bar = self._bars.get(start)
        if bar is None:
            bar = self._bars[start] = _Bar()
        bar.counts[kind] += 1
        if bar.examples[kind] is None:
            bar.examples[kind] = Example(url, other)

    def _widen(self) -> None:
        needed = (self._last - self._first) // (MOST_BARS - 2) + 1
        self._width = min(bisect_left(_WIDTHS, needed), len(_WIDTHS) - 1)
        bars, self._bars = self._bars, {}
        for start, bar in sorted(bars.items()):
            into = self._bars.setdefault(start - start % _WIDTHS[self._width], bar)
            if into is not bar:
                into.counts = [a + b for a, b in zip(into.counts, bar.counts, strict=True)]
                into.examples = [a or b for a, b in zip(into.examples, bar.examples, strict=True)]

    def as_dict(self) -> dict[str, Any]:
        """Return the bars in their order, as JSON has them; those without a page are not there."""
        return {
            "seconds": _WIDTHS[self._width],
            "timeless": self.timeless,
            "bars": [
                {
                    "start": start,
                    **dict(zip(KINDS, bar.counts, strict=True)),
                    "examples": {
                        kind: None if example is None else example.as_dict()
                        for kind, example in zip(KINDS, bar.examples, strict=True)
                    },
                }
                for start, bar in sorted(self._bars.items())
            ],
        }


def _seconds(time: object) -> int | None:
    """Return *time* in seconds of Unix time, which it may be; None for what is no time as reports have it."""
    if type(time) is int:
        return time if _FIRST <= time <= _LAST else None
    if not is_time(time):
        return None
    try:
        # Python 3.10 does not know the letter.
        return int(datetime.fromisoformat(f"{str(time)[:-1]}+00:00").timestamp())
    except ValueError:
        return None
