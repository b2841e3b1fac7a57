"""Choose a threshold from pairs of a crawl: write a page to judge the pairs, and read the answers."""

from __future__ import annotations

import csv
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_simhash.cli.options import (
    KINDS,
    add_fields,
    add_html,
    add_json,
    add_settings,
    config_for,
    fields_of,
    write_html,
)
from scrapy_simhash.cli.report import read_report
from scrapy_simhash.cli.streams import Refused, add_options, bar, check_outputs, show, warn
from scrapy_simhash.display import shown
from scrapy_simhash.exceptions import FileError, failing
from scrapy_simhash.view.overview import BadLines
from scrapy_simhash.view.page import html
from scrapy_simhash.view.tuning import (
    Pair,
    bands_of,
    estimates,
    least_for,
    pairs_of,
    sample,
    to_judge,
)

if TYPE_CHECKING:
    from scrapy_simhash.files.records import Record

#: Max pairs that are kept (about 25 MB); if there are more, a sample is kept.
MAX_PAIRS = 50_000
#: Average number of unanswered pairs per band of thresholds that the page shows.
ASKED = 20
#: Width of the longest bar in columns.
BAR = 30
COLUMNS = ("url", "other", "answer")
SAME, DIFFERENT, SKIP = "same", "different", "skip"

#: Answers, by `Pair.key`.
Answers = dict[tuple[str, str], str]
#: The title and the paragraphs of a page.
Text = tuple[str, list[str]]


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the report, the pages and the answers."""
    parser.add_argument(
        "source",
        metavar="REPORT",
        help="a report written with SIMHASH_REPORT or dedup --report (-: standard input)",
    )
    add_html(parser)
    parser.add_argument(
        "--pages",
        metavar="INPUT",
        nargs="+",
        help=f"the pages of the report, to show both texts of a pair on the page of --html: {KINDS}",
    )
    add_fields(parser)
    labels = "answers that were downloaded from that page, with the columns url, other and answer"
    add_options(parser, {"--labels CSV": f"{labels} (same, different or skip)"})
    parser.add_argument(
        "--precision", type=float, default=0.95, metavar="P", help="the required precision (default: 0.95)"
    )
    add_settings(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Write the page for judging with ``--html``, otherwise show the results of the answers; return 0."""
    if options.pages and options.html is None:
        raise Refused("--pages needs --html: add --html judge.html, the page for judging")
    check_outputs(options, [options.source, options.labels, *(options.pages or ())])
    answers = _answers(options.labels) if options.labels else {}
    min_similarity = float(config_for(options).min_similarity)
    pairs = sample(pairs_of(read_report(options.source, BadLines())), MAX_PAIRS)
    if not pairs:
        raise FileError(
            f"{options.source} has no pair with a threshold: no two pages were compared, or SIMHASH_RULE was"
            " 'classic'"
        )
    if options.html is not None:
        unanswered = bands_of([pair for pair in pairs if pair.key not in answers], _labels(answers))
        asked = to_judge(unanswered, min_similarity, ASKED)
        texts = _texts(asked, options) if options.pages else {}
        return write_html(
            options, html("judging", "Are these the same page?", judging(asked, answers, texts))
        )
    if answers and not any(pair.key in answers for pair in pairs):
        warn(f"none of the {len(answers):,} answers in {options.labels} is about a pair in {options.source}")
    found = _facts(pairs, answers, min_similarity, options.precision)
    show(found, _lines(found, options), options.json)
    return 0


def _labels(answers: Answers) -> dict[tuple[str, str], bool]:
    return {key: answer == SAME for key, answer in answers.items() if answer != SKIP}


def _answers(path: str) -> Answers:
    """Return the last answer for each pair in the CSV file at *path*. Raises Refused for a wrong line."""
    found: Answers = {}
    # Spreadsheets may write a byte order mark.
    with failing(f"read {path}"), Path(path).open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        if not set(COLUMNS) <= set(reader.fieldnames or ()):
            raise Refused(f"{path}:1: the columns must be {', '.join(COLUMNS)}")
        for row in reader:
            answer = (row["answer"] or "").strip().lower()
            if answer not in (SAME, DIFFERENT, SKIP):
                raise Refused(
                    f"{path}:{reader.line_num}: answer must be same, different or skip, got {shown(answer)}"
                )
            found[Pair(row["url"] or "", row["other"] or "", 0).key] = answer
    return found


def _texts(pairs: Sequence[Pair], options: Namespace) -> dict[str, Text]:
    """Return title and paragraphs, by URL, of the pages of *pairs* that are in ``--pages``."""
    # Imported here, because importing readers of pages takes longer than reading a report.
    from scrapy_simhash.files.records import Record, read
    from scrapy_simhash.fingerprinter import PageFingerprinter
    from scrapy_simhash.page.text import parse

    fingerprinter = PageFingerprinter(config_for(options))

    def text(record: Record) -> Text:
        if record.is_text:
            return "", str(record.page).splitlines()
        root = parse(record.page, record.content_type)
        document = fingerprinter.extract(root, content_language=record.content_language)
        return document.title, [paragraph.text for paragraph in document.main]

    wanted = {url for pair in pairs for url in pair.key}
    found: dict[str, Text] = {}
    with closing(read(options.pages, fields_of(options), options.format)) as records:
        for record in bar(records, "reading pages"):
            if isinstance(record, Record) and record.url in wanted and record.url not in found:
                found[record.url] = text(record)
        if records.complaint:
            raise Refused(records.complaint)
    if not found:
        warn("--pages contains none of the pages to judge, so only links are shown")
    return found


def judging(pairs: Sequence[Pair], answers: Answers, texts: Mapping[str, Text]) -> dict[str, Any]:
    """Return the JSON data of the page for judging: pairs with their texts, and the answers so far.

    The similarity is left out, because it would influence the answers.
    """
    from scrapy_simhash.view.comparison import aligned

    shown_pairs = []
    for pair in pairs:
        one, other = (texts.get(url) for url in (pair.url, pair.other))
        paragraphs = None
        if one and other:
            paragraphs = [{"a": a, "b": b} for a, b in aligned(one[1], other[1])]
        titles = [text[0] if text else "" for text in (one, other)]
        shown_pairs.append({"url": pair.url, "other": pair.other, "titles": titles, "text": paragraphs})
    return {"pairs": shown_pairs, "answers": [[*key, answer] for key, answer in answers.items()]}


def _facts(
    pairs: Sequence[Pair], answers: Answers, min_similarity: float, precision: float
) -> dict[str, Any]:
    bands = bands_of(pairs, _labels(answers))
    found = estimates(bands) if any(band.same or band.different for band in bands) else []
    best = least_for(precision, found)
    counts = ("identical", "same", "different", "pairs")
    rows = [{"threshold": band.begin, **{name: getattr(band, name) for name in counts}} for band in bands]
    for row, one in zip(rows, found, strict=False):
        row |= {
            "precision": one.precision and asdict(one.precision),
            "recall": one.recall and asdict(one.recall),
        }
    return {
        "pairs": sum(not pair.is_kept for pair in pairs),
        "min_similarity": min_similarity,
        "thresholds": rows,
        "is_judged": bool(found),
        "wanted_precision": precision,
        "chosen": best and best.threshold,
    }


def _lines(facts: Mapping[str, Any], options: Namespace) -> Iterator[str]:
    rows = facts["thresholds"]
    yield f"Pairs of pages that were compared: {facts['pairs']:,}. The threshold of a pair is the greatest"
    yield "SIMHASH_MIN_SIMILARITY at which the two pages are near-duplicates."
    yield "\nthreshold    pairs  identical   same  different  precision, recall with it (90 % intervals)"
    most = max(row["pairs"] for row in rows) or 1
    for row in reversed(rows):
        counts = f"{row['pairs']:>7,}  {row['identical']:>9,}  {row['same']:>5,}  {row['different']:>9,}"
        shown = "#" * -(-BAR * row["pairs"] // most)
        if facts["is_judged"]:
            shown = f"{_interval(row['precision'])}, {_interval(row['recall'])}"
        mark = "  <- as crawled" if abs(row["threshold"] - facts["min_similarity"]) < 0.001 else ""
        yield f"{row['threshold']:.2f} or more  {counts}  {shown}{mark}".rstrip()
    below = facts["pairs"] - sum(row["pairs"] for row in rows)
    yield f"below 0.50 {below:>9,}\n"
    yield from _advice(facts, options)


def _interval(one: Mapping[str, float] | None) -> str:
    return "-" if one is None else "{share:.3f} ({low:.3f} to {high:.3f})".format(**one)


def _advice(facts: Mapping[str, Any], options: Namespace) -> Iterator[str]:
    if not facts["is_judged"]:
        yield "No pair has been judged yet, so the errors are unknown."
    elif facts["chosen"] is None:
        yield f"These answers show no threshold with a precision of {facts['wanted_precision']:g}."
    else:
        yield f"For a precision of {facts['wanted_precision']:g} or more, in settings.py:"
        yield f"  SIMHASH_MIN_SIMILARITY = {facts['chosen']:g}"
    labels = ["--labels", options.labels] if options.labels else []
    yield "To judge more pairs, write the page with this command, and download your answers:"
    words = [options.source, *labels, "--pages", "PAGES", "--html", "judge.html"]
    yield f"  scrapy-simhash tune {shlex.join(map(shown, words))}"
    yield f"  scrapy-simhash tune {shlex.join(map(shown, [options.source, '--labels', 'pairs.csv']))}"
