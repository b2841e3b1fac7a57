"""Settings on the command line, as in ``settings.py``."""

from __future__ import annotations

from argparse import Namespace, _ActionsContainer
from collections.abc import Mapping

from scrapy_simhash.cli.failures import Refused
from scrapy_simhash.cli.progress import warn
from scrapy_simhash.config import Config, setting_names, unknown_settings, unused_settings


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
