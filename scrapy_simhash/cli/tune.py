"""Show how near the pages of a crawl were to each other, judge some pairs by eye, and choose a threshold."""

from __future__ import annotations

import csv
import json
import shlex
import sys
import webbrowser
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from scrapy_simhash.cli.options import (
    KINDS,
    BrokenRecords,
    add_fields,
    add_json,
    add_settings,
    config_for,
    fields_of,
)
from scrapy_simhash.cli.report import Lines
from scrapy_simhash.cli.stores import STORES, Place, is_store, place_of, walk
from scrapy_simhash.cli.streams import STDIN, Progress, Refused, of, open_input, show, warn
from scrapy_simhash.config import Config
from scrapy_simhash.exceptions import FileError, failing
from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.store.sqlite import is_database
from scrapy_simhash.view.tuning import (
    TOLD,
    Band,
    Estimate,
    Neighbours,
    Pair,
    Sample,
    bands_of,
    estimates,
    least_for,
    pairs_of,
    to_judge,
)
from scrapy_simhash.view.words import shown

if TYPE_CHECKING:
    from scrapy_simhash.detector import NearDuplicateDetector
    from scrapy_simhash.files.records import Record, Records
    from scrapy_simhash.store import Page
    from scrapy_simhash.verdict import Verdict


EXAMPLE = """\
$ scrapy-simhash tune report.jsonl
Pairs of pages that were compared: 1. The threshold of a pair is the greatest
...
"""
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
    sampled: tuple[int, int] | None = None
    """How many were taken, and of how many; None for all."""
    min_similarity: float | None = None
    """By which a store has compared them; elsewhere the settings say it."""


def source_words(options: Namespace) -> list[str]:
    """Return the source as it was given on the command line, to be given again."""
    given = [(f"--{name.replace('_', '-')}", getattr(options, name)) for name in _FIELDS]
    settings = [("--set", setting) for setting in ([] if options.project is not None else options.set)]
    return [options.source, *(word for pair in (*given, *settings) if pair[1] for word in pair)]


def pairs_from(options: Namespace, progress: Progress) -> Pairs:
    """Return the pairs of the source. Raises FileError if it has none."""
    if _has_pages(options):
        found = _of_pages(options, progress)
    elif options.source != STDIN and is_store(options.source, options, or_missing=True):
        found = _of_store(place_of(options.source, options), progress)
    else:
        lines = Lines(options.source, progress)
        found = _sampled(lines.name, pairs_of(lines))
    if not found.pairs:
        raise FileError(
            f"{found.name} has no pair with a threshold: no two pages were compared, or it was made with"
            ' SIMHASH_RULE = "classic"'
        )
    return found


#: Endings of JSON Lines, as Scrapy has them: with no line of JSON in it, such a file is a damaged report.
_LINES = (".jsonl", ".jl", ".jsonlines", ".ndjson")
_FIELDS = ("html_field", "text_field", "url_field", "time_field")


def _has_pages(options: Namespace) -> bool:
    """Tell whether the source has pages: a line of a report has a status."""
    if any(getattr(options, name) for name in _FIELDS):
        return True
    path = Path(options.source)
    if options.source == STDIN or not path.is_file() or is_database(path):
        return path.is_dir()
    with open_input(options.source) as given:
        first = given.stream.readline(_LONGEST_LINE)
    try:
        line = json.loads(first)
    except (ValueError, RecursionError):
        return bool(first.strip()) and path.suffix.lower() not in _LINES
    return isinstance(line, dict) and "status" not in line


def _sampled(name: str, pairs: Iterator[Pair]) -> Pairs:
    sample: Sample[Pair] = Sample(MOST_PAIRS)
    for pair in pairs:
        sample.add(" ".join(pair.key), pair)
    sampled = (len(sample), sample.seen) if sample.is_part else None
    return Pairs(name, list(sample.values()), sampled)


def _of_store(place: Place, progress: Progress) -> Pairs:
    with place.reading() as store:
        rule = store.header.rule
        if not isinstance(rule, SimilarityRule):
            return Pairs(place.shown, [])
        total = len(store)

        def pages(doing: str) -> Iterator[Page]:
            tell = progress.counting(doing, of(total))
            for count, page in enumerate(walk(store), 1):
                tell(count)
                if not page.posting.is_short:
                    yield page

        sample: Sample[Page] = Sample(MOST_PAGES)
        for page in pages("choosing pages"):
            sample.add(page.posting.key.hex(), page)
        neighbours = Neighbours(rule, sample.values())
        for page in pages("comparing"):
            neighbours.meet(page)
    # Two pages may have one URL, as with POST requests.
    pairs = {pair.key: pair for pair in neighbours.pairs()}
    sampled = (len(sample), sample.seen) if sample.is_part else None
    return Pairs(place.shown, list(pairs.values()), sampled, rule.min_similarity)


def _of_pages(options: Namespace, progress: Progress) -> Pairs:
    from scrapy_simhash.files.records import read

    config = config_for(options)
    with closing(read([options.source], fields_of(options), options.format)) as records:
        lines = _lines_of_pages(records, config, progress.counting("reading pages"))
        return _sampled(options.source, pairs_of(lines))


def _lines_of_pages(
    records: Records, config: Config, tell: Callable[[int], None]
) -> Iterator[dict[str, Any]]:
    """Yield for each page what the report of a crawl tells of it, as far as it tells of pairs."""
    from scrapy_simhash.detector import NearDuplicateDetector
    from scrapy_simhash.files.records import Record

    detector, broken = NearDuplicateDetector(config), BrokenRecords()
    for count, record in enumerate(records, 1):
        tell(count)
        if not isinstance(record, Record):
            broken.note(record)
        elif record.is_text or not 0 < config.maxsize < len(record.page):
            verdict, hints = _checked(record, detector)
            yield {"url": record.url, **verdict.to_dict(), "hints": hints}
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


#: Answers that are asked for in each band.
ASKED = 20
#: Columns of the longest bar.
BAR = 30
#: An interval of precision that is wider than this says little.
WIDE = 0.05
#: What says of two pages whether they are the same one, in words.
TELLING = {
    "pagination": "page number or links",
    "refetched": "URL: it came again",
    "canonical": "canonical URL",
    "address": "equivalent URLs",
    "redirect": "a redirect",
}
COLUMNS = ("url", "other", "answer")
SAME, DIFFERENT, SKIP = "same", "different", "skip"
#: What is typed.
_ANSWERS = {"s": SAME, "d": DIFFERENT, "k": SKIP, SAME: SAME, DIFFERENT: DIFFERENT, SKIP: SKIP}
_KEYS = "s = same page, d = different pages, k = skip, o = open both in the browser, q = quit: "


def add_arguments(parser: ArgumentParser) -> None:
    """Add which pages and which labels, and what is wanted."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help=f"a report written with SIMHASH_REPORT (-: standard input); a store: {STORES}; or pages: {KINDS}",
    )
    add_fields(parser)
    add_settings(parser, "the default settings, or those of the project or of the store")
    parser.add_argument(
        "--labels",
        metavar="CSV",
        help="file of judged pairs, with columns url, other and answer (same, different or skip)",
    )
    parser.add_argument(
        "--judge",
        nargs="?",
        type=_count,
        const=ASKED,
        metavar="N",
        help="show pairs one by one and add your answers to --labels, until there are N in each band of"
        f" thresholds (default: {ASKED}); to go on later, call it again",
    )
    parser.add_argument(
        "--precision", type=_share, default=0.95, metavar="P", help="the precision wanted (default: 0.95)"
    )
    add_json(parser)


def run(options: Namespace) -> int:
    """Judge if that is wanted, print what the pairs say, and return 0."""
    if options.judge and not options.labels:
        raise Refused("--judge needs a file for the answers: --labels labels.csv")
    if options.judge and options.source == STDIN:
        raise Refused("--judge reads your answers from standard input, where the pages cannot be as well")
    with Progress() as progress:
        found = pairs_from(options, progress)
    pairs = found.pairs
    options.min_similarity = found.min_similarity or config_for(options).min_similarity
    labels = _labels(options.labels, is_new=bool(options.judge))
    if options.judge:
        # What was skipped is not asked again.
        rest = [pair for pair in pairs if labels.get(pair.key) != SKIP]
        asked = to_judge(_bands(rest, labels), options.min_similarity, options.judge)
        _judge(asked, labels, Path(options.labels))
    elif labels and not any(pair.key in labels for pair in pairs):
        warn(f"none of the {len(labels):,} answers in {options.labels} is about a pair of {found.name}")
    facts = _facts(_bands(pairs, labels), found, labels, options)
    show(facts, _told(facts, options), options.json)
    return 0


def _bands(pairs: Sequence[Pair], labels: Mapping[tuple[str, str], str]) -> list[Band]:
    return bands_of(pairs, {key: answer == SAME for key, answer in labels.items() if answer != SKIP})


def _labels(path: str | None, is_new: bool) -> dict[tuple[str, str], str]:
    """Return the answers in the file at *path* by `Pair.key`. Raises Refused for a wrong line.

    Where it *is_new*, there need not be such a file yet.
    """
    found: dict[tuple[str, str], str] = {}
    if path is None or (is_new and not Path(path).exists()):
        return found
    # Spreadsheets write a mark at the beginning.
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


def _judge(pairs: Sequence[Pair], labels: dict[tuple[str, str], str], path: Path) -> None:
    """Ask about *pairs*, one by one, and put each answer into *labels* and into the file at *path* at once."""
    with failing(f"write {path}"):
        text = path.read_text("utf-8-sig") if path.exists() else ""
        columns = next(csv.reader(text.splitlines()), COLUMNS)
        with path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns)
            if not text:
                writer.writeheader()
            elif not text.endswith("\n"):
                file.write("\n")
            for number, pair in enumerate(pairs, 1):
                answer = _answer(pair, f"{number} of {len(pairs)}", sys.stderr)
                if answer is None:
                    return
                labels[pair.key] = answer
                writer.writerow({"url": pair.url, "other": pair.other, "answer": answer})
                file.flush()


def _answer(pair: Pair, which: str, to: TextIO) -> str | None:
    """Ask whether *pair* is the same page, and return the answer; None if there is none any more."""
    similarity = "unknown" if pair.similarity is None else f"{pair.similarity:.3f}"
    reach = f"near-duplicates up to SIMHASH_MIN_SIMILARITY {pair.threshold:.3f}"
    print(f"\n{which}: similarity {similarity}; {reach}", file=to)
    print(f"  A  {shown(pair.url)}\n  B  {shown(pair.other)}", file=to)
    while True:
        print(_KEYS, end="", file=to, flush=True)
        line = sys.stdin.readline()
        word = line.strip().lower()
        if not line or word in ("q", "quit"):
            return None
        if word in ("o", "open"):
            for url in (pair.url, pair.other):
                # Nothing but pages: a report may come from somebody else.
                if url.startswith(("http://", "https://")):
                    webbrowser.open(url)
        if word in _ANSWERS:
            return _ANSWERS[word]


def _facts(
    bands: Sequence[Band], given: Pairs, labels: Mapping[tuple[str, str], str], options: Namespace
) -> dict[str, Any]:
    pairs = [pair for pair in given.pairs if not pair.is_kept]
    found = estimates(bands) if any(band.same or band.different for band in bands) else []
    chosen = _chosen(pairs, found, options)
    return {
        "pairs": len(pairs),
        "sample": given.sampled and dict(zip(("taken", "of"), given.sampled, strict=True)),
        "unanswered": sum(pair.key not in labels and not pair.is_same_text for pair in pairs),
        "below_all_bands": len(pairs) - sum(band.pairs for band in bands),
        "min_similarity": options.min_similarity,
        "bands": [
            {
                "begin": band.begin,
                "end": min(band.end, 1.0),
                "pairs": band.pairs,
                "identical": band.identical,
                "same": band.same,
                "different": band.different,
            }
            for band in bands
        ],
        "told": _by_kind(given.pairs, options.min_similarity),
        "thresholds": [_as_json(estimate) for estimate in found],
        "wanted_precision": options.precision,
        "chosen": chosen,
    }


def _by_kind(pairs: Sequence[Pair], min_similarity: float) -> list[dict[str, Any]]:
    """Return how many pairs say of themselves what they are, and how many of these are called near-duplicates."""
    found = []
    for kind, is_same in TOLD.items():
        thresholds = [pair.threshold for pair in pairs if pair.told_by == kind]
        near = sum(threshold >= min_similarity for threshold in thresholds)
        if thresholds:
            found.append({"kind": kind, "is_same": is_same, "pairs": len(thresholds), "near": near})
    return found


def _chosen(pairs: Sequence[Pair], found: Sequence[Estimate], options: Namespace) -> float | None:
    """Return the threshold to set: that of the crawl, if the one that is shown to do calls the same pairs near."""
    shown_to_do = least_for(options.precision, found)
    if shown_to_do is None:
        return None
    low, high = sorted((shown_to_do.threshold, options.min_similarity))
    is_between = any(low <= pair.threshold < high for pair in pairs)
    return shown_to_do.threshold if is_between else float(options.min_similarity)


def _as_json(estimate: Estimate) -> dict[str, Any]:
    shares = {name: getattr(estimate, name) for name in ("precision", "recall")}
    return {
        **estimate._asdict(),
        **{name: None if share is None else share._asdict() for name, share in shares.items()},
    }


def _told(facts: Mapping[str, Any], options: Namespace) -> Iterator[str]:
    yield f"Pairs of pages that were compared: {facts['pairs']:,}. The threshold of a pair is the greatest"
    yield "SIMHASH_MIN_SIMILARITY by which the two are near-duplicates. Identical: the same title and text."
    if facts["sample"]:
        yield "They are a sample, the same each time: {taken:,} of {of:,} were taken.".format(
            **facts["sample"]
        )
    yield ""
    yield "                               judged     judged"
    yield "threshold     pairs  identical   same  different"
    most = max(band["pairs"] for band in facts["bands"]) or 1
    for band in reversed(facts["bands"]):
        bar = "#" * -(-BAR * band["pairs"] // most)
        counts = f"{band['pairs']:>7,}  {band['identical']:>9,}  {band['same']:>5,}  {band['different']:>9,}"
        yield f"{band['begin']:.2f} - {band['end']:.2f}  {counts}  {bar}".rstrip()
    yield f"below 0.50   {facts['below_all_bands']:>7,}"
    yield ""
    if facts["told"]:
        yield f"What pages say of themselves, beside these answers    pairs  near at {facts['min_similarity']:g}"
        for one in facts["told"]:
            said = f"{'the same page' if one['is_same'] else 'different pages'}, by {TELLING[one['kind']]}"
            yield f"{said:<52} {one['pairs']:>6,}  {one['near']:>7,}"
        yield ""
    if not facts["thresholds"]:
        yield "Nobody has judged any of them yet, so that nothing is known about errors. To judge some:"
        labels = options.labels or "labels.csv"
        words = map(shown, [*source_words(options), "--labels", labels])
        yield f"  scrapy-simhash tune {shlex.join(words)} --judge"
        return
    yield "threshold  precision (90 % interval)    recall (90 % interval)"
    for one in reversed(facts["thresholds"]):
        mark = "  <- as crawled" if abs(one["threshold"] - facts["min_similarity"]) < 0.001 else ""
        precision, recall = _interval(one["precision"]), _interval(one["recall"])
        yield f"{one['threshold']:.2f}       {precision:<27}  {recall}{mark}".rstrip()
    yield ""
    yield "Copies that were never compared with their originals are not counted here."
    yield ""
    yield from _advice(facts)


def _interval(one: Mapping[str, float] | None) -> str:
    return "-" if one is None else f"{one['share']:.3f} ({one['low']:.3f} to {one['high']:.3f})"


def _advice(facts: Mapping[str, Any]) -> Iterator[str]:
    chosen, wanted = facts["chosen"], facts["wanted_precision"]
    if chosen is None:
        yield f"No threshold is shown to have a precision of {wanted:g} by these answers."
        if facts["unanswered"]:
            yield "Judge more pairs, with --judge and a greater number, or give a lower --precision."
        else:
            yield "All pairs are answered: crawl more pages for more of them, or give a lower --precision."
    elif chosen == facts["min_similarity"]:
        yield f"For a precision of {wanted:g} or more, keep what you have:"
        yield f"  SIMHASH_MIN_SIMILARITY = {chosen:g}"
    else:
        yield f"For a precision of {wanted:g} or more, in settings.py:"
        yield f"  SIMHASH_MIN_SIMILARITY = {chosen:g}"
    widest = [
        f"{one['threshold']:.2f}"
        for one in facts["thresholds"]
        if one["precision"] and one["precision"]["high"] - one["precision"]["low"] > WIDE
    ]
    if widest and facts["unanswered"]:
        yield f"To know the precision at {', '.join(widest)} better than to {WIDE:g}, judge more pairs."


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise ArgumentTypeError(f"must be above 0 and at most 1, got {text!r}")
    return share


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise ArgumentTypeError(f"must be a whole number above 0, got {text!r}")
    return int(text)
