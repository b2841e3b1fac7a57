"""Clusters: pages that repeat one page, as a crawl meets them, and which of them is to be preferred."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any
from urllib.parse import urlsplit

from scrapy_simhash.display import html_of
from scrapy_simhash.index.pairs import connected
from scrapy_simhash.recent import Recent
from scrapy_simhash.verdict import Verdict

#: Pages of one cluster that are known by their URLs: those that may still be preferred when another page names
#: them. Of a crawl from one template some clusters have many more; by then it is settled.
MAX_KNOWN = 1_000

#: What speaks for a URL, the smaller the better: of the URL, how many pages name it, when it came.
_CRITERIA: Mapping[str, Callable[[str, int, int], int]] = {
    "https": lambda url, votes, arrival: not url[:6].lower().startswith("https:"),
    "canonical": lambda url, votes, arrival: -votes,
    "shorter": lambda url, votes, arrival: len(url),
    "earlier": lambda url, votes, arrival: arrival,
}


class Preference:
    """The order in which criteria are asked: what the first of them does not decide, the next one does.

    >>> preference = Preference(["https", "canonical", "shorter"])
    >>> preference.key("https://example.com/long", 0, 1) < preference.key("http://example.com/", 5, 0)
    True
    """

    def __init__(self, order: Sequence[str] = ()) -> None:
        """Ask in this *order*, of names in `scrapy_simhash.config.PREFERENCES`; at last, which page came earlier."""
        self._criteria = [_CRITERIA[name] for name in (*order, "earlier")]
        #: Whether it matters which page names which.
        self.has_votes = "canonical" in order

    def key(self, url: str, votes: int, arrival: int) -> tuple[int, ...]:
        """Return what is smaller the more *url* is to be preferred.

        *votes* pages of the cluster name it as their canonical URL; *arrival* pages came before it.
        """
        return tuple(criterion(url, votes, arrival) for criterion in self._criteria)


class Contest:
    """The URLs of one cluster, and which of them is to be preferred so far.

    A page names one URL at most, as it does when it first comes. That is worth something only if the page of that
    URL is in the cluster, however late: who names a page with another text, or one that never came, has no say.
    So the outcome depends on which pages came and what they name, and on their order only through "earlier".

    URLs are kept as 64-bit hashes: who names one brings it along. Beyond `MAX_KNOWN` pages only what one of the
    first has named can win by its votes.

    >>> contest = Contest(Preference(["canonical", "shorter"]), "https://example.com/s")
    >>> contest.enter("https://example.com/s?print", "https://example.com/story")
    >>> contest.winner
    'https://example.com/s'
    >>> contest.enter("https://example.com/story")
    >>> contest.winner
    'https://example.com/story'
    """

    __slots__ = ("_arrivals", "_key", "_preference", "_turn", "_voters", "_votes", "first", "winner")

    def __init__(self, preference: Preference, first: str) -> None:
        """Begin with the URL of the *first* page."""
        self._preference = preference
        self._arrivals: dict[int, int] = {}
        # Most clusters have none. No set: there may be many clusters, and the garbage collector passes over a dict of
        # numbers.
        self._voters: dict[int, None] | None = None
        self._votes: dict[int, int] | None = None
        self._turn = 0
        self._key: tuple[int, ...] = ()
        self.first = first
        self.winner = first
        self.enter(first)

    def enter(self, url: str, canonical: str | None = None) -> None:
        """Take note of a page at *url*, which names *canonical*, None if it names nothing. O(1)."""
        page = hash(url)
        if page not in self._arrivals:
            arrival = self._turn
            self._turn += 1
            if arrival < MAX_KNOWN:
                self._arrivals[page] = arrival
            self._compare(url, page, arrival)
        if canonical is not None and self._preference.has_votes:
            self._vote(page, canonical)

    def has(self, url: str) -> bool:
        """Tell whether *url* is among the URLs that are known."""
        return hash(url) in self._arrivals

    @property
    def kept(self) -> int:
        """How many URLs it keeps, those named included."""
        return len(self._arrivals) + len(self._voters or ()) + len(self._votes or ())

    def _vote(self, page: int, canonical: str) -> None:
        if self._voters is None or self._votes is None:
            self._voters, self._votes = {}, {}
        if page in self._voters or len(self._voters) >= MAX_KNOWN:
            return
        named = hash(canonical)
        self._voters[page] = None
        self._votes[named] = self._votes.get(named, 0) + 1
        if named in self._arrivals:
            self._compare(canonical, named, self._arrivals[named])

    def _compare(self, url: str, page: int, arrival: int) -> None:
        votes = self._votes.get(page, 0) if self._votes else 0
        key = self._preference.key(url, votes, arrival)
        # Votes only become more, so that no URL that has won becomes worse, nor one that has lost unseen better.
        if not self._key or key < self._key:
            self._key = key
            self.winner = url


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


def first_of_joined(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return of the clusters that *pairs* connect, directly or through others, the smallest number each.

    >>> first_of_joined([(8, 9), (7, 9), (1, 2)])
    {1: 1, 2: 1, 7: 7, 8: 7, 9: 7}
    """
    return {number: group[0] for group in connected(pairs) for number in group}


def gathered(
    pages: Iterable[tuple[int, str, str | None]], preference: Preference
) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """Yield each cluster of two URLs or more: its number, its URLs in their order, and the one to be preferred.

    *pages* come with the number of their cluster, by which they are sorted, their URL, and the URL that they name.
    """
    for number, members in groupby(pages, key=itemgetter(0)):
        contest: Contest | None = None
        urls: dict[str, None] = {}
        for _, url, canonical in members:
            contest = contest or Contest(preference, url)
            contest.enter(url, canonical)
            urls[url] = None
        if contest is not None and len(urls) > 1:
            yield number, tuple(urls), contest.winner


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
    >>> book.largest
    2
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
            if verdict.duplicate_of is None or verdict.contradicts:
                if canonical is not None:
                    self._wait(number, url, canonical)
                return None
            entry = self._begin(number, verdict.duplicate_of)
        else:
            self._entries.move_to_end(number)
        self._addresses -= entry.kept
        entry.add(verdict, url, canonical)
        self._addresses += entry.kept
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
            if verdict.is_duplicate and not verdict.contradicts:
                self.pages += 1
                self.size = max(self.size, self.pages)
            if len(self.urls) < SHOWN_URLS:
                self.urls += (url,)
            if len(self.hosts) < MAX_HOSTS and (host := _host(url)) not in self.hosts:
                self.hosts += (host,)
        self.enter(url, canonical)

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
