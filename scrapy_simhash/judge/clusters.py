"""Clusters of near-duplicates, and the preferred URL of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from scrapy_simhash.index.pairs import connected

#: Max pages per cluster whose URLs are kept, so that later votes for them count.
MAX_KNOWN = 1_000

#: Criteria for a URL; smaller is better. The arguments are the URL, its number of votes and its arrival number.
_CRITERIA: Mapping[str, Callable[[str, int, int], int]] = {
    "https": lambda url, votes, arrival: not url[:6].lower().startswith("https:"),
    "canonical": lambda url, votes, arrival: -votes,
    "shorter": lambda url, votes, arrival: len(url),
    "earlier": lambda url, votes, arrival: arrival,
}


#: Criteria for the preferred URL of a cluster.
PREFERENCES = ("https", "canonical", "shorter", "earlier")


class Preference:
    """An order of criteria: each decides between URLs that are equal by all earlier criteria.

    >>> preference = Preference(["https", "canonical", "shorter"])
    >>> preference.key("https://example.com/long", 0, 1) < preference.key("http://example.com/", 5, 0)
    True
    """

    def __init__(self, order: Sequence[str] = PREFERENCES) -> None:
        """*order* contains names of `PREFERENCES`; the earlier page wins a tie."""
        self._criteria = [_CRITERIA[name] for name in (*order, "earlier")]
        #: Whether canonical URLs count.
        self.has_votes = "canonical" in order

    def key(self, url: str, votes: int, arrival: int) -> tuple[int, ...]:
        """Return a sort key for *url*, smaller for preferred URLs.

        *votes* is the number of pages of the cluster that name *url* as their canonical URL, *arrival* the number of
        pages before it.
        """
        return tuple(criterion(url, votes, arrival) for criterion in self._criteria)


class Contest:
    """The URLs of one cluster, and the preferred URL of the pages so far.

    A page votes for at most one URL, its canonical URL at its first visit. A vote counts only if the page of that URL
    is also in the cluster, before or after the vote. So the result does not depend on the order of pages, except for
    ties.

    URLs are kept as 64-bit hashes. After `MAX_KNOWN` pages, only URLs that earlier pages voted for can win by votes.

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
        """*first* is the URL of the first page."""
        self._preference = preference
        self._arrivals: dict[int, int] = {}
        # Most clusters have no votes. A dict of numbers, not a set, because the garbage collector does not track it.
        self._voters: dict[int, None] | None = None
        self._votes: dict[int, int] | None = None
        self._turn = 0
        self._key: tuple[int, ...] = ()
        self.first = first
        self.winner = first
        self.enter(first)

    def enter(self, url: str, canonical: str | None = None) -> None:
        """Add the page at *url* with its *canonical* URL, or None. O(1)."""
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
        """Return whether the hash of *url* is kept."""
        return hash(url) in self._arrivals

    @property
    def kept(self) -> int:
        """Number of stored hashes: of pages, of pages that voted, and of canonical URLs."""
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
        # Votes only increase, so comparing the URL whose votes have changed is enough.
        if not self._key or key < self._key:
            self._key = key
            self.winner = url


def first_of_joined(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Map each cluster that *pairs* connect, directly or indirectly, to the smallest number of its group.

    >>> first_of_joined([(8, 9), (7, 9), (1, 2)])
    {1: 1, 2: 1, 7: 7, 8: 7, 9: 7}
    """
    return {number: group[0] for group in connected(pairs) for number in group}


def gathered(
    pages: Iterable[tuple[int, str, str | None]], preference: Preference
) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """Yield (number, URLs in order, preferred URL) for each cluster of two or more URLs.

    *pages* are tuples (number of the cluster, URL, canonical URL), sorted by number.
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
