"""Count the pages of a report, show them as a page of HTML or serve that page, or explain the verdict on one page."""

from __future__ import annotations

import gc
import json
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from scrapy_simhash.cli.kinds import FOLDER, REPORT, kind_of, refusal
from scrapy_simhash.cli.options import add_html, add_json
from scrapy_simhash.cli.streams import (
    STDIN,
    Progress,
    Refused,
    check_outputs,
    open_input,
    say,
    show,
    write_html,
)
from scrapy_simhash.exceptions import FileError, failing
from scrapy_simhash.view.overview import COUNTED, Overview
from scrapy_simhash.view.page import html
from scrapy_simhash.view.serving import GrowingReport, ReportServer
from scrapy_simhash.view.words import MEANINGS, explained, shown

EXAMPLE = """\
$ scrapy-simhash report report.jsonl --url https://example.com/print/ferry
https://example.com/print/ferry is a near-duplicate of https://example.com/ferry, ...
"""
#: Max clusters in a summary, largest first.
SHOWN_CLUSTERS = 10
#: Max unreadable lines that are named.
NAMED_LINES = 10
#: Keys of a line whose value is text, or null.
_TEXTS = ("reason", "duplicate_of", "action", "protected", "last_seen", "time")
#: Endings of files with one JSON object per line; other files are read as tables of marked pages.
_LINES = (".jsonl", ".jl", ".jsonlines", ".ndjson", ".log", ".txt", "")
#: Any free port.
FREE = 0


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the report, and the result to show."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="a report written with SIMHASH_REPORT or dedup --report; pages written with dedup --mark as JSON Lines,"
        " CSV or Parquet (-: a report from standard input)",
    )
    parser.add_argument("--url", metavar="URL", help="explain the verdict on this page instead")
    add_html(parser)
    parser.add_argument(
        "--serve",
        nargs="?",
        type=_port,
        const=FREE,
        metavar="PORT",
        help="serve the page of HTML on 127.0.0.1, and update it while a crawl writes the report, until Ctrl-C"
        " (default: any free port)",
    )
    add_json(parser)


def run(options: Namespace) -> int:
    """Write what the report contains, and return 0."""
    asked = [name for name in ("url", "html", "serve") if getattr(options, name) is not None]
    if len(asked) > 1:
        raise Refused(f"--{asked[0]} and --{asked[1]} are two results: use one of the two")
    check_outputs(options, [options.source])
    if options.serve is not None:
        return serve(options.source, options.serve)
    with Progress() as progress:
        lines = Lines(options.source, progress)
        facts = survey(lines) if options.url is None else history(lines, options.url)
    if not write_html(options, lambda: [html("overview", "Crawl report", facts)]):
        show(facts, (_summary if options.url is None else _story)(facts), options.json)
    return 0


def serve(source: str, port: int) -> int:
    """Serve the overview of the report *source* until Ctrl-C, and return 0."""
    path = Path(source)
    if not path.is_file():
        raise Refused(f"--serve needs a report in a file, got {shown(source)}")
    report = GrowingReport(path, page_of, lambda facts, bad: named(facts, source, bad))
    with failing(f"read {source}"):
        report.facts()
    with failing(f"listen on 127.0.0.1:{port}"):
        server = ReportServer(report, port)
    with closing(server.socket):
        say(f"serving {source} at {server.url} until Ctrl-C", sys.stderr)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    return 0


class Lines:
    """The pages of a report or of a file of `dedup --mark`; other lines are counted and skipped."""

    def __init__(self, source: str, progress: Progress) -> None:
        """Read the file at *source*, with a *progress* bar."""
        self.name = "<stdin>" if source == STDIN else source
        #: Number of unreadable lines, and the line numbers of the first ones.
        self.bad: dict[str, Any] = {"count": 0, "lines": []}
        self._source = source
        self._progress = progress

    def __iter__(self) -> Iterator[dict[str, Any]]:
        if self._source != STDIN and Path(self._source).is_dir():
            raise refusal(self.name, FOLDER, REPORT)
        has_pages = False
        for number, page in self._pages():
            if page is not None:
                has_pages = True
                yield page
                continue
            self.bad["count"] += 1
            if len(self.bad["lines"]) < NAMED_LINES:
                self.bad["lines"].append(number)
        if self.bad["count"] and not has_pages:
            kind = None if self._source == STDIN else kind_of(Path(self._source))
            raise refusal(self.name, None if kind == REPORT else kind, REPORT)

    def _pages(self) -> Iterator[tuple[int, dict[str, Any] | None]]:
        if self._source != STDIN and Path(self._source).suffix.lower() not in _LINES:
            yield from enumerate(self._table(), 1)
            return
        with open_input(self._source) as given, failing(f"read {given.source}"):
            tell = self._progress.counting("reading", given.share)
            for number, line in enumerate(given.stream, 1):
                tell(number)
                # A crawl that could not write leaves a line empty.
                if line.strip():
                    yield number, page_of(line)

    def _table(self) -> Iterator[dict[str, Any] | None]:
        # Imported here, since importing it takes longer than reading a report.
        from scrapy_simhash.files.records import Record, read
        from scrapy_simhash.files.records.writing import fields_of

        tell = self._progress.counting("reading")
        with closing(read([self._source])) as records:
            for number, record in enumerate(records, 1):
                tell(number)
                yield (
                    _marked({**fields_of(record), "url": record.url}) if isinstance(record, Record) else None
                )


def page_of(line: bytes) -> dict[str, Any] | None:
    """Return the page in *line*, None if it is no complete line of a report."""
    try:
        page = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(page, dict):
        return None
    if "status" not in page:
        page = _marked(page)
    if page is None or not all(isinstance(page.get(key), str) for key in ("url", "status")):
        return None
    if not all(isinstance(page.get(key), str | None) for key in _TEXTS):
        return None
    return page if isinstance(page.get("hints"), list | None) else None


def _marked(values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the marks of `dedup --mark` in *values* by the keys of a report, None if there are none."""
    from scrapy_simhash.files.batch.page import MARKS, PREFIX

    line: dict[str, Any] = {
        "url": next((values[name] for name in ("url", "link", "uri") if values.get(name)), None)
    }
    try:
        for name, kind in MARKS.items():
            value = values.get(name)
            # CSV has text only.
            if isinstance(value, str) and kind is not str:
                value = kind(value) if value else None
            line[name.removeprefix(PREFIX)] = value or None if kind is str else value
    except ValueError:
        return None
    return line if line["status"] else None


def survey(lines: Lines) -> dict[str, Any]:
    """Return the overview of *lines*, for JSON."""
    overview = Overview()
    with _without_garbage():
        for line in lines:
            overview.add(line)
    return named(overview.as_dict(), lines.name, lines.bad)


def named(facts: dict[str, Any], name: str, bad_lines: Mapping[str, Any]) -> dict[str, Any]:
    """Return *facts* of the report *name*, with explanations of their values."""
    words = {key: {value: MEANINGS[key].get(value) for value in facts[key]} for key in COUNTED}
    return {"source": name, "bad_lines": bad_lines, **facts, "words": words}


@contextmanager
def _without_garbage() -> Iterator[None]:
    """Disable garbage collection, which takes a third of the time; lines have no cycles."""
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
        "bad_lines": lines.bad,
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


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65_535):
        raise ArgumentTypeError(f"must be a port, 0 to 65535, got {text!r}")
    return int(text)
