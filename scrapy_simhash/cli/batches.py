"""The commands over many pages: which inputs they read, and what they write of them."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_simhash.cli.options import (
    BrokenRecords,
    add_fields,
    add_settings,
    config_for,
    fields_of,
)
from scrapy_simhash.cli.places import key_function, place_of
from scrapy_simhash.cli.progress import Progress, say, told, warn, wipe
from scrapy_simhash.cli.streams import (
    STDIN,
    STDOUT,
    Failed,
    NothingRead,
    Refused,
    add_output,
    check_outputs,
    failing,
    open_output,
)
from scrapy_simhash.config import Config
from scrapy_simhash.detector import NearDuplicateDetector
from scrapy_simhash.files.batch import (
    KEEP,
    Journal,
    JournalMismatch,
    Judge,
    Options,
    RecordsChanged,
    Run,
    WorkerDied,
)
from scrapy_simhash.files.batch.page import MARKS, Fate, Step
from scrapy_simhash.files.records import Broken, Record, Records, open_writer, read
from scrapy_simhash.fingerprinter import SCHEME, PageFingerprinter, Reading
from scrapy_simhash.names import FIELD_KEPT

if TYPE_CHECKING:
    from scrapy_simhash.cli.transfer import Intake


def add_inputs(parser: ArgumentParser) -> None:
    """Add which pages are read, and how."""
    parser.add_argument(
        "inputs",
        metavar="INPUT",
        nargs="+",
        help="where pages are: a folder, or a file of HTML, JSON Lines, JSON, CSV, Parquet, WARC, zip, ...,"
        " compressed or not (-: standard input)",
    )
    add_fields(parser)
    parser.add_argument(
        "--processes",
        metavar="NUMBER",
        type=int,
        default=1,
        help="processes that read pages; any number gives the same results (default: 1)",
    )
    parser.add_argument(
        "--broken", metavar="FILE", help="write each record that could not be read to a file of JSON Lines"
    )


def add_reading(parser: ArgumentParser) -> None:
    """Add what changes the verdicts."""
    parser.add_argument(
        "--two-pass",
        action="store_true",
        help="learn what sites repeat from all pages before the first one is judged; takes twice as long",
    )
    add_settings(parser, "the default settings; in a Scrapy project, its settings")


def options_of(options: Namespace, config: Config, **more: object) -> Options:
    """Return what a run is to do. Raises Refused for what cannot be done."""
    try:
        run = Options(config, processes=options.processes, **more)  # type: ignore[arg-type]  # checked there
    except ValueError as error:
        raise Refused(f"--{error}") from None
    if options.inputs.count(STDIN) > 1:
        raise Refused("standard input can be read once only")
    if run.reads_twice and STDIN in options.inputs:
        raise Refused("--two-pass and --keep read the input twice: give a file instead of standard input")
    return run


class Inputs:
    """The inputs of one command, to be read from the beginning each time that they are called."""

    def __init__(self, options: Namespace, progress: Progress) -> None:
        self._inputs = options.inputs
        self._fields = fields_of(options)
        self._progress = progress
        self._tells: dict[str, Callable[[int], None]] = {}
        self.records: Records | None = None
        # Now: what is not there is told before an output is opened.
        self._first: Records | None = read(self._inputs, self._fields)

    def __call__(self) -> Iterator[Record | Broken]:
        """Return all records."""
        if self.records is not None:
            self.records.close()
        self.records, self._first = self._first or read(self._inputs, self._fields), None
        return self.records

    def tell(self, doing: str, number: int) -> None:
        """Show that so many records are through *doing*."""
        tell = self._tells.get(doing)
        if tell is None:
            tell = self._tells[doing] = self._progress.counting(doing, self._share)
        tell(number)

    @property
    def passed_over(self) -> int:
        """How many things were no pages."""
        return 0 if self.records is None else self.records.passed_over.total()

    def check(self) -> None:
        """Raise Refused if there were records, and no page among them."""
        if self.records is not None and self.records.complaint:
            raise Refused(self.records.complaint)

    def close(self) -> None:
        """Close what is open."""
        for records in (self.records, self._first):
            if records is not None:
                records.close()

    def _share(self, number: int) -> float | None:
        return None if self.records is None else self.records.share(number)


@contextmanager
def reading(options: Namespace, *places: str) -> Iterator[tuple[Inputs, BrokenRecords]]:
    """Open inputs, and what is told about them. What goes wrong in a batch ends the command in a sentence.

    *places* of stores are read too: no output may replace one.
    """
    _check_outputs(options, [*options.inputs, *places])
    nothing: NothingRead | None = None
    with ExitStack() as stack:
        progress = stack.enter_context(Progress(sys.stderr, is_early=True))
        try:
            inputs = Inputs(options, progress)
            stack.callback(inputs.close)
            output = stack.enter_context(open_output(options.broken)) if options.broken else None
            broken = BrokenRecords(output)
            stack.callback(broken.close)
            yield inputs, broken
        except NothingRead as error:
            # What is broken is written all the same, to the file of --broken.
            nothing = error
        except JournalMismatch as error:
            raise Refused(f"{error}; to begin anew, use --restart") from error
        except (RecordsChanged, WorkerDied) as error:
            raise Failed(str(error)) from error
    if nothing is not None:
        raise nothing


def _check_outputs(options: Namespace, inputs: Sequence[str]) -> None:
    """Raise Refused or Failed for what cannot be written: see `check_outputs`."""
    outputs = {option: getattr(options, option, None) for option in ("output", "clusters", "broken")}
    check_outputs(outputs, inputs)
    for name in outputs.values():
        if name in (None, STDOUT):
            continue
        path = Path(name)
        if not path.resolve().parent.is_dir():
            raise Failed(f"cannot write {name}: there is no folder {path.parent}")
        if path.is_dir() and any(path.iterdir()):
            raise Failed(f"cannot write {name}: it exists and is not empty, give a new folder")


def through(run: Run, inputs: Inputs, broken: BrokenRecords) -> Iterator[Step]:
    """Yield the records of *run* that are not broken, and tell of the others.

    At the end it raises Refused if there are records and none of them is a page, and NothingRead if all are broken.
    """
    pages = 0
    with closing(run.steps()) as steps:
        for step in steps:
            if isinstance(step.item, Broken):
                broken.note(step.item.place, step.item.reason, is_rest=step.item.is_rest)
                continue
            if step.fault:
                broken.note(step.item.place, step.fault)
            else:
                pages += 1
            yield step
    inputs.check()
    broken.check(pages)


def add_dedup(parser: ArgumentParser) -> None:
    """Add which pages, which of them are kept, and where they go."""
    add_inputs(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="where to write the pages, in the form in which they came (-: standard output; default: nowhere, they"
        " are only counted)",
    )
    parser.add_argument("--clusters", metavar="FILE", help="write the clusters to a file, as cluster does")
    parser.add_argument(
        "--keep",
        choices=KEEP,
        default="first",
        help="which of the pages that repeat each other is kept: the first, the longest, or the one that"
        " SIMHASH_PREFER prefers (default: first)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--drop", dest="mark", action="store_false", help="write the pages that are kept (default)"
    )
    which.add_argument(
        "--mark", action="store_true", help="write all pages, with the verdict in fields of their own"
    )
    parser.set_defaults(mark=False)
    parser.add_argument(
        "--protect", action="store_true", help="keep pages that SIMHASH_PROTECT protects in a crawl"
    )
    add_reading(parser)
    parser.add_argument(
        "--restart", action="store_true", help="begin anew, whatever an interrupted run has left"
    )
    parser.add_argument("--json", action="store_true", help="write the counts as a JSON object")


def run_dedup(options: Namespace) -> int:
    """Judge all pages, write those that are kept, and say how many; return 0, FAILED if a file was cut."""
    config = config_for(options)
    what = options_of(
        options,
        config,
        keep=options.keep,
        protect=options.protect,
        two_pass=options.two_pass,
        with_clusters=options.clusters is not None,
    )
    if options.mark and options.output is None:
        raise Refused("--mark needs --output")
    with reading(options) as (inputs, broken), _journal(options, what) as journal:
        batch = Run(inputs, what, journal=journal, tell=inputs.tell)
        with ExitStack() as stack:
            write = stack.enter_context(_writing(options))
            for step in through(batch, inputs, broken):
                write(step)
            if options.clusters is not None:
                with open_output(options.clusters) as output:
                    output.write(cluster_lines(batch))
        if journal is not None:
            journal.remove()
    wipe()
    facts = {**batch.counts.facts, "passed_over": inputs.passed_over}
    if not options.json:
        facts = {name: number for name, number in facts.items() if number or name in _ALWAYS}
    print(told(facts, options.json), file=sys.stderr if options.output == STDOUT else sys.stdout)
    return broken.status


#: What is told even if it is 0.
_ALWAYS = ("records", "kept", "near_duplicates")


@contextmanager
def _writing(options: Namespace) -> Iterator[Callable[[Step], None]]:
    """Open the output, and yield what writes a record to it, if that is to be there."""
    if options.output is None:
        yield lambda step: None
        return
    with open_writer(options.output, MARKS if options.mark else None) as writer:

        def write(step: Step) -> None:
            if isinstance(step.item, Record) and (options.mark or step.fate is Fate.KEPT):
                writer.write(step.item, step.outcome.fields if options.mark else None)

        yield write


@contextmanager
def _journal(options: Namespace, what: Options) -> Iterator[Journal | None]:
    """Open the journal beside the output, which a run that does not come to its end leaves there."""
    if options.output in (None, STDOUT):
        yield None
        return
    path = Path(f"{options.output.rstrip('/')}.journal")
    with failing(f"write {path}"):
        if options.restart:
            path.unlink(missing_ok=True)
        journal = Journal(path, _facts(options, what))
    if journal.is_resumed and not journal.is_empty:
        warn(f"going on where an interrupted run stopped, by {path}")
    try:
        yield journal
    except BaseException:
        if journal.is_empty:
            journal.remove()
        else:
            wipe()
            say(f"{path} has what was read: the same command goes on from there", sys.stderr)
        raise
    finally:
        journal.close()


def _facts(options: Namespace, what: Options) -> dict[str, Any]:
    """Return all that decides how pages are read: with other values, a journal is of no use."""
    return {
        "scheme": SCHEME,
        "settings": json.dumps(asdict(what.config), sort_keys=True, default=str),
        "inputs": options.inputs,
        "fields": [options.url_field, options.html_field, options.text_field, options.time_field],
        "two_pass": what.two_pass,
        "protect": what.protect,
        "canonical": what.asks_for_canonical,
    }


def add_cluster(parser: ArgumentParser) -> None:
    """Add which pages, and where the clusters go."""
    add_inputs(parser)
    add_output(parser, "the clusters")
    add_reading(parser)


def run_cluster(options: Namespace) -> int:
    """Write every cluster of two pages or more, and return 0; FAILED if a file was not read to its end."""
    what = options_of(options, config_for(options), two_pass=options.two_pass, with_clusters=True)
    with reading(options) as (inputs, broken), open_output(options.output) as output:
        batch = Run(inputs, what, tell=inputs.tell)
        for _ in through(batch, inputs, broken):
            pass
        output.write(cluster_lines(batch))
    return broken.status


def cluster_lines(batch: Run) -> Iterator[str]:
    """Yield a line of JSON for each cluster of a run that is through."""
    for found in batch.clusters():
        facts = {"cluster": found.cluster, "preferred": found.preferred, "members": list(found.members)}
        yield json.dumps(facts) + "\n"


def add_against(parser: ArgumentParser) -> None:
    """Add which store, and which pages."""
    parser.add_argument(
        "place",
        metavar="STORE",
        help="the store: an SQLite file, a URL like redis://host:6379/0?prefix=news, or, in a Scrapy project, the"
        " name of a spider",
    )
    add_inputs(parser)
    add_output(parser, "the verdicts")
    add_settings(parser, "the settings of the store")


def run_against(options: Namespace) -> int:
    """Write a verdict for each page, and return 0; FAILED if a file was not read to its end."""
    place = place_of(options.place, options)
    place.check()
    config = config_for(options, place)
    what = options_of(options, config)
    key = key_function(place, options)

    def key_of(url: str) -> bytes | None:
        with suppress(Refused):
            return key(url)
        # No URL for Scrapy: no crawl has seen it.
        return None

    with (
        reading(options, place.identity) as (inputs, broken),
        place.reading() as store,
        open_output(options.output) as output,
    ):
        judge = Judge(config, store.as_store(), remembers=False, key_of=key_of)
        batch = Run(inputs, what, judge=judge, tell=inputs.tell)
        output.write(map(_verdict_line, through(batch, inputs, broken)))
    return broken.status


def _verdict_line(step: Step) -> str:
    outcome = step.outcome
    fields = {
        name: value for name, value in outcome.fields.items() if value is not None and name != FIELD_KEPT
    }
    return json.dumps({"url": outcome.record.url, **fields}) + "\n"


def add_fingerprint(parser: ArgumentParser) -> None:
    """Add which pages, and what is written of each."""
    add_inputs(parser)
    add_output(parser, "the fingerprints")
    parser.add_argument(
        "--hashes",
        action="store_true",
        help="write only the hash of each page that has one, a line each, as find-all and find-clusters read it",
    )
    parser.add_argument(
        "--scheme",
        metavar="NAME",
        dest="set",
        action="append",
        default=[],
        type="SIMHASH_SCHEME={}".format,
        help="make the fingerprints by this scheme, as --set SIMHASH_SCHEME=NAME does",
    )
    add_settings(parser, "the default settings; in a Scrapy project, its settings")


def run_fingerprint(options: Namespace) -> int:
    """Write a line for each page, and return 0; FAILED if a file was not read to its end."""
    what = options_of(options, config_for(options))
    line = _hash if options.hashes else _line
    with reading(options) as (inputs, broken), open_output(options.output) as output:
        batch = Run(inputs, what, tell=inputs.tell, only_reads=True)
        output.write(map(line, through(batch, inputs, broken)))
    return broken.status


def _line(step: Step) -> str:
    reading = _reading(step)
    fingerprint = reading.fingerprint
    facts = {
        "url": step.page and step.page.url,
        "fingerprint": fingerprint and fingerprint.hex,
        "text_hash": None if reading.text_hash is None else f"{reading.text_hash:016x}",
        "sketch": fingerprint.sketch.hex() if fingerprint is not None and fingerprint.sketch else None,
    }
    return json.dumps(facts) + "\n"


def _hash(step: Step) -> str:
    fingerprint = _reading(step).fingerprint
    return "" if fingerprint is None else f"0x{fingerprint.hex}\n"


def _reading(step: Step) -> Reading:
    """Return what was read of a page, nothing of one that could not be read."""
    return (step.read and step.read.reading) or Reading(None, None)


class Pages:
    """Takes the pages of records into *intake*, read and claimed as in a crawl by *config*.

    *key_of* returns what the page of a URL is known by; it raises Refused for what is none.
    """

    def __init__(self, intake: Intake, config: Config, key_of: Callable[[str], bytes]) -> None:
        self.too_large = 0
        """Pages larger than ``SIMHASH_MAXSIZE``."""
        self.broken = BrokenRecords()
        self._intake = intake
        self._key_of = key_of
        self._now = 0
        self._fingerprinter = PageFingerprinter(config)

    @cached_property
    def _detector(self) -> NearDuplicateDetector:
        """Made when the first page is to be stored, which is when the store is opened."""
        return NearDuplicateDetector(
            self._fingerprinter.config,
            self._intake.store.as_store(),
            clock=lambda: self._now,
            fingerprinter=self._fingerprinter,
        )

    def take_all(self, records: Records, tell: Callable[[int], None]) -> dict[str, int]:
        """Take *records* one after another, and return what became of them; *tell* hears how many it were so far.

        Raises Refused at the end if there are records, but not one of them has the fields of a page.
        """
        read = 0
        try:
            for read, record in enumerate(records, 1):
                if isinstance(record, Broken):
                    self.broken.note(record.place, record.reason, is_rest=record.is_rest)
                else:
                    self._take(record)
                tell(read)
        finally:
            # What was learned about sites since the store was told last.
            if "_detector" in vars(self):
                self._detector.flush()
            self.broken.close()
        if records.complaint:
            raise Refused(records.complaint)
        self.broken.check(read - self.broken.count)
        passed_over = records.passed_over.total()
        return {
            "records": read + passed_over,
            **self._intake.counts,
            "skipped": passed_over + self.too_large,
            "broken": self.broken.count,
        }

    def _take(self, record: Record) -> None:
        maxsize = self._fingerprinter.config.maxsize
        if not record.is_text and 0 < maxsize < len(record.page):
            self.too_large += 1
            return
        try:
            key = self._key_of(record.url)
        except Refused as error:
            self.broken.note(record.place, str(error))
            return
        self._now = int(time.time()) if record.seen is None else record.seen
        reading = self._read(record)
        if reading.text_hash is None:
            self._intake.short += 1  # no store keeps a page that says nothing
            return
        with self._intake.passing_over(record.url):
            verdict = self._detector.conclude(reading, record.url, key=key)
            self._intake.count(
                verdict.last_seen is not None, verdict.duplicate_of, verdict.fingerprint is None
            )

    def _read(self, record: Record) -> Reading:
        """Return what is left of a page, with what the store knows about its site."""
        if isinstance(record.page, str) and record.is_text:
            return self._fingerprinter.read_text(record.page)
        if not self._intake.is_open:
            # A page that says nothing makes no store.
            reading = self._fingerprinter.read(
                record.page, content_type=record.content_type, content_language=record.content_language
            )
            if reading.text_hash is None:
                return reading
        return self._detector.read(
            record.page,
            record.url,
            content_type=record.content_type,
            content_language=record.content_language,
        )
