"""Overview: counts, doubtful pairs and clusters of all pages of a crawl, collected from the lines of a report."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from heapq import nlargest
from typing import Any

from scrapy_simhash.judge.clusters import Contest
from scrapy_simhash.judge.policy import Protection
from scrapy_simhash.observers.url_rules.urls import path_shape
from scrapy_simhash.scope import host_of
from scrapy_simhash.view.words import MEANINGS

#: Keys of a line whose values are counted.
COUNTED = ("status", "reason", "action", "protected")
#: Max values per key, because a custom policy may have any number.
MAX_VALUES = 200
#: Max characters of a URL, like the default of Scrapy's URLLENGTH_LIMIT.
MAX_URL = 2083
#: Max characters of a URL pattern, and max parameters.
MAX_PATTERN, MAX_PARAMETERS = 200, 8
#: Max examples per value, and max members per cluster.
EXAMPLES = 3
#: Max unreadable lines that are listed.
BAD_LINES = 10
#: Max clusters and URL patterns in the result.
CLUSTERS, PATTERNS = 2_000, 100
#: Max doubtful pairs of each kind: near-duplicates, and new pages.
DOUBTFUL = 6
#: Min similarity of a doubtful pair.
MIN_SIMILARITY = 0.5
#: Number of pages at the end of a crawl that are checked, and max share of new pages among them for a finding.
LATEST_PAGES, MAX_NEW_SHARE = 500, 0.05
#: Protections that keep a page at any similarity. Such pages do not affect the choice of a threshold.
KEPT_ANYWAY = {kind.value for kind in (Protection.PAGINATION, Protection.LANGUAGE, Protection.FACTS)}

_NUMBERED = re.compile(r"(?:[A-Za-z]{1,20}[-_.]?)?[0-9]+(?:\.[A-Za-z]{1,5})?")


def share(value: object) -> float | None:
    """Return *value* if it is a number from 0 to 1, else None, because other programs may write a report.

    >>> share(0.5), share(1), share(True), share(float("nan")), share("1")
    (0.5, 1.0, None, None, None)
    """
    return float(value) if type(value) in (int, float) and 0 <= value <= 1 else None  # type: ignore[operator, arg-type]


def url_pattern(url: str) -> str:
    """Return the host, folders and parameter names of *url*, with placeholders for numbers and the last segment.

    >>> url_pattern("https://example.com/boats/2024/05/the-ferry?utm_source=mail&id=7")
    'example.com/boats/{number}/{number}/*?id&utm_source'
    >>> url_pattern("https://example.com/boats/page-2.html"), url_pattern("https://example.com/")
    ('example.com/boats/page-{number}.html', 'example.com/')
    """
    rest, _, query = url.partition("#")[0].partition("?")
    path = "/" + rest.partition("://")[2].partition("/")[2]
    folder, _, last = path_shape(path).rpartition("/")
    if last not in ("", "{id}") and not _NUMBERED.fullmatch(path.rpartition("/")[2]):
        last = "*"
    names = sorted({parameter.partition("=")[0] for parameter in query.split("&") if parameter})
    more = ["..."] if len(names) > MAX_PARAMETERS else []
    pattern = f"{host_of(url)}{folder}/{last}{'?' if query else ''}{'&'.join(names[:MAX_PARAMETERS] + more)}"
    return pattern if len(pattern) <= MAX_PATTERN else f"{pattern[:MAX_PATTERN]}..."


@dataclass(slots=True)
class BadLines:
    """The unreadable lines of a report."""

    count: int = 0
    lines: list[int] = field(default_factory=list)
    """The line numbers of the first unreadable lines."""

    def add(self, number: int) -> None:
        """Count the line with this *number*."""
        self.count += 1
        self.lines = [*self.lines, number][:BAD_LINES]


@dataclass(slots=True)
class _Pattern:
    pages: int = 0
    near_duplicates: int = 0
    example: dict[str, str | None] | None = None


@dataclass(slots=True)
class _Cluster:
    contest: Contest
    number: int | None = None
    pages: int = 1
    identical: int = 0
    members: list[dict[str, Any]] = field(default_factory=list)
    """The least similar near-duplicates, least similar first."""


class Overview:
    """Counts of all pages of a crawl. Memory grows with clusters and URL patterns: about 100 MB for 100,000 pages.

    >>> overview = Overview()
    >>> overview.add({"url": "http://example.com/a", "status": "new", "cluster": 0})
    >>> overview.add({"url": "http://example.com/b", "status": "near_duplicate", "cluster": 0,
    ...               "duplicate_of": "http://example.com/a"})
    >>> facts = overview.as_dict()
    >>> facts["pages"], facts["clusters"], facts["url_patterns"][0]["near_duplicates"]
    (2, 1, 1)
    """

    def __init__(self) -> None:
        self.pages = self.copies = self.identical = 0
        self.bad_lines = BadLines()
        self._counts: dict[str, Counter[str]] = {key: Counter() for key in COUNTED}
        self._examples: dict[str, dict[str, list[dict[str, str | None]]]] = {key: {} for key in COUNTED}
        self._patterns: defaultdict[str, _Pattern] = defaultdict(_Pattern)
        self._clusters: dict[str, _Cluster] = {}
        #: Hashes of the first page and each member of a cluster, so that a repeated page counts once.
        self._members: set[int] = set()
        #: The least similar near-duplicates, and the most similar new pages.
        self._doubtful: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
        #: Times of the first and the last page.
        self._times: list[str | None] = [None, None]
        #: Whether each of the last pages was new.
        self._latest: deque[bool] = deque(maxlen=LATEST_PAGES)
        #: Hashes of near-duplicates, and of pages that, judging by their referers, only near-duplicates link to.
        #: Dropping links could lose these pages.
        self._behind: set[int] = set()
        self._lost = 0
        self._lost_example: dict[str, str] | None = None

    def add(self, line: Mapping[str, Any]) -> None:
        """Count *line*, which has the keys of a report, at least ``url`` and ``status``. Takes about 20 µs."""
        url, status = line["url"][:MAX_URL], line["status"]
        first = line.get("duplicate_of")
        first = first[:MAX_URL] if isinstance(first, str) else None
        self.pages += 1
        for key in COUNTED:
            if isinstance(value := line.get(key), str):
                self._count(key, value[:MAX_URL], {"url": url, "other": first})
        self._latest.append(status == "new")
        if isinstance(time := line.get("time"), str):
            self._times = [self._times[0] or time, time]
        self._follow(url, line.get("referer"), first, status)
        if first is not None:
            self.copies += 1
            self._add_member(first, url, line)
        elif isinstance(miss := line.get("near_miss"), dict) and isinstance(miss.get("url"), str):
            self._add_pair(url, miss["url"][:MAX_URL], miss, is_near=False)
        if status not in ("skipped", "unknown") or first is not None:
            pattern = self._patterns[url_pattern(url)]
            pattern.pages += 1
            if first is not None:
                pattern.near_duplicates += 1
                pattern.example = pattern.example or {"url": url, "other": first}

    def _count(self, key: str, value: str, example: dict[str, str | None]) -> None:
        counter = self._counts[key]
        if value in counter or len(counter) < MAX_VALUES:
            counter[value] += 1
            examples = self._examples[key].setdefault(value, [])
            if len(examples) < EXAMPLES:
                examples.append(example)

    def _follow(self, url: str, referer: object, first: str | None, status: str) -> None:
        is_behind = isinstance(referer, str) and hash(referer) in self._behind
        if is_behind and status == "new":
            self._lost += 1
            self._lost_example = self._lost_example or {"url": url, "other": str(referer)[:MAX_URL]}
        if is_behind or first is not None:
            self._behind.add(hash(url))

    def _add_member(self, first: str, url: str, line: Mapping[str, Any]) -> None:
        if first not in self._clusters:
            self._clusters[first] = _Cluster(Contest(first))
        cluster = self._clusters[first]
        number, hints = line.get("cluster"), line.get("hints")
        cluster.number = number if type(number) is int else None
        names_first = isinstance(hints, list) and "canonical" in hints
        cluster.contest.enter(url, first if names_first else None)
        key = hash((first, url))
        if key in self._members:
            return
        self._members.add(key)
        cluster.pages += 1
        is_same = line.get("exact") is True
        cluster.identical += is_same
        self.identical += is_same
        member = self._add_pair(url, first, line, is_near=True)
        if len(cluster.members) < EXAMPLES or _similarity(member) < _similarity(cluster.members[-1]):
            cluster.members = sorted([*cluster.members, member], key=_similarity)[:EXAMPLES]

    def _add_pair(self, url: str, other: str, line: Mapping[str, Any], is_near: bool) -> dict[str, Any]:
        """Return the measured similarity of two pages, and keep the pair if it is doubtful."""
        bits = line.get("distance")
        # For a revisit, the distance is measured from the former text.
        is_bits = type(bits) is int and 0 <= bits <= 64 and line.get("status") != "revisit"
        threshold, is_same = share(line.get("threshold")), line.get("exact") is True
        pair = {
            "url": url,
            "distance": bits if is_bits else None,
            "similarity": share(line.get("similarity")),
            "threshold": threshold,
            "exact": is_same,
        }
        if threshold is None or is_same or threshold < MIN_SIMILARITY or line.get("protected") in KEPT_ANYWAY:
            return pair
        pairs = self._doubtful[is_near]
        pairs.append({**pair, "other": other, "is_near_duplicate": is_near})
        if len(pairs) > 50 * DOUBTFUL:
            self._doubtful[is_near] = _most_doubtful(pairs, is_near)
        return pair

    def as_dict(self, source: str = "", clusters: int = CLUSTERS) -> dict[str, Any]:
        """Return the overview of the report *source* as JSON, with at most *clusters* clusters, largest first.

        Takes about 50 ms.
        """
        patterns = nlargest(
            PATTERNS, self._patterns.items(), lambda item: (item[1].near_duplicates, item[1].pages)
        )
        counts = {key: dict(counter.most_common()) for key, counter in self._counts.items()}
        facts: dict[str, Any] = {
            "source": source,
            "bad_lines": asdict(self.bad_lines),
            "pages": self.pages,
            "near_duplicates": self.copies,
            "identical": self.identical,
            "clusters": len(self._clusters),
            "start": self._times[0],
            "end": self._times[1],
            "doubtful": [
                pair for is_near in (False, True) for pair in _most_doubtful(self._doubtful[is_near], is_near)
            ],
            "largest_clusters": [
                {
                    "cluster": cluster.number,
                    "pages": cluster.pages,
                    "identical": cluster.identical,
                    "first": first,
                    "preferred": cluster.contest.winner,
                    "members": cluster.members,
                }
                for first, cluster in nlargest(clusters, self._clusters.items(), lambda item: item[1].pages)
            ],
            **counts,
            "words": {key: {value: MEANINGS[key].get(value) for value in counts[key]} for key in COUNTED},
            "examples": self._examples,
            "url_patterns": [{"pattern": name, **asdict(row)} for name, row in patterns],
            "behind_near_duplicates": {"new": self._lost, "example": self._lost_example},
            "latest": {"pages": len(self._latest), "new": sum(self._latest)},
        }
        return {"findings": list(findings(facts)), **facts}


def _similarity(pair: Mapping[str, Any]) -> float:
    known = pair["similarity"] if pair["threshold"] is None else pair["threshold"]
    return 1.0 if pair["exact"] or known is None else float(known)


def _most_doubtful(pairs: list[dict[str, Any]], is_near: bool) -> list[dict[str, Any]]:
    """Return the pairs closest to the threshold."""
    return sorted(pairs, key=lambda pair: pair["threshold"], reverse=not is_near)[:DOUBTFUL]


#: Min pages of a cluster for a finding; min pages if the cluster has at least this share of all near-duplicates.
_LARGE, _MEDIUM, _LARGE_SHARE = 100, 10, 0.2
#: Min share that is shown.
_SHOWN_SHARE = 0.01
#: Min pages of a URL pattern for a finding, and min share of near-duplicates among them.
_PATTERN_PAGES, _PATTERN_SHARE = 20, 0.9
#: Max findings of each kind.
_SENTENCES = 3


def findings(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each finding in *facts*."""
    advice = " It may be a login page, an error page or a spider trap."
    for cluster in facts["largest_clusters"][:_SENTENCES]:
        part = (cluster["pages"] - 1) / facts["near_duplicates"]
        if cluster["pages"] >= _LARGE or (cluster["pages"] >= _MEDIUM and part > _LARGE_SHARE):
            of_all = f", {part:.0%} of all near-duplicates" if part >= _SHOWN_SHARE else ""
            yield f"{cluster['pages']:,} URLs returned nearly the same page{of_all}: {cluster['first']}.{advice}"
            advice = ""
    patterns = [
        row
        for row in facts["url_patterns"]
        if row["pages"] >= _PATTERN_PAGES and row["near_duplicates"] >= _PATTERN_SHARE * row["pages"]
    ]
    for row in patterns[:_SENTENCES]:
        yield (
            f"{row['near_duplicates']:,} of {row['pages']:,} pages at {row['pattern']} are near-duplicates. Consider"
            " leaving these URLs out of the crawl."
        )
    behind = facts["behind_near_duplicates"]
    if behind["new"]:
        yield (
            f"New pages that may be linked only from near-duplicates: {behind['new']:,}, for example"
            f" {behind['example']['url']}. SIMHASH_ACTION = 'drop_page' or 'drop_links' could lose them."
        )
    latest = facts["latest"]
    if latest["pages"] == LATEST_PAGES < facts["pages"] and latest["new"] <= MAX_NEW_SHARE * LATEST_PAGES:
        yield f"Only {latest['new']:,} of the last {LATEST_PAGES:,} pages were new. The crawl finds few new pages."
