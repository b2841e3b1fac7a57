"""FloodWatch: notices when one page comes back under ever more URLs of a host. Knows no Scrapy.

Memory is bounded, and what is forgotten can only make a flood be noticed later, or not at all: a count that was
dropped begins anew, none is ever made up. All of it, full to the brim, is some tens of megabytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from heapq import nlargest
from typing import NamedTuple

from scrapy_simhash.floods.coverage import Cluster, Coverage
from scrapy_simhash.floods.flood import Flood, Kind
from scrapy_simhash.floods.pattern import patterns
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import scope_of

#: Clusters with one page on a host, of which the URL is kept; the oldest goes.
MOST_SINGLES = 20_000
#: Clusters with more pages on a host; beyond it the half with the fewest pages goes.
MOST_COUNTS = 20_000
#: URLs of pages without text that are known again; the oldest goes.
MOST_SILENT = 20_000
#: Hosts whose pages are counted; beyond it the half with the fewest pages goes.
MOST_HOSTS = 20_000
#: Floods that are kept for :attr:`FloodWatch.floods`; any more are told when they are found, and not kept.
MOST_FLOODS = 1_000
#: URLs that a flood is shown with.
SAMPLES = 10
#: Pages that are counted together at most: one by one each takes three times as long, for what it needs has left the
#: processor's cache since the page before.
BATCH = 64
#: Share of a flood's pages, in hundredths, that must have a pattern which is said to be how its URLs grow.
TYPICAL_SHARE = 60


class Suspect(NamedTuple):
    """What is known of a page that seems to be a flood, to tell its kind."""

    says_nothing: bool
    """Whether it is a page without text."""
    pattern: str | None
    """What its URLs have in common, None if that is nothing."""


class Seen(NamedTuple):
    """A page that belongs to a flood."""

    flood: Flood
    is_new: bool
    """Whether it was noticed with this very page."""
    pattern: str | None
    """The narrowest pattern of the page that the flood has nearly to itself, and that is not stopped yet."""


class _Count:
    """The pages of one cluster on one host."""

    __slots__ = ("flood", "original", "size", "urls")

    def __init__(self, original: str | None) -> None:
        self.size = 0
        self.original = original
        self.urls: list[str] = []
        self.flood: Flood | None = None

    def add(self, url: str) -> None:
        self.size += 1
        if len(self.urls) < SAMPLES:
            self.urls.append(url)


class _Host:
    """The pages of one host."""

    __slots__ = ("pages", "silent")

    def __init__(self) -> None:
        self.pages = 0
        self.silent = _Count(None)


class FloodWatch:
    """Counts the pages of a crawl by cluster and host.

    >>> watch = FloodWatch(size=3)
    >>> for number in range(1, 4):
    ...     seen = watch.add(f"https://example.com/day/{number}", 7, "https://example.com/day/1")
    >>> seen.is_new, seen.flood.size, seen.pattern
    (True, 3, '/day/{number}')
    """

    def __init__(self, size: int) -> None:
        """Make one for floods of *size* pages or more."""
        self.size = size
        self._coverage = Coverage(size)
        self._singles: Recent[tuple[int, str], str] = Recent(MOST_SINGLES)
        self._silent: Recent[int, None] = Recent(MOST_SILENT)
        self._counts: dict[tuple[int, str], _Count] = {}
        self._hosts: dict[str, _Host] = {}
        self._floods: list[_Count] = []
        #: Pages to be counted before the next that may belong to a flood: the URL of each, and its cluster.
        self._waiting: list[tuple[str, int | None]] = []

    @property
    def floods(self) -> list[Flood]:
        """The floods noticed so far, with the sizes that they have now."""
        return [replace(count.flood, size=count.size) for count in self._floods if count.flood is not None]

    def add(
        self,
        url: str,
        cluster: int | None,
        original: str | None = None,
        *,
        says_nothing: bool = False,
        kind_of: Callable[[Suspect], Kind | None] | None = None,
    ) -> Seen | None:
        """Count the page at *url*, and return the flood that it belongs to, if any; to be told of first visits only.

        *cluster* is None for a page that is in none: it only counts as a page of its host, or, when it
        *says_nothing*, as one of the host's pages without text. *original* is the URL of the first page of the
        cluster. *kind_of* is called if the page seems to be a flood, and returns what the page is; None means that it
        is no flood after all. Some microseconds.
        """
        if self._waiting:
            self._count_waiting()
        return self._add(url, cluster, original, says_nothing, kind_of or _by_address)

    def add_new(self, url: str, cluster: int | None) -> None:
        """Count a page that cannot belong to a flood yet: the first of *cluster*, or a skipped one with text.

        The same as `add`, but faster: many of them are counted together, before the next call of `add`.
        """
        self._waiting.append((url, cluster))
        if len(self._waiting) >= BATCH:
            self._count_waiting()

    def _count_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for url, cluster in waiting:
            self._add(url, cluster, None, False, _by_address)

    def _add(
        self,
        url: str,
        cluster: int | None,
        original: str | None,
        says_nothing: bool,
        kind_of: Callable[[Suspect], Kind | None],
    ) -> Seen | None:
        host = scope_of(url, "host")
        shapes = patterns(url)
        if cluster is not None:
            return self._add_to_cluster(url, host, shapes, (cluster, host), original, kind_of)
        home = self._home(host)
        self._coverage.count(host, shapes)
        if not says_nothing or hash(url) in self._silent:
            return None
        self._silent[hash(url)] = None
        home.silent.add(url)
        self._coverage.assign(host, shapes, None)
        if home.silent.flood is None and 2 * home.silent.size <= home.pages:
            return None
        return self._seen(home.silent, host, shapes, None, kind_of)

    def stop(self, url: str, pattern: str) -> None:
        """Note that URLs like *url*, which has *pattern*, are not asked for any more."""
        self._coverage.stop(scope_of(url, "host"), patterns(url), pattern)

    def is_stopped(self, url: str) -> bool:
        """Tell whether *url* has a pattern that is stopped on its host."""
        return self._coverage.is_stopped(scope_of(url, "host"), patterns(url))

    @property
    def has_stopped(self) -> bool:
        """Whether anything has been stopped at all."""
        return self._coverage.has_stopped

    def _add_to_cluster(
        self,
        url: str,
        host: str,
        shapes: tuple[str, ...],
        key: tuple[int, str],
        original: str | None,
        kind_of: Callable[[Suspect], Kind | None],
    ) -> Seen | None:
        count = self._counts.get(key)
        first = self._singles.get(key) if count is None else None
        # One URL, asked for in several ways, is one.
        if url == first or (count is not None and url in count.urls):
            return None
        self._home(host)
        self._coverage.count(host, shapes)
        if count is None and first is None:
            self._singles[key] = url
            if self.size > 1:
                return None
        if count is None:
            count = self._counts[key] = _Count(original)
            first = self._singles.pop(key)
            if first != url:
                count.add(first)
                self._coverage.assign(host, patterns(first), key[0])
            if len(self._counts) > MOST_COUNTS:
                self._counts = dict(
                    nlargest(MOST_COUNTS // 2, self._counts.items(), key=lambda item: item[1].size)
                )
        count.add(url)
        self._coverage.assign(host, shapes, key[0])
        return self._seen(count, host, shapes, key[0], kind_of)

    def _seen(
        self,
        count: _Count,
        host: str,
        shapes: tuple[str, ...],
        cluster: Cluster,
        kind_of: Callable[[Suspect], Kind | None],
    ) -> Seen | None:
        if count.size < self.size:
            return None
        owned = self._coverage.owned(host, shapes, cluster)
        is_new = count.flood is None
        if count.flood is None:
            kind = kind_of(Suspect(cluster is None, self._typical(count, host, shapes, cluster)))
            if kind is None:
                # Asked again when there are as many more.
                count.size, count.urls = 0, []
                return None
            count.flood = Flood(kind, host, cluster, count.size, count.original, tuple(count.urls), owned)
            if len(self._floods) < MOST_FLOODS:
                self._floods.append(count)
        return Seen(replace(count.flood, size=count.size), is_new, owned)

    def _typical(self, count: _Count, host: str, shapes: tuple[str, ...], cluster: Cluster) -> str | None:
        """Return the narrowest pattern under which most of the flood came, whoever else did."""
        for pattern in shapes:
            if 100 * self._coverage.share(host, pattern, cluster)[0] >= TYPICAL_SHARE * count.size:
                return pattern
        return None

    def _home(self, host: str) -> _Host:
        home = self._hosts.get(host)
        if home is None:
            if len(self._hosts) >= MOST_HOSTS:
                self._hosts = dict(
                    nlargest(MOST_HOSTS // 2, self._hosts.items(), key=lambda item: item[1].pages)
                )
            home = self._hosts[host] = _Host()
        home.pages += 1
        return home


def _by_address(suspect: Suspect) -> Kind | None:
    return Kind.EMPTY_SHELL if suspect.says_nothing else Kind.REPEATS
