"""Pages as inputs of a command: what names them, how they are read, and what is said about those that are broken."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from scrapy_simhash.cli.failures import Failed, NothingRead, Refused
from scrapy_simhash.cli.fields import BrokenRecords, add_fields, fields_of
from scrapy_simhash.cli.input import STDIN
from scrapy_simhash.cli.output import STDOUT, check_outputs, opened
from scrapy_simhash.cli.progress import Progress
from scrapy_simhash.cli.settings import add_settings, config_of, given_settings
from scrapy_simhash.config import Config
from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.batch import JournalMismatch, Options, RecordsChanged, Run, Step, WorkerDied
from scrapy_simhash.files.records import Broken, Record, Records, read


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


def config_for(options: Namespace) -> Config:
    """Return the settings by which pages are read and compared: those of the project, or those that were given."""
    if options.project is not None:
        config: Config = options.project.config
        return config
    return config_of(given_settings(options), {})


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
            output = stack.enter_context(opened(options.broken)) if options.broken else None
            broken = BrokenRecords(output)
            stack.callback(broken.close)
            yield inputs, broken
        except NothingRead as error:
            # What is broken is written all the same, to the file of --broken.
            nothing = error
        except KindError as error:
            raise Refused(str(error)) from error
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
