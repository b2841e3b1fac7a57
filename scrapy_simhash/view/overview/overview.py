"""Overview: joins all that is counted, one line of a report after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from scrapy_simhash.scope import host_of
from scrapy_simhash.view.overview.clusters import Clusters, Member
from scrapy_simhash.view.overview.floods import Floods
from scrapy_simhash.view.overview.limits import FILE, Limits
from scrapy_simhash.view.overview.line import kept, likeness
from scrapy_simhash.view.overview.parameters import Parameters
from scrapy_simhash.view.overview.savings import Savings
from scrapy_simhash.view.overview.similarity import Histogram
from scrapy_simhash.view.overview.tally import Example, Tally
from scrapy_simhash.view.overview.timeline import Timeline
from scrapy_simhash.view.overview.url_group import url_group

#: What is counted, by its value.
COUNTED = ("status", "reason", "action", "exemption")
#: Values of each of these that are counted: a policy of somebody's own may make them up without end.
MOST_VALUES = 200
#: Pages that are kept as examples of a value.
EXAMPLES = 3
#: Rows of a table, and clusters, that are told.
ROWS, CLUSTERS = 100, 500
_NEW, _REPEATS, _OTHER = range(3)


class Overview:
    """What the pages of a crawl say together.

    >>> overview = Overview()
    >>> overview.add({"url": "http://example.com/a", "status": "new", "cluster": 0})
    >>> overview.add({"url": "http://example.com/b", "status": "near_duplicate", "cluster": 0,
    ...               "duplicate_of": "http://example.com/a"})
    >>> facts = overview.as_dict()
    >>> facts["pages"], facts["clusters"], facts["hosts"]["rows"][0]["near_duplicates"]
    (2, 1, 1)
    """

    def __init__(self, limits: Limits = FILE) -> None:
        self.pages = 0
        self._counts: dict[str, Counter[str]] = {key: Counter() for key in COUNTED}
        self._examples: dict[tuple[str, str], list[Example]] = {}
        self._timeline = Timeline()
        self._hosts: Tally[str] = Tally(limits.rows)
        self._patterns: Tally[tuple[str, str]] = Tally(limits.rows)
        self._parameters = Parameters(limits.urls, limits.rows)
        self._similarity = Histogram()
        self._clusters = Clusters(limits.clusters, limits.pages)
        self._savings = Savings(limits.pages)
        self._floods = Floods(limits.rows)

    def add(self, line: Mapping[str, Any]) -> None:
        """Take *line*, with the keys of a report, of which only ``url`` and ``status`` must be there. Some 20 us."""
        self.pages += 1
        url, status = kept(line["url"]), line["status"]
        first, preferred = _kept(line.get("duplicate_of")), _kept(line.get("preferred"))
        for key, counter in self._counts.items():
            value = line.get(key)
            if value is not None:
                self._count(key, counter, kept(value), url, first)
        kind = _REPEATS if first is not None else _NEW if status == "new" else _OTHER
        self._timeline.add(line.get("time"), kind, url, first)
        found = likeness(line)
        self._savings.add(url, status, first, found.is_same_text, line.get("reason"), line.get("referer"))
        is_first_visit = False
        if first is not None:
            is_first_visit = self._clusters.add(first, Member(url, found), line.get("cluster"), preferred)
            self._similarity.add(found, url, first, is_miss=False)
        elif preferred is not None:
            self._clusters.prefer(url, preferred)
        if isinstance(miss := line.get("near_miss"), dict) and isinstance(miss.get("url"), str):
            self._similarity.add(likeness(miss), url, kept(miss["url"]), is_miss=True)
        if status in ("skipped", "unknown") and first is None:
            return
        host, pattern = host_of(url), url_group(url)
        self._hosts.add(host, url, first)
        self._patterns.add((host, pattern), url, first)
        self._parameters.add(host, url, first or url)
        if is_first_visit and first is not None:
            self._floods.add(host, pattern, url, first)

    def _count(self, key: str, counter: Counter[str], value: str, url: str, first: str | None) -> None:
        if value not in counter and len(counter) >= MOST_VALUES:
            return
        counter[value] += 1
        examples = self._examples.setdefault((key, value), [])
        if len(examples) < EXAMPLES:
            examples.append(Example(url, first))

    def as_dict(self, clusters: int = CLUSTERS) -> dict[str, Any]:
        """Return all that was counted, as JSON has it, with at most so many *clusters*."""
        return {
            "pages": self.pages,
            **{key: dict(sorted(counter.items(), key=_by_count)) for key, counter in self._counts.items()},
            "examples": {
                key: {
                    value: [example.as_dict() for example in self._examples[key, value]]
                    for value in self._counts[key]
                }
                for key in COUNTED
            },
            "timeline": self._timeline.as_dict(),
            "hosts": {
                "count": len(self._hosts) + self._hosts.forgotten,
                "rows": [
                    {
                        "host": host,
                        "pages": row.pages,
                        "near_duplicates": row.repeats,
                        "example": row.example and row.example.as_dict(),
                    }
                    for host, row in self._hosts.largest(ROWS)
                ],
            },
            "url_patterns": {
                "count": len(self._patterns) + self._patterns.forgotten,
                "rows": [
                    {
                        "host": host,
                        "pattern": pattern,
                        "pages": row.pages,
                        "near_duplicates": row.repeats,
                        "example": row.example and row.example.as_dict(),
                    }
                    for (host, pattern), row in self._patterns.largest(ROWS)
                ],
            },
            "parameters": self._parameters.as_list(ROWS),
            "similarity": self._similarity.as_dict(),
            "floods": self._floods.as_list(ROWS),
            "savings": self._savings.as_dict(),
            "clusters": self._clusters.count,
            "largest_clusters": self._clusters.as_list(clusters),
            "cut": self._cut(),
        }

    def _cut(self) -> dict[str, int | bool]:
        """Return what was forgotten for want of memory: then the figures of it are the least that there were."""
        return {
            "hosts": self._hosts.forgotten,
            "url_patterns": self._patterns.forgotten,
            "parameters": self._parameters.forgotten,
            "clusters": self._clusters.forgotten,
            "pages": self._clusters.is_full or self._savings.is_full,
        }


def _kept(url: str | None) -> str | None:
    return None if url is None else kept(url)


def _by_count(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]
