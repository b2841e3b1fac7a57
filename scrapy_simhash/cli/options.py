"""What several verbs take: inputs with pages, their fields, settings, and what is said about broken records."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace, _ActionsContainer
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from scrapy_simhash.cli.streams import (
    FAILED,
    STDIN,
    NothingRead,
    Output,
    Progress,
    Refused,
    check_outputs,
    open_output,
    warn,
)
from scrapy_simhash.config import Config, setting_names, unknown_settings, unused_settings
from scrapy_simhash.exceptions import FileError

if TYPE_CHECKING:
    from scrapy_simhash.cli.stores import Place
    from scrapy_simhash.files.batch import Options, Run
    from scrapy_simhash.files.batch.page import Step
    from scrapy_simhash.files.records import Broken, Fields, Record, Records

#: Broken records that are shown.
SHOWN = 10
#: What an input with pages may be.
KINDS = (
    "a folder, a file of HTML, JSON Lines, JSON, CSV, Parquet, WARC or WACZ, compressed or not, a pattern, or a URL"
    " such as s3://bucket/pages.jsonl.gz or zip://*.html::pages.zip"
)
#: The kinds that --format takes: the endings of names. What reads them takes long to import.
FORMATS = ("jsonl", "json", "csv", "parquet", "warc", "wacz", "html")


def add_json(parser: _ActionsContainer, what: str = "write a JSON object") -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help=what)


def add_html(parser: ArgumentParser) -> None:
    """Add ``--html``: see `write_html`."""
    parser.add_argument(
        "--html", metavar="FILE", help="write a page of HTML to a file instead (-: standard output)"
    )


def add_settings(
    parser: _ActionsContainer, default: str = "the default settings; in a Scrapy project, its settings"
) -> None:
    """Add the option that sets them; *default* says what holds without it."""
    parser.add_argument(
        "-s",
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help=f"set a SIMHASH_* setting for reading and comparing pages; may be repeated (default: {default})",
    )


def given_settings(options: Namespace) -> dict[str, str]:
    """Return the settings that were given. Raises Refused for one that does not exist."""
    return dict(map(_setting, getattr(options, "set", ())))


def config_for(options: Namespace, place: Place | None = None) -> Config:
    """Return the settings by which pages are read and compared, for the store at *place* if there is one.

    Those of the project; without a project, those that were given, and beside them those of the store.
    """
    if options.project is not None:
        config: Config = options.project.config if place is None else options.project.config_for(place)
        return config
    header = place and place.header()
    return config_of(given_settings(options), header.settings if header else {})


def config_of(given: Mapping[str, str], held: Mapping[str, object]) -> Config:
    """Return the settings that were *given*, and beside them those *held* by a store; warn of unused ones."""
    for name, sentence in unused_settings({**held, **given}).items():
        if name in given:
            warn(sentence)
    return Config.from_settings({**held, **given})


def _setting(given: str) -> tuple[str, str]:
    """Return name and value of a setting, or raise Refused."""
    name, equals, value = given.partition("=")
    if not equals:
        raise Refused(f"--set takes NAME=VALUE, got {given!r}")
    if name not in setting_names():
        Config.from_settings({name: value})  # says what to write in the place of one that there was before
        raise Refused(unknown_settings({name: value}).get(name, f"{name} is not a setting of scrapy-simhash"))
    return name, value


#: What the options for the fields of a record are called, what they name, and what they are by default.
FIELDS = {
    "url": ("the URL", "url"),
    "html": ("the HTML of a page", "html, body or content"),
    "text": ("the text of a page, where there is no HTML", "text, body or content"),
    "time": ("the time of the fetch", "fetched"),
}


def add_fields(parser: _ActionsContainer) -> None:
    """Add what the fields with URL, page and time are called."""
    for name, (what, default) in FIELDS.items():
        parser.add_argument(
            f"--{name}-field",
            metavar="NAME",
            help=f"name of the field or column with {what} (default: {default})",
        )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        metavar="KIND",
        help=f"kind of the inputs, whatever they are called: {', '.join(FORMATS)} (default: by the ending of the"
        " name; jsonl for standard input)",
    )


def fields_of(options: Namespace) -> Fields:
    """Return the names that were given."""
    # What reads pages takes longer to import than a help takes to read.
    from scrapy_simhash.files.records import Fields

    return Fields(options.url_field, options.html_field, options.text_field, options.time_field)


def add_inputs(parser: ArgumentParser) -> None:
    """Add which pages are read, and how."""
    parser.add_argument(
        "inputs", metavar="INPUT", nargs="+", help=f"where pages are: {KINDS} (-: standard input)"
    )
    add_fields(parser)
    parser.add_argument(
        "--processes",
        metavar="NUMBER",
        type=int,
        default=1,
        help="processes that read pages, each host in one of them; any number gives the same results (default: 1)",
    )
    parser.add_argument(
        "--broken",
        metavar="FILE",
        help="write each record that cannot be read or lacks a field to a file of JSON Lines",
    )
    add_settings(parser)


def batch_options(options: Namespace, config: Config, **more: object) -> Options:
    """Return what a run over the inputs is to do. Raises Refused for what cannot be done."""
    from scrapy_simhash.files.batch import Options

    try:
        run = Options(config, processes=options.processes, **more)  # type: ignore[arg-type]  # checked there
    except ValueError as error:
        raise Refused(f"--{error}") from None
    if options.inputs.count(STDIN) > 1:
        raise Refused("standard input can be read once only")
    if run.reads_twice and STDIN in options.inputs:
        raise Refused("--two-pass, --keep and --copies read the input twice: give a file, not standard input")
    return run


class Inputs:
    """The inputs of one verb, to be read from the beginning each time that they are called."""

    def __init__(self, options: Namespace, progress: Progress) -> None:
        from scrapy_simhash.files.records import read

        self._read: Callable[[], Records] = partial(read, options.inputs, fields_of(options), options.format)
        self._progress = progress
        self._tells: dict[str, Callable[[int], None]] = {}
        # Now: what is not there is said before an output is opened.
        self._records = self._read()
        self._is_begun = False

    def tell_passed_over(self, broken: BrokenRecords) -> None:
        """Write what is no page for the want of a field to the file of --broken, the first time that it is read."""
        self._records.on_passed_over = lambda one: broken.write(one.place, one.reason) if one.names else None

    def __call__(self) -> Iterator[Record | Broken]:
        """Return all records."""
        if self._is_begun:
            self._records.close()
            self._records = self._read()
        self._is_begun = True
        return self._records

    def tell(self, doing: str, number: int) -> None:
        """Show that so many records are through *doing*."""
        tell = self._tells.get(doing)
        if tell is None:
            tell = self._tells[doing] = self._progress.counting(doing)
        tell(number)

    @property
    def records(self) -> Records:
        """What is read now."""
        return self._records


@contextmanager
def reading(options: Namespace, *places: str) -> Iterator[tuple[Inputs, BrokenRecords]]:
    """Open inputs, and what is said about them. What goes wrong in a batch ends the verb in a sentence.

    *places* of stores are read too: no output may replace one.
    """
    from scrapy_simhash.files.batch import RecordsChanged, WorkerDied

    check_outputs(options, [*options.inputs, *places])
    nothing: NothingRead | None = None
    with ExitStack() as stack:
        progress = stack.enter_context(Progress())
        try:
            inputs = Inputs(options, progress)
            stack.callback(lambda: inputs.records.close())
            output = stack.enter_context(open_output(options.broken)) if options.broken else None
            broken = BrokenRecords(output, "; --broken FILE writes all of them")
            inputs.tell_passed_over(broken)
            stack.callback(broken.close)
            yield inputs, broken
        except NothingRead as error:
            # What is broken is written all the same, to the file of --broken.
            nothing = error
        except (RecordsChanged, WorkerDied) as error:
            raise FileError(str(error)) from error
    if nothing is not None:
        raise nothing


def through(run: Run, inputs: Inputs, broken: BrokenRecords) -> Iterator[Step]:
    """Yield the records of *run* that are not broken, and tell of the others.

    At the end it raises Refused if there are records and none of them is a page, and NothingRead if all are broken.
    """
    pages = 0
    with closing(run.steps()) as steps:
        for step in steps:
            if step.page is None:
                broken.note(step.item)  # type: ignore[arg-type]  # only broken records have no page
                continue
            if step.fault:
                broken.say(step.item.place, step.fault)
            else:
                pages += 1
            yield step
    broken.check(inputs.records, pages)


class BrokenRecords:
    """Tells of records that are broken: the first ones as warnings, all of them in *output* if there is one."""

    def __init__(self, output: Output | None = None, advice: str = "") -> None:
        """*advice* is said of further records if there is no output."""
        self._output = output
        self._advice = advice
        self.count = 0
        #: The exit status: FAILED if a file was not read to its end. Other broken records are counted.
        self.status = 0

    def note(self, broken: Broken) -> None:
        """Tell of a record, or of the rest of a file."""
        if broken.is_rest:
            self.status = FAILED
        self.say(broken.place, broken.reason)

    def say(self, place: str, reason: str) -> None:
        """Tell why the record at *place* could not be used."""
        self.count += 1
        if self.count <= SHOWN:
            warn(ascii(f"{place}: {reason}")[1:-1])
        self.write(place, reason)

    def write(self, place: str, reason: str) -> None:
        """Write a line to the output, if there is one."""
        if self._output is not None:
            self._output.write([f"{json.dumps({'place': place, 'reason': reason})}\n"])

    def check(self, records: Records, pages: int) -> None:
        """Raise Refused if no record has the fields of a page, NothingRead if all are broken: *pages* are not."""
        if records.complaint:
            raise Refused(records.complaint)
        if self.count and not pages:
            raise NothingRead("no page could be read")

    def close(self) -> None:
        """Tell how many more there were."""
        if self.count > SHOWN:
            where = self._advice if self._output is None else ", all of them are in the file of --broken"
            warn(f"{self.count - SHOWN:,} more records could not be read{where}")
        if self.status:
            warn("a file could not be read to its end: what was read up to there is in the results")
