"""Clusters of near-duplicates, and the preferred URL of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from scrapy_simhash.index.pairs import connected

#: Max pages per cluster whose URLs are kept, so that later votes for them count.
MAX_KNOWN = 1_000


def _key(url: str, votes: int, arrival: int) -> tuple[int, ...]:
    """Return a sort key, smaller for preferred URLs: https, then most votes, then shorter, then earlier.

    *votes* is the number of pages of the cluster that name *url* as their canonical URL, *arrival* the number of
    pages before it.

    >>> _key("https://example.com/long", 0, 1) < _key("http://example.com/", 5, 0)
    True
    """
    return (not url[:6].lower().startswith("https:"), -votes, len(url), arrival)


class Contest:
    """The URLs of one cluster, and the preferred URL of the pages so far.

    A page votes for at most one URL, its canonical URL at its first visit. A vote counts only if the page of that URL
    is also in the cluster, before or after the vote. So the result does not depend on the order of pages, except for
    ties.

    URLs are kept as 64-bit hashes. After `MAX_KNOWN` pages, only URLs that earlier pages voted for can win by votes.

    >>> contest = Contest("https://example.com/s")
    >>> contest.enter("https://example.com/s?print", "https://example.com/story")
    >>> contest.winner
    'https://example.com/s'
    >>> contest.enter("https://example.com/story")
    >>> contest.winner
    'https://example.com/story'
    """

    __slots__ = ("_arrivals", "_key", "_turn", "_voters", "_votes", "winner")

    def __init__(self, first: str) -> None:
        """*first* is the URL of the first page."""
        self._arrivals: dict[int, int] = {}
        # Most clusters have no votes. A dict of numbers, not a set, because the garbage collector does not track it.
        self._voters: dict[int, None] | None = None
        self._votes: dict[int, int] | None = None
        self._turn = 0
        self._key: tuple[int, ...] = ()
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
        if canonical is not None:
            self._vote(page, canonical)

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
        key = _key(url, votes, arrival)
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


def gathered(pages: Iterable[tuple[int, str, str | None]]) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """Yield (number, URLs in order, preferred URL) for each cluster of two or more URLs.

    *pages* are tuples (number of the cluster, URL, canonical URL), sorted by number.
    """
    for number, members in groupby(pages, key=itemgetter(0)):
        contest: Contest | None = None
        urls: dict[str, None] = {}
        for _, url, canonical in members:
            contest = contest or Contest(url)
            contest.enter(url, canonical)
            urls[url] = None
        if contest is not None and len(urls) > 1:
            yield number, tuple(urls), contest.winner
