"""What a setting may hold, as settings files, the command line and their JSON write it."""

from __future__ import annotations

import json
import os.path
import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from operator import index
from os import PathLike, fspath
from typing import Any, cast

from scrapy_simhash.action import ACTIONS, Action
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.times import duration

PREFIX = "SIMHASH_"
#: Settings whose value is an action, or several, or somebody's own.
ACTION_SETTINGS = ("action", "exact_action", "revisit_action")
#: Settings that name one field of items.
FIELD_SETTINGS = ("item_field", "item_mark", "item_key")
#: Names with dots between, and URLs by IP. With a scheme, say, it would equal no host, unnoticed.
_DOMAIN = re.compile(r"\.?[\w-]+(\.[\w-]+)*\.?|[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*", re.ASCII | re.IGNORECASE)
_ACTION = f"must be one of {', '.join(ACTIONS)}, several of them, or the import path of a class"
_WEIGHTS = "must be a list of fields, or a dictionary of fields and whole numbers above 0"
_RECRAWL = (
    "must be an age such as 7d, auto, lastmod or always, or a dictionary (JSON on the command line) of regular"
    " expressions for URLs and one of these"
)
AGE = "must be a number with a unit (s, m, h, d, w), such as 30d"
TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}


def checked(name: str, default: object, value: object) -> object:
    """Return *value* as the type of *default*, read from a string where it is one."""
    if isinstance(default, bool):
        text = str(value).strip().lower()
        require(isinstance(value, bool) or text in TRUE | FALSE, name, "must be True or False", value)
        return text in TRUE
    if isinstance(default, int):
        try:
            number = int(value) if isinstance(value, str) else index(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = None
        require(number is not None and not isinstance(value, bool), name, "must be a whole number", value)
        return number
    if isinstance(default, float):
        try:
            share = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            share = None
        require(share is not None and not isinstance(value, bool), name, "must be a number", value)
        return share
    if name == "item_fields":
        return _weights(value)
    if name == "recrawl":
        return _ages(value)
    if isinstance(default, tuple):
        return _words(name, value)
    if name in ACTION_SETTINGS:
        value = _json_list(value)
        if isinstance(value, list | tuple | set | frozenset):
            # An empty one would read as None where that is allowed, and None may drop what "mark" keeps.
            require(bool(value), name, _ACTION, value)
            value = ",".join(_words(name, value, _ACTION))
    if name in FIELD_SETTINGS:
        require(
            value is None or value == "" or is_field(value),
            name,
            f"must be the name of one field (the fields to compare go into {PREFIX}ITEM_FIELDS)",
            value,
        )
    if default is None:
        if isinstance(value, PathLike):
            # With its separator at the end, "seen" too is a folder.
            value = os.path.join(fspath(value), "") if name == "store" else fspath(value)  # noqa: PTH118
        require(value is None or isinstance(value, str), name, "must be a string", value)
        return value or None
    require(isinstance(value, str), name, "must be a string", value)
    return value


def _words(name: str, value: object, what: str = "must be a list of strings") -> tuple[str, ...]:
    """Return *value* as a list: what is in one, or in its JSON, or the words of a string with commas between."""
    value = _json_list(value)
    if isinstance(value, str):
        value = [word.strip() for word in value.split(",") if word.strip()]
    require(isinstance(value, list | tuple | set | frozenset), name, what, value)
    words = list(cast("Iterable[Any]", value))
    require(all(isinstance(word, str) for word in words), name, what, value)
    return tuple(sorted(words) if isinstance(value, set | frozenset) else words)


def _json_list(value: object) -> object:
    """Return the list of which *value* is the JSON, or *value*.

    Only one of strings, for ``[0]`` may be a pattern. As one, ``["/print/"]`` would match nearly every URL.
    """
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    try:
        words = json.loads(value)
    except ValueError:
        return value
    return words if all(isinstance(word, str) for word in words) else value


def _weights(value: object) -> tuple[tuple[str, int], ...]:
    """Return fields and how much they count: of ``{"title": 3, "body": 1}``, of its JSON, or of a list of fields."""
    given = value
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            require(False, "item_fields", _WEIGHTS, given)
    if isinstance(value, Mapping):
        pairs = tuple(value.items())
    elif isinstance(value, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
        pairs = value  # as it is kept
    else:
        pairs = tuple((field, 1) for field in _words("item_fields", value, _WEIGHTS))
    for field, weight in pairs:
        is_weight = isinstance(weight, int) and not isinstance(weight, bool) and weight > 0
        require(is_field(field) and is_weight, "item_fields", _WEIGHTS, given)
    return pairs


def _ages(value: object) -> tuple[tuple[str, str], ...]:
    """Return patterns of URLs and ages: of a dictionary, of its JSON, or of one age for all."""
    given = value
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            require(False, "recrawl", _RECRAWL, given)
    if isinstance(value, Mapping):
        pairs = tuple(value.items())
    elif isinstance(value, tuple):
        pairs = value  # as it is kept
    else:
        pairs = (("", value),) if value else ()
    for pattern, age in pairs:
        is_known = isinstance(age, str) and (age in ("always", "auto", "lastmod") or is_age(age))
        require(isinstance(pattern, str) and is_pattern(pattern) and is_known, "recrawl", _RECRAWL, given)
    return pairs


def is_age(value: str) -> bool:
    """Tell whether *value* is a number of seconds, minutes, hours, days or weeks with its unit."""
    try:
        duration(value)
    except ValueError:
        return False
    return True


def check_action(name: str, value: str | None) -> None:
    """Raise SettingError unless *value*, of the setting *name*, is None, words for an action, or an import path."""
    if value is None or is_path(value):
        return
    try:
        Action.named(value)
    except ValueError:
        require(False, name, _ACTION, value)


def is_path(value: str) -> bool:
    """Tell whether *value* may be the import path of something."""
    return "." in value and all(part.isidentifier() for part in value.split("."))


def is_field(value: object) -> bool:
    """Tell whether *value* is the name of one field of items, and no list of them in any notation.

    >>> is_field("near-duplicate"), is_field("title, body"), is_field('["title"]'), is_field(["title"])
    (True, False, False, False)
    """
    return (
        isinstance(value, str)
        and bool(value)
        and value == value.strip()
        and value.isprintable()
        and "," not in value
        and value[0] not in "[({"
    )


def is_pattern(value: str) -> bool:
    """Tell whether *value* is a regular expression."""
    try:
        re.compile(value)
    except re.error:
        return False
    return True


def is_domain(value: str) -> bool:
    """Tell whether *value* can be the host of a URL, or what one ends in."""
    return bool(_DOMAIN.fullmatch(value.strip()))


def loopback(value: str) -> tuple[str, int] | None:
    """Return the IP and the port in *value* if only this machine can reach them, else None.

    >>> loopback("127.0.0.1:0"), loopback("localhost:8000"), loopback("[::1]:8000"), loopback("0.0.0.0:8000")
    (('127.0.0.1', 0), ('127.0.0.1', 8000), ('::1', 8000), None)
    """
    host, _, port = value.rpartition(":")
    host = "127.0.0.1" if host == "localhost" else host
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    try:
        is_here = ip_address(host).is_loopback
    except ValueError:
        return None
    # An IP with a zone behind it is none of a loopback.
    if not is_here or "%" in host or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65_535:
        return None
    return host, int(port)


def setting_name(field: str) -> str:
    """Return the setting behind a *field* of ``Config``."""
    return PREFIX + field.upper()


def require(fulfilled: bool, name: str, what: str, value: object) -> None:
    """Raise SettingError with the setting, *what* it must be and its value, unless that is *fulfilled*."""
    if not fulfilled:
        raise SettingError(f"{setting_name(name)} {what}, got {value!r}")
