"""Clusters of near-duplicates, and which URL of each is preferred."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from scrapy_simhash.index.pairs import connected

#: Max pages of one cluster that are known by their URLs: those that may still be preferred when another page names
#: them. Some clusters of a crawl have many more.
MAX_KNOWN = 1_000

#: What speaks for a URL, the smaller the better: of the URL, how many pages name it, when it came.
_CRITERIA: Mapping[str, Callable[[str, int, int], int]] = {
    "https": lambda url, votes, arrival: not url[:6].lower().startswith("https:"),
    "canonical": lambda url, votes, arrival: -votes,
    "shorter": lambda url, votes, arrival: len(url),
    "earlier": lambda url, votes, arrival: arrival,
}


#: Criteria for the preferred URL of a cluster.
PREFERENCES = ("https", "canonical", "shorter", "earlier")


class Preference:
    """The order in which criteria are asked: what the first of them does not decide, the next one does.

    >>> preference = Preference(["https", "canonical", "shorter"])
    >>> preference.key("https://example.com/long", 0, 1) < preference.key("http://example.com/", 5, 0)
    True
    """

    def __init__(self, order: Sequence[str] = PREFERENCES) -> None:
        """Ask in this *order*, of names in `PREFERENCES`; at last, which page came earlier."""
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
