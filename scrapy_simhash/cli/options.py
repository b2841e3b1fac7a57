"""Settings and fields of feeds on the command line, and what is said about records that are broken."""

from __future__ import annotations

import json
from argparse import Namespace, _ActionsContainer
from collections.abc import Mapping
from typing import TYPE_CHECKING

from scrapy_simhash.cli.progress import warn
from scrapy_simhash.cli.streams import FAILED, NothingRead, Output, Refused
from scrapy_simhash.config import Config, setting_name, setting_names, unknown_settings, unused_settings

if TYPE_CHECKING:
    from scrapy_simhash.cli.places import Place
    from scrapy_simhash.files.records import Fields

#: Broken records that are shown.
SHOWN = 10


def add_settings(parser: _ActionsContainer, default: str) -> None:
    """Add the option that sets them; *default* says what holds without it."""
    parser.add_argument(
        "-s",
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help=f"set a SIMHASH_* setting for reading and comparing pages (default: {default})",
    )


def given_settings(options: Namespace) -> dict[str, str]:
    """Return the settings that were given. Raises Refused for one that does not exist."""
    return dict(map(_setting, options.set))


def blocks_for(settings: Mapping[str, object]) -> dict[str, int]:
    """Return ``SIMHASH_BLOCKS`` for the *settings* of a header, which has none: any above the distance will do.

    >>> blocks_for({"SIMHASH_MAX_DISTANCE": 9}), blocks_for({})
    ({'SIMHASH_BLOCKS': 10}, {})
    """
    distance = settings.get(setting_name("max_distance"))
    return {setting_name("blocks"): max(Config.blocks, distance + 1)} if isinstance(distance, int) else {}


def config_for(options: Namespace, place: Place | None = None) -> Config:
    """Return the settings by which pages are read and compared, for the store at *place* if there is one.

    Those of the project; without a project, those that were given, and beside them those of the store.
    """
    if options.project is not None:
        config: Config = options.project.config if place is None else options.project.config_for(place)
        return config
    header = place and place.header()
    held = {**header.settings, **blocks_for(header.settings)} if header else {}
    return config_of(given_settings(options), held)


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
        resembled = unknown_settings({name: value}).get(name)
        hint = f"; did you mean {resembled}?" if resembled else ""
        raise Refused(f"{name} is not a setting of scrapy-simhash{hint}")
    return name, value


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
