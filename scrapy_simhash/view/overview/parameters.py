"""Parameters: which parameters of URLs change nothing about the page."""

from __future__ import annotations

from collections.abc import Hashable
from heapq import nlargest
from typing import Any

from scrapy_simhash.recent import Recent
from scrapy_simhash.view.overview.tally import Example

#: Parameters of a URL beyond which it is left out: nobody can say then which of them matters.
MOST_IN_URL = 12
#: Pairs of URLs that must have been compared before anything is said about a parameter.
FEWEST_PAIRS = 2


class _Parameter:
    __slots__ = ("different", "different_example", "same", "same_example")

    def __init__(self) -> None:
        self.same = self.different = 0
        self.same_example: Example | None = None
        self.different_example: Example | None = None


class Parameters:
    """Tells by pairs of URLs that differ in one parameter, or only one of which has it, whether the page is the same.

    Each URL is compared with the first that was met of those that are otherwise equal.

    >>> parameters = Parameters(most_urls=100, most=100)
    >>> for number, url in enumerate(["/a?page=1&sort=up", "/a?page=1&sort=down", "/a?page=2&sort=up"]):
    ...     parameters.add("example.com", url, cluster=number if "page=2" in url else 0)
    >>> [(row["parameter"], row["same"], row["different"]) for row in parameters.as_list(10, fewest=1)]
    [('sort', 1, 0), ('page', 0, 1)]
    """

    def __init__(self, most_urls: int, most: int) -> None:
        #: By the hash of a URL without one of its parameters, and of the name of that one: what was met first.
        self._met: Recent[int, tuple[str, Hashable, str]] = Recent(most_urls)
        self._rows: dict[tuple[str, str], _Parameter] = {}
        self._most = most
        self.forgotten = 0

    def add(self, host: str, url: str, cluster: Hashable) -> None:
        """Take the page at *url*, whose text is that of *cluster*."""
        path, _, rest = url.partition("?")
        query = rest.partition("#")[0]
        if not query:
            key = hash((path.partition("#")[0], ()))
            if key not in self._met:
                self._met[key] = ("", cluster, url)
            return
        pairs = sorted({parameter for parameter in query.split("&") if parameter})
        if len(pairs) > MOST_IN_URL:
            return
        whole = hash((path, tuple(pairs)))
        if whole not in self._met:
            self._met[whole] = ("", cluster, url)
        names = [parameter.partition("=")[0] for parameter in pairs]
        for place, name in enumerate(names):
            # Of a parameter with several values it is not clear which would be the other one.
            if names.count(name) > 1:
                continue
            others = tuple(pairs[:place] + pairs[place + 1 :])
            key = hash((path, others, name))
            met = self._met.get(key) or self._met.get(hash((path, others)))
            if key not in self._met:
                self._met[key] = (pairs[place], cluster, url)
            if met is not None and met[0] != pairs[place]:
                self._count(host, name, met[1] == cluster, Example(url, met[2]))

    def _count(self, host: str, name: str, is_same: bool, example: Example) -> None:
        row = self._rows.get((host, name))
        if row is None:
            row = self._rows[host, name] = _Parameter()
        if is_same:
            row.same += 1
            row.same_example = row.same_example or example
        else:
            row.different += 1
            row.different_example = row.different_example or example
        if len(self._rows) > self._most:
            kept = nlargest(
                self._most // 2, self._rows.items(), key=lambda item: item[1].same + item[1].different
            )
            self.forgotten += len(self._rows) - len(kept)
            self._rows = dict(kept)

    def as_list(self, most: int, fewest: int = FEWEST_PAIRS) -> list[dict[str, Any]]:
        """Return those with *fewest* pairs or more, as JSON has them: those that most often change nothing first."""
        told = [item for item in self._rows.items() if item[1].same + item[1].different >= fewest]
        return [
            {
                "host": host,
                "parameter": name,
                "same": row.same,
                "different": row.different,
                "same_example": row.same_example and row.same_example.as_dict(),
                "different_example": row.different_example and row.different_example.as_dict(),
            }
            for (host, name), row in nlargest(most, told, key=lambda item: (item[1].same, item[1].different))
        ]
