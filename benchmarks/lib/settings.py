"""Settings on the command line of a benchmark: ``-s NAME=VALUE``, as with Scrapy's own commands."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable

from scrapy_simhash import Config
from scrapy_simhash.config import unknown_settings


def add_settings(parser: ArgumentParser) -> None:
    """Add the option, for config_of()."""
    parser.add_argument(
        "-s",
        dest="settings",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="set a SIMHASH_ setting",
    )


def config_of(settings: Iterable[str]) -> Config:
    """Return the config of *settings*, each ``NAME=VALUE``; what they leave out is default.

    Raises SettingError for a wrong value, ValueError for a name that is no setting.

    >>> config_of(["SIMHASH_RULE=classic"]).rule
    'classic'
    """
    given = {name: value for name, _, value in (one.partition("=") for one in settings)}
    for name in given:
        if not name.startswith("SIMHASH_") or unknown_settings({name: ""}):
            raise ValueError(f"-s {name}: no such setting")
    return Config.from_settings(given)
