"""Count the pages of a report, list its largest clusters, or explain the verdict on one page."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scrapy_simhash.cli.explanation import explained, shown
from scrapy_simhash.cli.failures import Failed, Refused, failing
from scrapy_simhash.cli.input import Input, opened
from scrapy_simhash.cli.progress import Progress

EXAMPLE = """\
$ scrapy-simhash report report.jsonl --url https://example.com/print/ferry
https://example.com/print/ferry repeats https://example.com/ferry, ...
"""

#: Clusters that are shown, the largest first.
SHOWN_CLUSTERS = 10
#: Lines that are named because nothing can be made of them, the first.
NAMED_LINES = 10
#: What is counted, by its value.
COUNTED = ("status", "reason", "action", "exemption")
#: What is text in a line, or null.
_TEXTS = ("reason", "duplicate_of", "elsewhere", "preferred", "action", "exemption", "last_seen", "time")


def add_arguments(parser: ArgumentParser) -> None:
    """Add which report, and what is asked of it."""
    parser.add_argument(
        "file", metavar="FILE", help="a report written with SIMHASH_REPORT (-: standard input)"
    )
    parser.add_argument(
        "--url", metavar="URL", help="explain the verdict on this page instead of counting all pages"
    )
    parser.add_argument("--json", action="store_true", help="write a JSON object")


def run(options: Namespace) -> int:
    """Print what the report says, and return 0."""
    with Progress(sys.stderr) as progress, opened(options.file) as given:
        lines = Lines(given, progress.counting("reading", given.share))
        if options.url is None:
            facts = survey(lines)
            text = json.dumps(facts, indent=2) if options.json else "\n".join(_summary(facts))
        else:
            facts = history(lines, options.url)
            text = json.dumps(facts, indent=2) if options.json else "\n".join(_story(facts))
    print(text)
    return 0


class Lines:
    """The lines of a report, those that are lines of one; the others are counted, and passed over."""

    def __init__(self, given: Input, tell: Callable[[int], None]) -> None:
        """Read *given*; *tell* hears how many lines it were so far."""
        self.name = given.name
        self.bad = 0
        #: Numbers of the first of them.
        self.bad_lines: list[int] = []
        self._given = given
        self._tell = tell

    def __iter__(self) -> Iterator[dict[str, Any]]:
        count = 0
        with failing(f"read {self._given.source}"):
            for number, line in enumerate(self._given.stream, 1):
                self._tell(number)
                # A crawl that could not write leaves a line empty.
                if not line.strip():
                    continue
                page = _page(line)
                if page is not None:
                    count += 1
                    yield page
                    continue
                self.bad += 1
                if len(self.bad_lines) < NAMED_LINES:
                    self.bad_lines.append(number)
        if self.bad and not count:
            raise Refused(
                f"{self.name}:{self.bad_lines[0]}: not a line of a report, like all other lines of this file"
            )


def survey(lines: Lines) -> dict[str, Any]:
    """Return what all *lines* together say, as JSON has it. Some 100 bytes for each page that repeats another."""
    pages = 0
    counts: dict[str, Counter[str]] = {key: Counter() for key in COUNTED}
    copies: dict[str, set[int]] = {}
    latest: dict[str, tuple[Any, Any]] = {}
    for page in lines:
        pages += 1
        for key, counter in counts.items():
            if page.get(key) is not None:
                counter[page[key]] += 1
        first = page.get("duplicate_of")
        if first is not None:
            # A page may come again; its hash says whether it has.
            copies.setdefault(first, set()).add(hash(page["url"]))
            latest[first] = page.get("cluster"), page.get("preferred")
        elif page["url"] in latest and page.get("preferred") is not None:
            latest[page["url"]] = latest[page["url"]][0], page["preferred"]
    largest = sorted(copies, key=lambda first: -len(copies[first]))[:SHOWN_CLUSTERS]
    return {
        "pages": pages,
        **{key: dict(sorted(counter.items(), key=_by_count)) for key, counter in counts.items()},
        "clusters": len(copies),
        "largest_clusters": [
            {
                "cluster": latest[first][0],
                "pages": 1 + len(copies[first]),
                "first": first,
                "preferred": latest[first][1],
            }
            for first in largest
        ],
        "bad_lines": {"count": lines.bad, "lines": lines.bad_lines},
    }


def history(lines: Lines, url: str) -> dict[str, Any]:
    """Return every line about *url*, each explained. Raises Failed if there is none."""
    visits: list[dict[str, Any]] = []
    copies: set[int] = set()
    for page in lines:
        if page["url"] == url:
            visits.append(page)
        elif page.get("duplicate_of") == url:
            copies.add(hash(page["url"]))
    if not visits:
        seen = f", only {len(copies):,} that repeat it" if copies else ""
        raise Failed(f"{lines.name} has no page {url!r}{seen}")
    return {
        "url": url,
        "copies": len(copies),
        "visits": [
            {**page, "explanation": explained(page, 0 if number else len(copies))}
            for number, page in enumerate(visits)
        ],
        "bad_lines": {"count": lines.bad, "lines": lines.bad_lines},
    }


def _page(line: bytes) -> dict[str, Any] | None:
    """Return what *line* says of a page, None if it is no line of a report, or half of one."""
    try:
        page = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(page, dict) or not all(isinstance(page.get(key), str) for key in ("url", "status")):
        return None
    if not all(isinstance(page.get(key), str | None) for key in _TEXTS):
        return None
    return page if isinstance(page.get("hints"), list | None) else None


def _by_count(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _summary(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"pages             {facts['pages']:,}"
    for key in COUNTED:
        if facts[key]:
            yield key
            yield from (f"  {shown(value):<22}  {count:,}" for value, count in facts[key].items())
    yield f"clusters          {facts['clusters']:,}"
    for cluster in facts["largest_clusters"]:
        yield f"  {cluster['pages']:,} pages like {shown(cluster['first'])}"
        if cluster["preferred"] not in (None, cluster["first"]):
            yield f"    preferred {shown(cluster['preferred'])}"
    yield from _bad(facts)


def _story(facts: Mapping[str, Any]) -> Iterator[str]:
    for visit in facts["visits"]:
        when = f"{shown(visit['time'])}: " if len(facts["visits"]) > 1 and visit.get("time") else ""
        yield f"{when}{visit['explanation']}"
    yield from _bad(facts)


def _bad(facts: Mapping[str, Any]) -> Iterator[str]:
    bad = facts["bad_lines"]
    if bad["count"]:
        more = ", ..." if bad["count"] > len(bad["lines"]) else ""
        yield f"unreadable lines  {bad['count']:,} (line {', '.join(map(str, bad['lines']))}{more})"
