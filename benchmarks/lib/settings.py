"""Settings on the command line of a benchmark: ``-s NAME=VALUE``, as in Scrapy's commands."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable

from scrapy_simhash.config import unknown_settings


def add_settings(parser: ArgumentParser) -> None:
    """Add the option that settings_of() reads."""
    parser.add_argument(
        "-s",
        dest="settings",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="set a SIMHASH_ setting",
    )


def settings_of(given: Iterable[str]) -> dict[str, str]:
    """Return the settings *given* as ``NAME=VALUE``. Raises ValueError for an unknown name."""
    settings = {name: value for name, _, value in (one.partition("=") for one in given)}
    for name in settings:
        if not name.startswith("SIMHASH_") or unknown_settings({name: ""}):
            raise ValueError(f"-s {name}: no such setting")
    return settings
