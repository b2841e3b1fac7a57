"""Overview: counts, doubtful pairs and clusters of all pages of a crawl, collected one line of a report at a time."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any

from scrapy_simhash.judge.clusters import Contest, Preference
from scrapy_simhash.judge.policy import Protection
from scrapy_simhash.observers.url_rules.urls import path_shape
from scrapy_simhash.scope import host_of
from scrapy_simhash.times import parsed, written

#: Keys of a line whose values are counted.
COUNTED = ("status", "reason", "action", "protected")
#: Max values per key, since a custom policy may have any number.
MAX_VALUES = 200
#: Max characters of a URL, as Scrapy's URLLENGTH_LIMIT.
MAX_URL = 2083
#: Max characters of a URL pattern, and max parameters.
MAX_PATTERN, MAX_PARAMETERS = 200, 8
#: Max examples per value, and max members per cluster besides the least similar one.
EXAMPLES = 3
#: Max clusters and URL patterns in the result.
CLUSTERS, PATTERNS = 2_000, 100
#: Max doubtful pairs of each kind: near-duplicates, and new pages.
DOUBTFUL = 6
#: Min similarity of a doubtful pair.
LEAST = 0.5
#: Max bars of the timeline.
BARS = 60
#: Pages that are kept at any similarity; they do not affect the choice of a threshold.
KEPT_ANYWAY = {kind.value for kind in (Protection.PAGINATION, Protection.LANGUAGE, Protection.FACTS)}

_NUMBERED = re.compile(r"(?:[A-Za-z]{1,20}[-_.]?)?[0-9]+(?:\.[A-Za-z]{1,5})?")


def share(value: object) -> float | None:
    """Return *value* if it is a number from 0 to 1, else None: a report may come from another program.

    >>> share(0.5), share(1), share(True), share(float("nan")), share("1")
    (0.5, 1.0, None, None, None)
    """
    return float(value) if type(value) in (int, float) and 0 <= value <= 1 else None  # type: ignore[operator, arg-type]


def distance(line: Mapping[str, Any]) -> int | None:
    """Return the distance in bits to the original; None for a revisit, where it refers to the former text."""
    value = line.get("distance")
    is_one = type(value) is int and 0 <= value <= 64 and line.get("status") != "revisit"
    return value if is_one else None


def url_pattern(url: str) -> str:
    """Return host, folders and parameter names of *url*, with placeholders for numbers and the last part.

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
    pattern = f"{host_of(url)}{folder}/{last}"
    if query:
        names = sorted({parameter.partition("=")[0] for parameter in query.split("&") if parameter})
        more = ["..."] if len(names) > MAX_PARAMETERS else []
        pattern += f"?{'&'.join(names[:MAX_PARAMETERS] + more)}"
    return pattern if len(pattern) <= MAX_PATTERN else f"{pattern[:MAX_PATTERN]}..."


@dataclass(slots=True)
class _Pattern:
    pages: int = 0
    copies: int = 0
    example: dict[str, str | None] | None = None


@dataclass(slots=True)
class _Cluster:
    number: int | None
    contest: Contest
    pages: int = 1
    identical: int = 0
    members: list[dict[str, Any]] = field(default_factory=list)
    least: dict[str, Any] | None = None


class Overview:
    """Counts of all pages of a crawl. Memory grows with clusters and URL patterns, about 100 MB for 100,000 pages.

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
        self._counts: dict[str, Counter[str]] = {key: Counter() for key in COUNTED}
        self._examples: dict[tuple[str, str], list[dict[str, str | None]]] = defaultdict(list)
        self._patterns: defaultdict[str, _Pattern] = defaultdict(_Pattern)
        self._clusters: dict[str, _Cluster] = {}
        #: Hashes of the first page and each member of a cluster, so that a repeated page counts once.
        self._members: set[int] = set()
        #: Pages by second and kind: new, near-duplicate, other.
        self._times: Counter[tuple[int, int]] = Counter()
        self._latest: tuple[object, int | None] = (None, None)
        #: Least similar near-duplicates and most similar new pages.
        self._doubtful: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
        self._behind = _Behind()

    def add(self, line: Mapping[str, Any]) -> None:
        """Count *line*, which has the keys of a report; only ``url`` and ``status`` are required. About 20 us."""
        url, status = line["url"][:MAX_URL], line["status"]
        first = line.get("duplicate_of")
        first = first[:MAX_URL] if isinstance(first, str) else None
        self.pages += 1
        for key in COUNTED:
            if isinstance(value := line.get(key), str):
                self._count(key, value[:MAX_URL], url, first)
        self._behind.add(url, line.get("referer"), first, status == "new")
        self._add_time(line.get("time"), 1 if first is not None else 0 if status == "new" else 2)
        if first is not None:
            self.copies += 1
            self._add_member(first, url, line)
        elif isinstance(miss := line.get("near_miss"), dict) and isinstance(miss.get("url"), str):
            self._add_pair(url, miss["url"][:MAX_URL], miss, is_near=False)
        if status not in ("skipped", "unknown") or first is not None:
            pattern = self._patterns[url_pattern(url)]
            pattern.pages += 1
            if first is not None:
                pattern.copies += 1
                pattern.example = pattern.example or {"url": url, "other": first}

    def _count(self, key: str, value: str, url: str, first: str | None) -> None:
        counter = self._counts[key]
        if value in counter or len(counter) < MAX_VALUES:
            counter[value] += 1
            examples = self._examples[key, value]
            if len(examples) < EXAMPLES:
                examples.append({"url": url, "other": first})

    def _add_time(self, time: object, kind: int) -> None:
        # Pages of one second are consecutive.
        if time != self._latest[0]:
            self._latest = time, _seconds(time)
        if self._latest[1] is not None:
            self._times[self._latest[1], kind] += 1

    def _add_member(self, first: str, url: str, line: Mapping[str, Any]) -> None:
        cluster = self._clusters.get(first)
        if cluster is None:
            cluster = self._clusters[first] = _Cluster(None, Contest(Preference(), first))
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
        if len(cluster.members) < EXAMPLES:
            cluster.members.append(member)
        elif _similarity(member) < (1.0 if cluster.least is None else _similarity(cluster.least)):
            cluster.least = member

    def _add_pair(self, url: str, other: str, line: Mapping[str, Any], is_near: bool) -> dict[str, Any]:
        threshold = share(line.get("threshold"))
        pair = {
            "url": url,
            "distance": distance(line),
            "similarity": share(line.get("similarity")),
            "threshold": threshold,
            "exact": line.get("exact") is True,
        }
        if threshold is None or pair["exact"] or threshold < LEAST or line.get("protected") in KEPT_ANYWAY:
            return pair
        pairs = self._doubtful[is_near]
        pairs.append({**pair, "other": other, "is_near_duplicate": is_near})
        if len(pairs) > 50 * DOUBTFUL:
            self._doubtful[is_near] = _most_doubtful(pairs, is_near)
        return pair

    def as_dict(self, clusters: int = CLUSTERS) -> dict[str, Any]:
        """Return everything for JSON, with at most *clusters* clusters, largest first. About 50 ms."""
        facts: dict[str, Any] = {
            "pages": self.pages,
            "near_duplicates": self.copies,
            "identical": self.identical,
            "clusters": len(self._clusters),
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
                    "members": [*cluster.members, *filter(None, [cluster.least])],
                }
                for first, cluster in nlargest(clusters, self._clusters.items(), lambda item: item[1].pages)
            ],
            **{
                key: dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))
                for key, counter in self._counts.items()
            },
            "examples": {
                key: {value: self._examples[key, value] for value in self._counts[key]} for key in COUNTED
            },
            "url_patterns": [
                {
                    "pattern": name,
                    "pages": row.pages,
                    "near_duplicates": row.copies,
                    "example": row.example,
                }
                for name, row in nlargest(
                    PATTERNS, self._patterns.items(), lambda item: (item[1].copies, item[1].pages)
                )
            ],
            "timeline": self._timeline(),
            "behind_near_duplicates": self._behind.as_dict(),
        }
        return {"findings": list(findings(facts)), **facts}

    def _timeline(self) -> dict[str, Any] | None:
        """Return the pages by time, in bars of equal length; None if no page has a time."""
        if not self._times:
            return None
        start, end = min(self._times)[0], max(self._times)[0]
        seconds = max(1, -(-(end - start + 1) // BARS))
        bars = [[0, 0, 0] for _ in range((end - start) // seconds + 1)]
        for (second, kind), count in self._times.items():
            bars[(second - start) // seconds][kind] += count
        return {
            "start": written(start),
            "end": written(end),
            "seconds": seconds,
            "bars": [dict(zip(("new", "near_duplicates", "other"), bar, strict=True)) for bar in bars],
        }


def _seconds(time: object) -> int | None:
    try:
        return parsed(time)
    except ValueError:
        return None


def _similarity(pair: Mapping[str, Any]) -> float:
    known = pair["similarity"] if pair["threshold"] is None else pair["threshold"]
    return 1.0 if pair["exact"] or known is None else float(known)


def _most_doubtful(pairs: list[dict[str, Any]], is_near: bool) -> list[dict[str, Any]]:
    """Return the pairs that are nearest to the threshold."""
    ordered = sorted(pairs, key=lambda pair: pair["threshold"], reverse=not is_near)
    return ordered[:DOUBTFUL]


@dataclass(slots=True)
class _Behind:
    """Pages that only near-duplicates link to, by their referers, and that dropping links could lose."""

    has_referers: bool = False
    pages: int = 0
    new: int = 0
    example: dict[str, str] | None = None
    _hashes: set[int] = field(default_factory=set)

    def add(self, url: str, referer: object, first: str | None, is_new: bool) -> None:
        is_behind = False
        if isinstance(referer, str):
            self.has_referers = True
            is_behind = hash(referer) in self._hashes
            self.pages += is_behind
            if is_behind and is_new:
                self.new += 1
                self.example = self.example or {"url": url, "other": referer[:MAX_URL]}
        if is_behind or first is not None:
            self._hashes.add(hash(url))

    def as_dict(self) -> dict[str, Any] | None:
        if not self.has_referers:
            return None
        return {"pages": self.pages, "new": self.new, "example": self.example}


#: Min pages of a cluster to mention, or min share of all near-duplicates for fewer pages.
_FLOOD, _MANY, _LARGE = 100, 10, 0.2
#: Min share that is shown.
_WORTH = 0.01
#: Min pages of a URL pattern to mention, and min share of near-duplicates.
_PATTERN_PAGES, _PATTERN_SHARE = 20, 0.9
#: Min pages at the end of a crawl to mention, and max share of new pages.
_END_PAGES, _END_SHARE = 100, 0.05
_SENTENCES = 3


def findings(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence about each remarkable finding in *facts*."""
    yield from _cluster_sentences(facts)
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
    if behind and behind["new"]:
        yield (
            f"{_pages(behind['new'], 'new page')} may be linked from near-duplicates only, for example"
            f" {behind['example']['url']}. SIMHASH_ACTION = 'drop_page' or 'drop_links' could lose"
            f" {'it' if behind['new'] == 1 else 'them'}."
        )
    if facts["timeline"]:
        bars = facts["timeline"]["bars"]
        end = bars[-(len(bars) // 4) :] if len(bars) >= 4 else []
        new, pages = sum(bar["new"] for bar in end), sum(sum(bar.values()) for bar in end)
        if pages >= _END_PAGES and new <= _END_SHARE * pages:
            yield f"Only {new:,} of the last {pages:,} pages were new. More of this crawl finds little."


def _cluster_sentences(facts: Mapping[str, Any]) -> Iterator[str]:
    advice = " It may be a login page, an error page or a spider trap."
    for cluster in facts["largest_clusters"][:_SENTENCES]:
        part = (cluster["pages"] - 1) / facts["near_duplicates"]
        if cluster["pages"] >= _FLOOD or (cluster["pages"] >= _MANY and part > _LARGE):
            of_all = f", {part:.0%} of all near-duplicates" if part >= _WORTH else ""
            yield f"{cluster['pages']:,} URLs returned nearly the same page{of_all}: {cluster['first']}.{advice}"
            advice = ""


def _pages(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"
