"""Summarise a report, show or serve it as an HTML page, or explain the verdict on a page."""

from __future__ import annotations

import gc
import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scrapy_simhash.cli.kinds import FOLDER, PAGES, REPORT, kind_of, refusal
from scrapy_simhash.cli.options import add_html, add_json, write_html
from scrapy_simhash.cli.streams import STDIN, Refused, bar, check_outputs, name_of, open_input, say, show
from scrapy_simhash.display import shown
from scrapy_simhash.exceptions import FileError, failing
from scrapy_simhash.view.overview import COUNTED, BadLines, Overview
from scrapy_simhash.view.page import html
from scrapy_simhash.view.serving import GrowingReport, ReportServer
from scrapy_simhash.view.words import explained

#: Max clusters in a summary, largest first.
SHOWN_CLUSTERS = 10
#: Keys of a line whose value is text or null.
_TEXTS = ("reason", "duplicate_of", "action", "protected", "last_seen", "time")


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the report, and the result to show."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="a report written with SIMHASH_REPORT or dedup --report (-: standard input)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--url", metavar="URL", help="explain the verdict on this page instead")
    add_html(what)
    what.add_argument(
        "--serve",
        nargs="?",
        type=int,
        const=0,
        metavar="PORT",
        help="serve the page of HTML on 127.0.0.1, and update it while a crawl writes the report, until Ctrl-C"
        " (default: any free port)",
    )
    add_json(parser)


def run(options: Namespace) -> int:
    """Write the content of the report, and return 0."""
    check_outputs(options, [options.source])
    if options.serve is not None:
        return serve(options.source, options.serve)
    if options.url is not None:
        facts = history(options.source, options.url)
        show(facts, _story(facts), options.json)
        return 0
    facts = survey(options.source)
    if options.html is not None:
        return write_html(options, html("overview", "Crawl report", facts))
    show(facts, _summary(facts), options.json)
    return 0


def serve(source: str, port: int) -> int:
    """Serve the overview of the report *source* until Ctrl-C, and return 0."""
    path = Path(source)
    if port not in range(65_536):
        raise Refused(f"--serve takes a port from 0 to 65535, got {port}")
    if not path.is_file():
        raise Refused(f"--serve needs a report in a file, got {shown(source)}")
    report = GrowingReport(path, page_of)
    with failing(f"read {source}"):
        report.facts()
    with failing(f"listen on 127.0.0.1:{port}"):
        server = ReportServer(report, port)
    with closing(server.socket):
        say(f"serving {source} at {server.url} until Ctrl-C", sys.stderr)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    return 0


def read_report(source: str, bad: BadLines) -> Iterator[dict[str, Any]]:
    """Yield the pages of the report at *source*; other lines are counted in *bad*."""
    path = None if source == STDIN else Path(source)
    if path is not None and path.is_dir():
        raise refusal(source, FOLDER, REPORT)
    has_pages = False
    with open_input(source) as stream:
        for number, line in enumerate(bar(stream, "reading"), 1):
            page = page_of(line)
            if page is not None:
                has_pages = True
                yield page
            # Empty lines are not counted.
            elif line.strip():
                bad.add(number)
    if bad.count and not has_pages:
        kind = None if path is None else kind_of(path)
        if kind == PAGES:
            raise Refused(
                f'{source} is {PAGES}: run "scrapy-simhash dedup {source} --report FILE" to make a report'
            )
        raise refusal(name_of(source), None if kind == REPORT else kind, REPORT)


def page_of(line: bytes) -> dict[str, Any] | None:
    """Return the page in *line*; None if it is not a complete line of a report."""
    try:
        page = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(page, dict) or not all(isinstance(page.get(key), str) for key in ("url", "status")):
        return None
    if not all(isinstance(page.get(key), str | None) for key in _TEXTS):
        return None
    return page if isinstance(page.get("hints"), list | None) else None


def survey(source: str) -> dict[str, Any]:
    """Return the overview of the report at *source*, for JSON."""
    overview = Overview()
    # Garbage collection would take a third of the time, although the lines have no reference cycles.
    gc.disable()
    try:
        for line in read_report(source, overview.bad_lines):
            overview.add(line)
    finally:
        gc.enable()
    return overview.as_dict(name_of(source))


def history(source: str, url: str) -> dict[str, Any]:
    """Return every line about *url* with an explanation. Raises FileError if there is no such line."""
    visits: list[dict[str, Any]] = []
    copies: set[int] = set()
    bad = BadLines()
    for page in read_report(source, bad):
        if page["url"] == url:
            visits.append(page)
        elif page.get("duplicate_of") == url:
            copies.add(hash(page["url"]))
    if not visits:
        seen = f", only {len(copies):,} near-duplicates of it" if copies else ""
        raise FileError(f"{name_of(source)} has no page {url!r}{seen}")
    texts = [explained(page, 0 if number else len(copies)) for number, page in enumerate(visits)]
    return {
        "url": url,
        "copies": len(copies),
        "visits": [{**page, "explanation": text} for page, text in zip(visits, texts, strict=True)],
        "bad_lines": asdict(bad),
    }


def _summary(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"pages             {facts['pages']:,}"
    yield from (f"- {shown(sentence)}" for sentence in facts["findings"])
    for key in COUNTED:
        if facts[key]:
            yield key
            yield from (f"  {shown(value):<22}  {count:,}" for value, count in facts[key].items())
    yield f"clusters          {facts['clusters']:,}"
    for cluster in facts["largest_clusters"][:SHOWN_CLUSTERS]:
        yield f"  {cluster['pages']:,} pages like {shown(cluster['first'])}"
        if cluster["preferred"] != cluster["first"]:
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
