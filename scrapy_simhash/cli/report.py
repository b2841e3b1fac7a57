"""Count the pages of a report or a store, show them as a page of HTML, or explain the verdict on one page."""

from __future__ import annotations

import gc
import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from scrapy_simhash.cli.learned import nearly_proven, rules_in
from scrapy_simhash.cli.options import add_html, add_json
from scrapy_simhash.cli.stores import STORES, Waited, is_store, left_out, place_of
from scrapy_simhash.cli.streams import (
    STDIN,
    Input,
    Progress,
    Refused,
    check_outputs,
    of,
    open_input,
    show,
    write_html,
)
from scrapy_simhash.exceptions import FileError, failing
from scrapy_simhash.view.frame import ascii_lines
from scrapy_simhash.view.overview import COUNTED, Overview
from scrapy_simhash.view.overview_page import overview_lines
from scrapy_simhash.view.words import explained, shown

EXAMPLE = """\
$ scrapy-simhash report report.jsonl --url https://example.com/print/ferry
https://example.com/print/ferry is a near-duplicate of https://example.com/ferry, ...
"""
#: Clusters that a summary in words shows, the largest first.
SHOWN_CLUSTERS = 10
#: Lines that are named because nothing can be made of them, the first.
NAMED_LINES = 10
#: What is text in a line, or null.
_TEXTS = ("reason", "duplicate_of", "elsewhere", "action", "protected", "last_seen", "time")


def add_arguments(parser: ArgumentParser) -> None:
    """Add which report or store, and what is asked of it."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help=f"a report written with SIMHASH_REPORT (-: standard input), or a store: {STORES}",
    )
    parser.add_argument(
        "--url", metavar="URL", help="explain the verdict on this page instead of counting all pages"
    )
    add_html(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Write what the report or the store says, and return 0, or FAILED if records of the store are damaged."""
    if options.url is not None and options.html is not None:
        raise Refused("--html shows all pages, --url explains one: use one of the two")
    check_outputs(options, [options.source])
    status = 0
    with Progress() as progress:
        if options.source != STDIN and is_store(options.source, options, or_missing=True):
            place = place_of(options.source, options)
            check_outputs(options, [place.identity])
            if options.url is not None:
                raise Refused(f"{place.shown} is a store, which has no verdicts: --url needs a report")
            with place.reading() as store:
                stored = stored_lines(store, progress.counting("reading", of(len(store))))
                facts = survey(stored, "store", place.shown)
                facts["url_rules"] = nearly_proven(rules_in(store, place))
                status = left_out(place, store)
        else:
            with open_input(options.source) as given:
                lines = Lines(given, progress.counting("reading", given.share))
                if options.url is None:
                    facts = survey(lines, "report", lines.name, lines)
                else:
                    facts = history(lines, options.url)
    if not write_html(options, lambda: ascii_lines(overview_lines(facts))):
        show(facts, (_summary if options.url is None else _story)(facts), options.json)
    return status


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
                f"{self.name}:{self.bad_lines[0]}: not a report written with SIMHASH_REPORT: no line can be read"
            )


def survey(
    lines: Iterable[Mapping[str, Any]], kind: str, name: str, read: Lines | None = None
) -> dict[str, Any]:
    """Return what all *lines* together say, as JSON has it: those of the *kind* ``report`` or ``store`` at *name*.

    *read* knows which lines of a file are none. See `Overview` for the memory that it takes.
    """
    overview = Overview()
    with _without_garbage():
        for line in lines:
            overview.add(line)
    bad = {"count": read.bad, "lines": read.bad_lines} if read is not None else {"count": 0, "lines": []}
    return {"source": {"kind": kind, "name": name}, **overview.as_dict(), "bad_lines": bad}


@contextmanager
def _without_garbage() -> Iterator[None]:
    """Look for no circles of objects meanwhile: lines make none, and to look takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def history(lines: Lines, url: str) -> dict[str, Any]:
    """Return every line about *url*, each explained. Raises FileError if there is none."""
    visits: list[dict[str, Any]] = []
    copies: set[int] = set()
    for page in lines:
        if page["url"] == url:
            visits.append(page)
        elif page.get("duplicate_of") == url:
            copies.add(hash(page["url"]))
    if not visits:
        seen = f", only {len(copies):,} near-duplicates of it" if copies else ""
        raise FileError(f"{lines.name} has no page {url!r}{seen}")
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


def _summary(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"pages             {facts['pages']:,}"
    for key in COUNTED:
        if facts[key]:
            yield key
            yield from (f"  {shown(value):<22}  {count:,}" for value, count in facts[key].items())
    yield f"clusters          {facts['clusters']:,}"
    for cluster in facts["largest_clusters"][:SHOWN_CLUSTERS]:
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


def stored_lines(store: Waited, tell: Callable[[int], None]) -> Iterator[dict[str, Any]]:
    """Yield a line for each page, by its latest visit; *tell* hears how many pages were read so far.

    The time is in seconds of Unix time.
    """
    for number, page in enumerate(store.pages(), 1):
        tell(number)
        yield {
            "url": page.posting.url,
            "status": "new" if page.original is None else "near_duplicate",
            "duplicate_of": page.original,
            "cluster": page.cluster,
            "time": page.posting.seen,
        }
