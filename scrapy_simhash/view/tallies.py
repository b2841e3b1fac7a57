"""Tallies of an overview: what is counted by host, URL pattern, parameter and cluster, in limited memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any, Generic, NamedTuple, TypeVar

from scrapy_simhash.judge.clusters import Contest, Preference
from scrapy_simhash.observers.url_rules.cut_url import path_shape
from scrapy_simhash.recent import Recent

#: Characters of a URL that are kept; the same as Scrapy's URLLENGTH_LIMIT, beyond which it follows no link.
LONGEST_URL = 2083
#: Members of a cluster that are kept beside the least alike one.
_MEMBERS = 3
#: Parameters of a URL beyond which it is left out: nobody can say then which of them matters.
MOST_IN_URL = 12
#: Pairs of URLs that must have been compared before anything is said about a parameter.
FEWEST_PAIRS = 2
#: Characters of a URL pattern that are kept, and parameters that it names.
LONGEST_PATTERN, MOST_NAMES = 200, 8
#: A segment that is a number, or a word with one: 2024, page-2.html, p17.
_COUNTED = re.compile(r"(?:[A-Za-z]{1,20}[-_.]?)?[0-9]+(?:\.[A-Za-z]{1,5})?")


class Likeness(NamedTuple):
    """How alike two pages are, as far as is known."""

    distance: int | None
    similarity: float | None
    threshold: float | None
    """The greatest ``SIMHASH_MIN_SIMILARITY`` by which they are near-duplicates."""
    is_same_text: bool

    @property
    def least(self) -> float:
        """What two pages are as alike as, to find the least alike; 1 where nobody knows."""
        known = self.similarity if self.threshold is None else self.threshold
        return 1.0 if self.is_same_text or known is None else known


def likeness(line: Mapping[str, Any]) -> Likeness:
    """Return how alike the page of *line* is to the page that it repeats, or what a near miss says.

    Whoever wrote the line: what is no number of bits and no share is None.
    """
    distance = line.get("distance")
    # The distance of a revisit is that from its own former self.
    is_distance = type(distance) is int and 0 <= distance <= 64 and line.get("status") != "revisit"
    return Likeness(
        distance if is_distance else None,
        share(line.get("similarity")),
        share(line.get("threshold")),
        line.get("exact") is True,
    )


def share(value: object) -> float | None:
    """Return *value* if it is a number from 0 to 1, else None.

    >>> share(0.5), share(1), share(True), share(float("nan")), share("1")
    (0.5, 1.0, None, None, None)
    """
    return float(value) if type(value) in (int, float) and 0 <= value <= 1 else None  # type: ignore[operator, arg-type]


def kept_url(url: str) -> str:
    """Return *url*, cut if it is longer than any that Scrapy follows."""
    return url[:LONGEST_URL]


def url_group(url: str) -> str:
    """Return the one pattern that *url* is counted under: path and parameters, what differs by page left open.

    >>> url_group("https://example.com/boats/2024/05/the-ferry?utm_source=mail&id=7")
    '/boats/{number}/{number}/*?id&utm_source'
    >>> url_group("https://example.com/boats/page-2.html"), url_group("https://example.com/")
    ('/boats/page-{number}.html', '/')
    """
    rest, _, query = url.partition("#")[0].partition("?")
    path = "/" + rest.partition("://")[2].partition("/")[2]
    folder, _, last = path_shape(path).rpartition("/")
    if last not in ("", "{id}") and not _COUNTED.fullmatch(path.rpartition("/")[2]):
        last = "*"
    pattern = f"{folder}/{last}"
    if query:
        names = sorted({parameter.partition("=")[0] for parameter in query.split("&") if parameter})
        more = ["..."] if len(names) > MOST_NAMES else []
        pattern += f"?{'&'.join(names[:MOST_NAMES] + more)}"
    return pattern if len(pattern) <= LONGEST_PATTERN else f"{pattern[:LONGEST_PATTERN]}..."


class Example(NamedTuple):
    """A page, and the one that it repeats or nearly did."""

    url: str
    other: str | None = None

    def as_dict(self) -> dict[str, str | None]:
        """Return it as JSON has it."""
        return {"url": self.url, "other": self.other}


# --- Rows of a limited number.

K = TypeVar("K")
R = TypeVar("R", bound="Row")


@dataclass(slots=True)
class Row:
    """The pages of one kind."""

    pages: int = 0


class Rows(Generic[K, R]):
    """Rows by key, made by *kind*, of a limited number: one more, and the half with the fewest pages goes.

    >>> rows = Rows(Row, most=2)
    >>> for host in ("a", "b", "a", "c"):
    ...     rows[host].pages += 1
    ...     rows.trim()
    >>> [(key, row.pages) for key, row in rows.largest(10)], rows.forgotten
    ([('a', 2)], 2)
    """

    def __init__(self, kind: Callable[[], R], most: int) -> None:
        self._kind = kind
        self._most = most
        self._rows: dict[K, R] = {}
        #: Rows that went; one that comes again counts anew, and may go again.
        self.forgotten = 0

    def __len__(self) -> int:
        """Return how many there are, those included that were forgotten."""
        return len(self._rows) + self.forgotten

    def __getitem__(self, key: K) -> R:
        """Return the row of *key*, a new one for the first time."""
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = self._kind()
        return row

    def get(self, key: K) -> R | None:
        """Return the row of *key* if there is one."""
        return self._rows.get(key)

    def trim(self) -> None:
        """Forget half of the rows if there are too many: after each count."""
        if len(self._rows) > self._most:
            kept = self.largest(self._most // 2)
            self.forgotten += len(self._rows) - len(kept)
            self._rows = dict(kept)

    def largest(
        self, most: int, order: Callable[[R], Any] = lambda row: row.pages, least: int = 0
    ) -> list[tuple[K, R]]:
        """Return at most so many rows with *least* pages or more, the largest by *order* first."""
        found = (item for item in self._rows.items() if item[1].pages >= least)
        return nlargest(most, found, key=lambda item: order(item[1]))


@dataclass(slots=True)
class Tally(Row):
    """The pages of a host or a URL pattern, and how many of them repeat another one."""

    repeats: int = 0
    example: Example | None = None
    """Of those that repeat another one, the first."""

    def add(self, url: str, other: str | None) -> None:
        """Count the page at *url*, which repeats *other*, None for none."""
        self.pages += 1
        if other is not None:
            self.repeats += 1
            self.example = self.example or Example(url, other)


def _by_repeats(row: Tally) -> tuple[int, int]:
    return row.repeats, row.pages


def tallied(rows: Rows[Any, Tally], most: int, keys: Callable[[Any], Mapping[str, str]]) -> dict[str, Any]:
    """Return the *rows* with the most pages that repeat another one, as JSON has them; *keys* names their keys."""
    return {
        "count": len(rows),
        "rows": [
            {
                **keys(key),
                "pages": row.pages,
                "near_duplicates": row.repeats,
                "example": row.example and row.example.as_dict(),
            }
            for key, row in rows.largest(most, _by_repeats)
        ],
    }


# --- Clusters: pages with nearly the same text, and a few members of each to look at.


class Member(NamedTuple):
    """A page of a cluster, and how alike it is to the first."""

    url: str
    found: Likeness


@dataclass(slots=True)
class _Cluster(Row):
    pages: int = 1
    number: int | None = None
    identical: int = 0
    contest: Contest | None = None
    members: list[Member] = field(default_factory=list)
    least: Member | None = None


class Clusters:
    """The clusters of a crawl by the URL of their first page; the largest stay when there are too many."""

    def __init__(self, most: int, most_pages: int) -> None:
        self._clusters: Rows[str, _Cluster] = Rows(_Cluster, most)
        #: Hashes of pages, and of first pages, that were counted: each counts once.
        self._met: set[int] = set()
        self._most_pages = most_pages
        #: How many there are, those included that were forgotten.
        self.count = 0
        #: Whether pages that come again may be counted again.
        self.is_full = False

    @property
    def forgotten(self) -> int:
        """How many went."""
        return self._clusters.forgotten

    def add(self, first: str, page: Member, number: object, *, names_first: bool) -> None:
        """Add *page*, a near-duplicate of the page at *first*, to the cluster with *number*.

        *names_first* tells whether it names that page as its canonical URL.
        """
        if self._is_new(hash((first,))):
            self.count += 1
        cluster = self._clusters[first]
        cluster.number = number if type(number) is int else None
        cluster.contest = cluster.contest or Contest(Preference(), first)
        cluster.contest.enter(page.url, first if names_first else None)
        if self._is_new(hash((first, page.url))):
            cluster.pages += 1
            cluster.identical += page.found.is_same_text
            if len(cluster.members) < _MEMBERS:
                cluster.members.append(page)
            elif page.found.least < (1.0 if cluster.least is None else cluster.least.found.least):
                cluster.least = page
        self._clusters.trim()

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
                "preferred": cluster.contest and cluster.contest.winner,
                "members": [
                    {
                        "url": url,
                        "distance": found.distance,
                        "similarity": found.similarity,
                        "threshold": found.threshold,
                        "exact": found.is_same_text,
                    }
                    for url, found in (*cluster.members, *filter(None, (cluster.least,)))
                ],
            }
            for first, cluster in self._clusters.largest(most)
        ]


# --- Parameters: which parameters of URLs change nothing about the page.


@dataclass(slots=True)
class _Parameter(Tally):
    """Its pages are the pairs of URLs that were compared; of those with one page, one repeats the other."""

    different_example: Example | None = None


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
        self._rows: Rows[tuple[str, str], _Parameter] = Rows(_Parameter, most)

    @property
    def forgotten(self) -> int:
        """How many went."""
        return self._rows.forgotten

    def add(self, host: str, url: str, cluster: Hashable) -> None:
        """Take the page at *url*, whose text is that of *cluster*."""
        path, _, rest = url.partition("?")
        query = rest.partition("#")[0]
        if not query:
            path = path.partition("#")[0]
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
        row = self._rows[host, name]
        row.add(example.url, example.other if is_same else None)
        if not is_same:
            row.different_example = row.different_example or example
        self._rows.trim()

    def as_list(self, most: int, fewest: int = FEWEST_PAIRS) -> list[dict[str, Any]]:
        """Return those with *fewest* pairs or more, as JSON has them: those that most often change nothing first."""
        return [
            {
                "host": host,
                "parameter": name,
                "same": row.repeats,
                "different": row.pages - row.repeats,
                "same_example": row.example and row.example.as_dict(),
                "different_example": row.different_example and row.different_example.as_dict(),
            }
            for (host, name), row in self._rows.largest(most, _by_repeats, least=fewest)
        ]
