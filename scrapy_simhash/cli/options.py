"""Options shared by subcommands: inputs with pages, their fields, settings, and the output as JSON or HTML."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _ActionsContainer
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from scrapy_simhash.cli.kinds import check_pages
from scrapy_simhash.cli.streams import (
    FAILED,
    STDIN,
    Refused,
    add_options,
    bar,
    check_outputs,
    check_stdin,
    open_output,
    warn,
    write_lines,
)
from scrapy_simhash.config import Config, setting_names, unknown_settings
from scrapy_simhash.exceptions import FileError

if TYPE_CHECKING:
    from scrapy_simhash.cli.stores import Place
    from scrapy_simhash.files.batch import Options, Run
    from scrapy_simhash.files.batch.page import Step
    from scrapy_simhash.files.records import Broken, Fields, Record, Records

#: Max broken records that are shown.
SHOWN = 10
#: The formats of inputs with pages.
KINDS = (
    "a folder, a file of HTML, JSON Lines, JSON, CSV, Parquet, WARC or WACZ, compressed or not, a pattern, or a URL"
    " such as s3://bucket/pages.jsonl.gz or zip://*.html::pages.zip"
)
#: The values of --format. Importing them from the module that reads pages would slow down help.
FORMATS = ("jsonl", "json", "csv", "parquet", "warc", "wacz", "html")


def add_json(parser: _ActionsContainer, what: str = "write a JSON object") -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help=what)


def add_html(parser: _ActionsContainer) -> None:
    """Add ``--html``, see `write_html`."""
    add_options(parser, {"--html FILE": "write a page of HTML to a file instead (-: standard output)"})


def write_html(options: Namespace, page: str) -> int:
    """Write *page* to the file of ``--html``, and return 0."""
    with open_output(options.html) as output:
        write_lines(output, [page])
    return 0


# --- Settings.


def add_settings(
    parser: _ActionsContainer, default: str = "the default settings; in a Scrapy project, its settings"
) -> None:
    """Add ``--set``; *default* describes the settings without this option."""
    parser.add_argument(
        "-s",
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help=f"a SIMHASH_* setting for reading and comparing pages; may be repeated (default: {default})",
    )


def given_settings(options: Namespace) -> dict[str, str]:
    """Return the settings of ``--set``. Raises Refused for an unknown setting."""
    return dict(map(_setting, getattr(options, "set", ())))


def config_for(options: Namespace, place: Place | None = None) -> Config:
    """Return the settings to read and compare pages, for the store at *place* if it exists.

    In a project, these are the settings of the project. Otherwise they are those of ``--set``, and for all other
    settings those of the store.
    """
    if options.project is not None:
        config: Config = options.project.config_for(place)
        return config
    header = place and place.header()
    return config_of(given_settings(options), header.settings if header else {})


def config_of(given: Mapping[str, str], held: Mapping[str, object]) -> Config:
    """Return the *given* settings, and for all other settings those *held* by a store."""
    return Config.from_settings({**held, **given})


def _setting(given: str) -> tuple[str, str]:
    """Return the name and the value of a setting, or raise Refused."""
    name, equals, value = given.partition("=")
    if not equals:
        raise Refused(f"--set takes NAME=VALUE, got {given!r}")
    if name not in setting_names():
        Config.from_settings({name: value})  # raises an error that names the replacement of a removed setting
        other = f"{name} is not a setting of scrapy-simhash, whose names begin with SIMHASH_"
        raise Refused(unknown_settings({name: value}).get(name, other))
    return name, value


# --- Inputs with pages.

#: For each option ``--<name>-field``, the content of the field, and the default names.
FIELDS = {
    "url": ("the URL", "url"),
    "html": ("the HTML of a page", "html, body or content"),
    "text": ("the text of a page, if there is no HTML", "text, body or content"),
    "time": ("the time of the fetch", "fetched"),
}


def add_fields(parser: _ActionsContainer) -> None:
    """Add arguments for the names of the fields with URL, page and time, and ``--format``."""
    for name, (what, default) in FIELDS.items():
        text = f"name of the field or column with {what} (default: {default})"
        add_options(parser, {f"--{name}-field NAME": text})
    parser.add_argument(
        "--format",
        choices=FORMATS,
        metavar="KIND",
        help=f"format of the inputs: {', '.join(FORMATS)} (default: from the file"
        " extension; jsonl for standard input)",
    )


def fields_of(options: Namespace) -> Fields:
    """Return the field names that the options set."""
    # Imported here, because help does not read pages.
    from scrapy_simhash.files.records import Fields

    return Fields(options.url_field, options.html_field, options.text_field, options.time_field)


def add_inputs(parser: ArgumentParser) -> None:
    """Add arguments for inputs with pages, and their format."""
    parser.add_argument("inputs", metavar="INPUT", nargs="+", help=f"pages: {KINDS} (-: standard input)")
    add_fields(parser)
    parser.add_argument(
        "--processes",
        metavar="NUMBER",
        type=int,
        default=1,
        help="number of processes that read pages; it does not affect the results (default: 1)",
    )
    add_settings(parser)


def batch_options(options: Namespace, config: Config, **more: object) -> Options:
    """Return the options of a run over the inputs. Raises Refused for an impossible combination."""
    from scrapy_simhash.files.batch import Options

    try:
        run = Options(config, processes=options.processes, **more)  # type: ignore[arg-type]  # checked there
    except ValueError as error:
        raise Refused(f"--{error}") from None
    check_stdin(*options.inputs)
    if run.reads_twice and STDIN in options.inputs:
        raise Refused("--two-pass and --keep read the input twice: name a file, not standard input")
    return run


class Inputs:
    """The inputs of a subcommand. Each call returns all records from the beginning."""

    def __init__(self, options: Namespace, *places: str) -> None:
        """Check the inputs, and check that no output replaces an input or a store at one of *places*."""
        check_outputs(options, [*options.inputs, *places])
        if options.format is None:
            check_pages(options.inputs)
        self._options = options
        self._is_begun = False
        #: The records. Inputs are opened at once, so that a missing input is reported before an output is opened.
        self.records = self._opened()
        self.broken = BrokenRecords()

    def _opened(self) -> Records:
        from scrapy_simhash.files.records import read

        return read(self._options.inputs, fields_of(self._options), self._options.format)

    def __call__(self) -> Iterator[Record | Broken]:
        """Return all records."""
        if self._is_begun:
            self.records.close()
            self.records = self._opened()
        self._is_begun = True
        return iter(bar(self.records, "reading"))

    def through(self, run: Run) -> Iterator[Step]:
        """Yield the records of *run* that are not broken, and report broken records.

        At the end, raises Refused if no record is a page, and FileError if all records are broken.
        """
        try:
            with closing(run.steps()) as steps:
                for step in steps:
                    if step.page is None:
                        self.broken.note(step.item)  # type: ignore[arg-type]  # only broken records have no page
                        continue
                    if step.fault:
                        self.broken.say(step.item.place, step.fault)
                    yield step
            self.broken.check(self.records, run.counts.records > self.broken.count)
        finally:
            self.records.close()
            self.broken.close()


class BrokenRecords:
    """Counts unusable records, and shows the first of them as warnings."""

    def __init__(self) -> None:
        self.count = 0
        #: The exit status: FAILED if a file was not read to the end. Other broken records are counted.
        self.status = 0

    def note(self, broken: Broken) -> None:
        """Report a record, or the rest of a file."""
        if broken.is_rest:
            self.status = FAILED
        self.say(broken.place, broken.reason)

    def say(self, place: str, reason: str) -> None:
        """Report why the record at *place* is unusable."""
        self.count += 1
        if self.count <= SHOWN:
            warn(ascii(f"{place}: {reason}")[1:-1])

    def check(self, records: Records, has_pages: bool) -> None:
        """Raise Refused if no record has the fields of a page, and FileError if all records are broken."""
        if records.complaint:
            raise Refused(records.complaint)
        if self.count and not has_pages:
            raise FileError("no page could be read")

    def close(self) -> None:
        """Report the number of broken records that were not shown."""
        if self.count > SHOWN:
            warn(f"{self.count - SHOWN:,} more records could not be read")
        if self.status:
            warn("a file could not be read to the end: the results contain only the records before the error")
