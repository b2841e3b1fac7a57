"""Fields of feeds on the command line, and what is said about records that are broken."""

from __future__ import annotations

import json
from argparse import Namespace, _ActionsContainer
from typing import TYPE_CHECKING

from scrapy_simhash.cli.failures import FAILED, NothingRead
from scrapy_simhash.cli.output import Output
from scrapy_simhash.cli.progress import warn

if TYPE_CHECKING:
    from scrapy_simhash.files.records import Fields

#: Broken records that are shown.
SHOWN = 10


def add_fields(parser: _ActionsContainer) -> None:
    """Add what the fields with URL, page and time are called."""
    parser.add_argument(
        "--html-field",
        metavar="NAME",
        help="name of the field or column with the HTML of a page (default: html, body or content)",
    )
    parser.add_argument(
        "--text-field",
        metavar="NAME",
        help="name of the field with the text of a page, where there is no HTML (default: text, body or content)",
    )
    parser.add_argument("--url-field", metavar="NAME", help="name of the field with the URL (default: url)")
    parser.add_argument(
        "--time-field", metavar="NAME", help="name of the field with the time of the fetch (default: fetched)"
    )


def fields_of(options: Namespace) -> Fields:
    """Return the names that were given."""
    # What reads pages takes longer to import than a help takes to read.
    from scrapy_simhash.files.records import Fields

    return Fields(options.url_field, options.html_field, options.text_field, options.time_field)


class BrokenRecords:
    """Tells of records that are broken: the first ones as warnings, all of them in *output* if there is one."""

    def __init__(self, output: Output | None = None) -> None:
        self._output = output
        self.count = 0
        #: The exit status: FAILED if a file was not read to its end. Other broken records are counted.
        self.status = 0

    def note(self, place: str, reason: str, *, is_rest: bool = False) -> None:
        """Tell of a record, or of the rest of a file."""
        self.count += 1
        if is_rest:
            self.status = FAILED
        if self.count <= SHOWN:
            warn(ascii(f"{place}: {reason}")[1:-1])
        if self._output is not None:
            self._output.write([f"{json.dumps({'place': place, 'reason': reason})}\n"])

    def check(self, pages: int) -> None:
        """Raise NothingRead if nothing but broken records was read: *pages* is how many were not."""
        if self.count and not pages:
            raise NothingRead("no page could be read")

    def close(self) -> None:
        """Tell how many more there were."""
        if self.count > SHOWN:
            where = "" if self._output is None else ", all of them are in the file of --broken"
            warn(f"{self.count - SHOWN:,} more records could not be read{where}")
        if self.status:
            warn("a file could not be read to its end: what was read up to there is in the results")
