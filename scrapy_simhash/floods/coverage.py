"""Coverage: which patterns of URLs a flood has nearly to itself.

The counts of all patterns of all hosts would grow with the crawl, so at most `MOST_PATTERNS` are kept. What is
forgotten can only keep a pattern from being found, never the other way round: the half with the fewest pages goes,
and a pattern that is counted from then on is taken to have had as many pages of something else as the largest of its
host that went.
(The idea is Space-Saving's: Metwally, Agrawal, El Abbadi 2005.)
"""

from __future__ import annotations

from heapq import nlargest
from typing import TypeAlias

#: Number of a cluster, or None for the pages of a host that have no text.
Cluster: TypeAlias = "int | None"

#: Patterns that are counted, over all hosts.
MOST_PATTERNS = 20_000
#: Clusters that are counted in a pattern: where there are more, none has it to itself.
MOST_CLUSTERS = 50
#: Share of the pages of a pattern, in hundredths, that must be one flood's.
LEAST_SHARE = 95


class _Count:
    """The pages that came under a pattern."""

    __slots__ = ("clusters", "forgotten", "pages")

    def __init__(self, forgotten: int) -> None:
        self.pages = 0
        #: Pages that may have come before, and are taken for none of a flood's.
        self.forgotten = forgotten
        self.clusters: dict[Cluster, int] = {}

    def total(self) -> int:
        return self.pages + self.forgotten

    def add(self, cluster: Cluster) -> None:
        self.clusters[cluster] = self.clusters.get(cluster, 0) + 1
        if len(self.clusters) > MOST_CLUSTERS:
            largest = nlargest(MOST_CLUSTERS // 2, self.clusters.items(), key=lambda item: item[1])
            self.clusters = dict(largest)

    def take_out(self, part: _Count) -> None:
        self.pages = max(0, self.pages - part.pages)
        for cluster, pages in part.clusters.items():
            self.clusters[cluster] = max(0, self.clusters.get(cluster, 0) - pages)


class Coverage:
    """Counts the pages of each pattern, and those of each flood among them.

    >>> coverage = Coverage(least=2)
    >>> for path in ("/old/a", "/old/b"):
    ...     coverage.count("example.com", ("/old/*",))
    ...     coverage.assign("example.com", ("/old/*",), cluster=7)
    >>> coverage.owned("example.com", ("/old/*",), cluster=7)
    '/old/*'
    """

    def __init__(self, least: int) -> None:
        """Make one that says of no pattern with fewer than *least* pages that somebody has it."""
        self._least = least
        self._counts: dict[tuple[str, str], _Count] = {}
        self._forgotten: dict[str, int] = {}
        self._forgotten_elsewhere = 0
        self._stopped: set[tuple[str, str]] = set()

    def count(self, host: str, patterns: tuple[str, ...]) -> None:
        """Count a page under each of its *patterns*, whatever it is; one under a stopped pattern does not count."""
        if self.is_stopped(host, patterns):
            return
        for pattern in patterns:
            count = self._counts.get((host, pattern))
            if count is None:
                count = self._counts[host, pattern] = _Count(self._unknown(host))
            count.pages += 1
        if len(self._counts) > MOST_PATTERNS:
            self._forget()

    def assign(self, host: str, patterns: tuple[str, ...], cluster: Cluster) -> None:
        """Say that a page which has been counted belongs to *cluster*."""
        if self.is_stopped(host, patterns):
            return
        for pattern in patterns:
            count = self._counts.get((host, pattern))
            if count is not None:
                count.add(cluster)

    def owned(self, host: str, patterns: tuple[str, ...], cluster: Cluster) -> str | None:
        """Return the first of *patterns*, the narrowest first, that *cluster* has nearly to itself; None for none.

        That is: at least *least* pages of the host came under it, and 95 of 100 of them belong to the cluster. And it
        is no wider than need be: where half of them came under a narrower one, that one is waited for.
        """
        if self.is_stopped(host, patterns):
            return None
        most_in_narrower = 0
        for pattern in patterns:
            count = self._counts.get((host, pattern))
            flooded = count.clusters.get(cluster, 0) if count is not None else 0
            if count is not None and self._is_owned(flooded, count.total()):
                return pattern if 2 * most_in_narrower < flooded else None
            most_in_narrower = max(most_in_narrower, flooded)
        return None

    def share(self, host: str, pattern: str, cluster: Cluster) -> tuple[int, int]:
        """Return how many pages of *cluster* came under *pattern*, and how many pages there were at all."""
        count = self._counts.get((host, pattern))
        return (count.clusters.get(cluster, 0), count.total()) if count is not None else (0, 0)

    def stop(self, host: str, patterns: tuple[str, ...], pattern: str) -> None:
        """Note that *pattern*, one of *patterns*, is not asked for any more.

        The wider ones lose its pages: what is known of it says nothing about the rest.
        """
        self._stopped.add((host, pattern))
        part = self._counts.pop((host, pattern), None)
        if part is None:
            return
        for wider in patterns[patterns.index(pattern) + 1 :]:
            count = self._counts.get((host, wider))
            if count is not None:
                count.take_out(part)

    def is_stopped(self, host: str, patterns: tuple[str, ...]) -> bool:
        """Tell whether one of *patterns* has been stopped on *host*."""
        return bool(self._stopped) and any((host, pattern) in self._stopped for pattern in patterns)

    @property
    def has_stopped(self) -> bool:
        """Whether any pattern has been stopped at all."""
        return bool(self._stopped)

    def __len__(self) -> int:
        """Return how many patterns are counted."""
        return len(self._counts)

    def _is_owned(self, flooded: int, total: int) -> bool:
        return total >= self._least and 100 * flooded >= LEAST_SHARE * total

    def _unknown(self, host: str) -> int:
        """Return how many pages a pattern of *host* may have had that is not counted."""
        return self._forgotten.get(host, self._forgotten_elsewhere)

    def _forget(self) -> None:
        """Forget the half that has the fewest pages."""
        kept = nlargest(MOST_PATTERNS // 2, self._counts.items(), key=lambda item: item[1].total())
        counts = dict(kept)
        for (host, pattern), count in self._counts.items():
            if (host, pattern) not in counts:
                self._forgotten[host] = max(self._unknown(host), count.total())
        self._counts = counts
        if len(self._forgotten) > MOST_PATTERNS:
            self._forgotten_elsewhere = max(self._forgotten_elsewhere, *self._forgotten.values())
            self._forgotten.clear()
