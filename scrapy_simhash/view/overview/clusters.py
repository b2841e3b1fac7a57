"""Clusters: pages with nearly the same text, and a few members of each to look at."""

from __future__ import annotations

from heapq import nlargest
from typing import Any, NamedTuple

from scrapy_simhash.view.overview.line import Likeness

#: Members of a cluster that are kept beside the least alike one.
_MEMBERS = 3


class Member(NamedTuple):
    """A page of a cluster, and how alike it is to the first."""

    url: str
    found: Likeness

    @property
    def least(self) -> float:
        """What it is as alike as, to find the least alike; 1 where nobody knows."""
        known = self.found.threshold if self.found.threshold is not None else self.found.similarity
        return 1.0 if self.found.is_same_text or known is None else known


class _Cluster:
    __slots__ = ("identical", "least", "members", "number", "pages", "preferred")

    def __init__(self) -> None:
        self.number: int | None = None
        self.pages = 1
        self.identical = 0
        self.preferred: str | None = None
        self.members: list[Member] = []
        self.least: Member | None = None


class Clusters:
    """The clusters of a crawl by the URL of their first page; the largest stay when there are too many."""

    def __init__(self, most: int, most_pages: int) -> None:
        self._most = most
        self._clusters: dict[str, _Cluster] = {}
        #: Hashes of pages, and of first pages, that were counted: each counts once.
        self._met: set[int] = set()
        self._most_pages = most_pages
        #: How many there are, those included that were forgotten.
        self.count = 0
        self.forgotten = 0
        #: Whether pages that come again may be counted again.
        self.is_full = False

    def add(self, first: str, page: Member, number: object, preferred: str | None) -> bool:
        """Take *page*, which repeats the page at *first*, in the cluster with *number*; tell if it had not before."""
        if self._is_new(hash((first,))):
            self.count += 1
        cluster = self._clusters.get(first)
        if cluster is None:
            cluster = self._clusters[first] = _Cluster()
        cluster.number = number if type(number) is int else None
        cluster.preferred = preferred
        is_first_visit = self._is_new(hash((first, page.url)))
        if is_first_visit:
            cluster.pages += 1
            cluster.identical += page.found.is_same_text
            if len(cluster.members) < _MEMBERS:
                cluster.members.append(page)
            elif page.least < 1 and (cluster.least is None or page.least < cluster.least.least):
                cluster.least = page
        if len(self._clusters) > self._most:
            kept = nlargest(self._most // 2, self._clusters.items(), key=lambda item: item[1].pages)
            self.forgotten += len(self._clusters) - len(kept)
            self._clusters = dict(kept)
        return is_first_visit

    def prefer(self, first: str, preferred: str) -> None:
        """Note that *preferred* is the preferred URL of the cluster of *first*, if there is one."""
        if (cluster := self._clusters.get(first)) is not None:
            cluster.preferred = preferred

    def _is_new(self, key: int) -> bool:
        if key in self._met:
            return False
        if len(self._met) >= self._most_pages:
            self.is_full = True
        else:
            self._met.add(key)
        return True

    def as_list(self, most: int) -> list[dict[str, Any]]:
        """Return the largest, as JSON has them."""
        return [
            {
                "cluster": cluster.number,
                "pages": cluster.pages,
                "identical": cluster.identical,
                "first": first,
                "preferred": cluster.preferred,
                "members": [
                    {
                        "url": member.url,
                        "distance": member.found.distance,
                        "similarity": member.found.similarity,
                        "threshold": member.found.threshold,
                        "exact": member.found.is_same_text,
                    }
                    for member in (*cluster.members, *filter(None, (cluster.least,)))
                ],
            }
            for first, cluster in nlargest(most, self._clusters.items(), key=lambda item: item[1].pages)
        ]
