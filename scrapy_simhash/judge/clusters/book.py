"""ClusterBook: the clusters that a crawl meets copies of, how large they are, and which URL is to be preferred.

A cluster is the pages that repeat one page, which is its first. (``index/clusters.py`` finds groups of fingerprints.)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from scrapy_simhash.display import html_of
from scrapy_simhash.judge.clusters.preferred import Contest, Preference
from scrapy_simhash.recent import Recent
from scrapy_simhash.verdict import Verdict

#: Clusters with copies that are remembered; those that were not met for the longest time are forgotten.
MAX_CLUSTERS = 100_000
#: URLs that are remembered in all of them together. The book is 160 MB large at most.
MAX_ADDRESSES = 500_000
#: Pages without a copy so far of which it is remembered which URL they name: some 20 MB.
MAX_WAITING = 100_000
#: URLs of a cluster that are shown, its first included.
SHOWN_URLS = 5
#: Hosts of a cluster that are told apart.
MAX_HOSTS = 100


@dataclass(frozen=True, slots=True)
class Cluster:
    """What a crawl has met of a cluster."""

    number: int
    """As in `Verdict.cluster`."""
    pages: int
    """Pages of this crawl that repeat its first, and its first, wherever that was seen."""
    size: int
    """Pages that ever joined it, in earlier crawls too and by other crawlers, as far as the store counts them."""
    first: str
    """URL of the page that all others repeat."""
    preferred: str
    """URL that is to be preferred by ``SIMHASH_PREFER``."""
    urls: tuple[str, ...]
    """Its first and the next few, in the order in which they came."""
    hosts: int
    """Hosts on which its pages lie, counted to 100."""

    @property
    def is_preferred_later(self) -> bool:
        """Whether another page than the first is to be preferred."""
        return self.preferred != self.first

    def to_dict(self) -> dict[str, Any]:
        """Return the cluster as a row of a table; its URLs are one string, with blanks between them."""
        return {
            "cluster": self.number,
            "pages": self.pages,
            "size": self.size,
            "first": self.first,
            "preferred": self.preferred,
            "urls": " ".join(self.urls),
            "hosts": self.hosts,
        }

    def _repr_html_(self) -> str:
        return html_of(self)


class ClusterBook:
    """Told of each verdict; knows the clusters that had copies, as many as it has room for.

    >>> from scrapy_simhash import Status
    >>> book = ClusterBook(["https", "shorter"])
    >>> book.note(Verdict(Status.NEW, cluster=0), "http://example.com/story")
    >>> copy = Verdict(Status.NEAR_DUPLICATE, duplicate_of="http://example.com/story", cluster=0, rank=1)
    >>> book.note(copy, "https://example.com/story")
    'https://example.com/story'
    >>> book.largest, book.preferred_later
    (2, 1)
    """

    def __init__(
        self,
        prefer: Sequence[str] = (),
        max_clusters: int = MAX_CLUSTERS,
        max_addresses: int = MAX_ADDRESSES,
        max_waiting: int = MAX_WAITING,
    ) -> None:
        """Prefer by the criteria *prefer*, see `Preference`; the rest are the bounds, see above."""
        self._preference = Preference(prefer)
        self._max_clusters = max_clusters
        self._max_addresses = max_addresses
        #: Least recently met first.
        self._entries: OrderedDict[int, _Entry] = OrderedDict()
        self._addresses = 0
        #: What pages named that are in no cluster with copies yet, by the number of their cluster.
        self._waiting: Recent[int, tuple[str, str]] = Recent(max_waiting)
        #: Pages of the largest cluster, those of earlier crawls included; 0 before the first copy.
        self.largest = 0
        #: Clusters of which another page than the first is to be preferred, those that are forgotten included.
        self.preferred_later = 0
        #: Clusters of which there is no more room.
        self.forgotten = 0

    def __len__(self) -> int:
        return len(self._entries)

    def note(self, verdict: Verdict, url: str, canonical: str | None = None) -> str | None:
        """Take note of the verdict on the page at *url*, which names *canonical* as its URL.

        Return the URL that is to be preferred so far; None for a page that repeats no other and was repeated by
        none in this crawl. O(1): less than a microsecond for a page without copies, up to twenty for another.
        """
        number = verdict.cluster
        if number is None:
            return None
        entry = self._entries.get(number)
        if entry is None:
            if verdict.duplicate_of is None:
                if canonical is not None:
                    self._wait(number, url, canonical)
                return None
            entry = self._begin(number, verdict.duplicate_of)
        else:
            self._entries.move_to_end(number)
        self._addresses -= entry.kept
        was_later = entry.is_preferred_later
        entry.add(verdict, url, canonical)
        self._addresses += entry.kept
        self.preferred_later += entry.is_preferred_later - was_later
        self.largest = max(self.largest, entry.size)
        while len(self._entries) > self._max_clusters or self._addresses > self._max_addresses:
            self._forget()
        return entry.winner

    def clusters(self) -> Iterator[Cluster]:
        """Yield the clusters that are remembered: those with the most pages first, then by number."""
        ordered = sorted(self._entries.items(), key=lambda item: (-item[1].pages, item[0]))
        return (entry.cluster(number) for number, entry in ordered)

    def _wait(self, number: int, url: str, canonical: str) -> None:
        # What a page names when it first comes counts.
        if not self._preference.has_votes or number in self._waiting:
            return
        # Most pages name themselves: that is one string, which the store has as well.
        self._waiting[number] = (url, url if canonical == url else canonical)

    def _begin(self, number: int, first: str) -> _Entry:
        entry = _Entry(self._preference, first)
        named = self._waiting.pop(number, None)
        if named is not None:
            # The page that is first in the store may have come under another URL this time.
            entry.enter(*named)
        self._entries[number] = entry
        self._addresses += entry.kept
        self.preferred_later += entry.is_preferred_later
        return entry

    def _forget(self) -> None:
        _, entry = self._entries.popitem(last=False)
        self._addresses -= entry.kept
        self.forgotten += 1


class _Entry(Contest):
    """A cluster that grows. One object, which holds no others that the garbage collector would have to visit."""

    __slots__ = ("hosts", "pages", "size", "urls")

    def __init__(self, preference: Preference, first: str) -> None:
        super().__init__(preference, first)
        self.pages = 1
        self.size = 1
        self.urls: tuple[str, ...] = (first,)
        self.hosts: tuple[str, ...] = (_host(first),)

    def add(self, verdict: Verdict, url: str, canonical: str | None) -> None:
        if verdict.rank is not None:
            self.size = max(self.size, verdict.rank + 1)
        if not self.has(url):
            if verdict.is_duplicate:
                self.pages += 1
                self.size = max(self.size, self.pages)
            if len(self.urls) < SHOWN_URLS:
                self.urls += (url,)
            if len(self.hosts) < MAX_HOSTS and (host := _host(url)) not in self.hosts:
                self.hosts += (host,)
        self.enter(url, canonical)

    @property
    def is_preferred_later(self) -> bool:
        return self.winner != self.first

    def cluster(self, number: int) -> Cluster:
        return Cluster(
            number,
            self.pages,
            self.size,
            self.first,
            self.winner,
            self.urls,
            len(self.hosts),
        )


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:  # "http://[broken"
        return ""
