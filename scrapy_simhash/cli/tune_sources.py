"""Where the pairs of ``tune`` come from: a report, a store, or pages on disk, read as a crawl reads them."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_simhash.cli.failures import Failed, Refused
from scrapy_simhash.cli.fields import BrokenRecords, add_fields, fields_of
from scrapy_simhash.cli.input import STDIN, opened
from scrapy_simhash.cli.places import REDIS_URLS, Place, place_of
from scrapy_simhash.cli.progress import Progress, of
from scrapy_simhash.cli.report import Lines
from scrapy_simhash.cli.settings import add_settings, config_of, given_settings
from scrapy_simhash.config import Config
from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.view.tuning import Neighbours, Pair, Sample, pairs_of

if TYPE_CHECKING:
    from scrapy_simhash.detector import NearDuplicateDetector
    from scrapy_simhash.files.records import Record, Records
    from scrapy_simhash.store import Page
    from scrapy_simhash.verdict import Verdict

#: Bytes of a line by which a report is told.
_LONGEST_LINE = 1 << 24
#: Pairs of a report or of pages that are kept; of more, a sample. Some 25 MB.
MOST_PAIRS = 50_000
#: Pages of a store whose neighbours are looked for; of more, a sample.
MOST_PAGES = 20_000


class Pairs(NamedTuple):
    """The pairs of a source."""

    name: str
    pairs: list[Pair]
    """Each once: of a page that came again, what was found last."""
    min_similarity: float | None
    """By which the pages were compared; None where that is not known."""
    sampled: tuple[int, int] | None = None
    """How many were taken, and of how many; None for all."""


def add_source(parser: ArgumentParser) -> None:
    """Add the source, and what is read of a feed."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="a report written with SIMHASH_REPORT (-: standard input); a store: an SQLite file, a URL like"
        " redis://host:6379/0#prefix, or in a Scrapy project the name of a spider; or pages: a folder or a file of"
        " HTML, JSON Lines, JSON, CSV, Parquet, WARC, zip or tar, compressed or not",
    )
    pages = parser.add_argument_group("reading pages")
    add_fields(pages)
    add_settings(pages, "the default settings; in a Scrapy project, its settings")


def source_words(options: Namespace) -> list[str]:
    """Return the source as it was given on the command line, to be given again."""
    given = [(f"--{name.replace('_', '-')}", getattr(options, name)) for name in _FIELDS]
    settings = [("--set", setting) for setting in ([] if options.project is not None else options.set)]
    return [options.source, *(word for pair in (*given, *settings) if pair[1] for word in pair)]


def pairs_from(options: Namespace, progress: Progress) -> Pairs:
    """Return the pairs of the source. Raises Failed if it has none."""
    if _has_pages(options):
        found = _of_pages(options, progress)
    elif _is_store(options):
        found = _of_store(place_of(options.source, options), progress)
    else:
        found = _of_report(options.source, progress)
    if not found.pairs:
        raise Failed(
            f"{found.name} has no pair with a threshold: no two pages were compared, or it was made with"
            ' SIMHASH_RULE = "classic"'
        )
    return found


#: Endings of JSON Lines, as Scrapy has them: with no line of JSON in it, such a file is a damaged report.
_LINES = (".jsonl", ".jl", ".jsonlines", ".ndjson")
_FIELDS = ("html_field", "text_field", "url_field", "time_field")


def _has_pages(options: Namespace) -> bool:
    """Tell whether the source has pages: a line of a report has a status."""
    from scrapy_simhash.store.sqlite import is_database

    if any(getattr(options, name) for name in _FIELDS):
        return True
    path = Path(options.source)
    if options.source == STDIN or not path.is_file() or is_database(path):
        return path.is_dir()
    with opened(options.source) as given:
        first = given.stream.readline(_LONGEST_LINE)
    try:
        line = json.loads(first)
    except (ValueError, RecursionError):
        return bool(first.strip()) and path.suffix.lower() not in _LINES
    return isinstance(line, dict) and "status" not in line


def _is_store(options: Namespace) -> bool:
    from scrapy_simhash.store.sqlite import is_database

    name: str = options.source
    if name == STDIN or name.startswith(REDIS_URLS):
        return name != STDIN
    path = Path(name)
    return is_database(path) if path.is_file() else options.project is not None and not path.exists()


def _of_report(path: str, progress: Progress) -> Pairs:
    with opened(path) as given:
        lines = Lines(given, progress.counting("reading", given.share))
        return _sampled(lines.name, pairs_of(lines), None)


def _sampled(name: str, pairs: Iterator[Pair], min_similarity: float | None) -> Pairs:
    sample: Sample[Pair] = Sample(MOST_PAIRS)
    for pair in pairs:
        sample.add(" ".join(pair.key), pair)
    sampled = (len(sample), sample.seen) if sample.is_part else None
    return Pairs(name, list(sample.values()), min_similarity, sampled)


# --- Stores.


def _of_store(place: Place, progress: Progress) -> Pairs:
    from scrapy_simhash.cli.walk import walk

    with place.reading() as store:
        rule = store.header.rule
        if not isinstance(rule, SimilarityRule):
            return Pairs(place.shown, [], None)
        total = len(store)

        def pages(doing: str) -> Iterator[Page]:
            tell = progress.counting(doing, of(total))
            for count, entry in enumerate(walk(store), 1):
                tell(count)
                if entry.page is not None and not entry.posting.is_short:
                    yield entry.page

        sample: Sample[Page] = Sample(MOST_PAGES)
        for page in pages("choosing pages"):
            sample.add(page.posting.key.hex(), page)
        neighbours = Neighbours(rule, sample.values())
        for page in pages("comparing"):
            neighbours.meet(page)
    # Two pages may have one URL, as with POST requests.
    pairs = {pair.key: pair for pair in neighbours.pairs()}
    sampled = (len(sample), sample.seen) if sample.is_part else None
    return Pairs(place.shown, list(pairs.values()), rule.min_similarity, sampled)


# --- Pages.


def _of_pages(options: Namespace, progress: Progress) -> Pairs:
    from scrapy_simhash.files.records import read

    config = config_of(given_settings(options), {}) if options.project is None else options.project.config
    with closing(read([options.source], fields_of(options))) as records:
        lines = _lines(records, config, progress.counting("reading pages", records.share))
        return _sampled(options.source, pairs_of(lines), config.min_similarity)


def _lines(records: Records, config: Config, tell: Callable[[int], None]) -> Iterator[dict[str, Any]]:
    """Yield for each page what the report of a crawl tells of it, as far as it tells of pairs."""
    from scrapy_simhash.detector import NearDuplicateDetector
    from scrapy_simhash.files.records import Record

    detector, broken = NearDuplicateDetector(config), BrokenRecords()
    for count, record in enumerate(records, 1):
        tell(count)
        if not isinstance(record, Record):
            broken.note(record.place, record.reason)
        elif record.is_text or not 0 < config.maxsize < len(record.page):
            verdict, hints = _checked(record, detector)
            miss = verdict.near_miss
            yield {
                "url": record.url,
                **verdict.to_dict(),
                "near_miss": miss and miss._asdict(),
                "hints": hints,
            }
    broken.close()
    if records.complaint:
        raise Refused(records.complaint)


def _checked(record: Record, detector: NearDuplicateDetector) -> tuple[Verdict, tuple[str, ...]]:
    """Return the verdict on a page, and what speaks for it beside its text."""
    from scrapy_simhash.judge.hints import evidence, read_hints
    from scrapy_simhash.page.text import parse

    if record.is_text and isinstance(record.page, str):
        return detector.conclude(detector.fingerprinter.read_text(record.page), record.url), ()
    root = parse(record.page, record.content_type)
    reading = detector.read(root, record.url, content_language=record.content_language)
    verdict = detector.conclude(reading, record.url)
    other = verdict.duplicate_of or (verdict.near_miss and verdict.near_miss.url)
    return verdict, evidence(read_hints(root, record.url), record.url, other) if other else ()
