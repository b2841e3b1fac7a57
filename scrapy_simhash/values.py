"""Readers of setting values, from settings files, the command line and JSON.

A reader takes a value in any of these forms and returns the form that `Config` stores, which it also accepts. For a
wrong value it raises ValueError with the requirement, and with the wrong part of the value if only a part is wrong.
"""

from __future__ import annotations

import json
import os.path
import re
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from operator import index
from os import PathLike, fspath
from typing import Any

from scrapy_simhash.action import ACTIONS, Action
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.times import duration

Reader = Callable[[Any], Any]

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}
_WEIGHTS = "must be a list of fields, or a dictionary of fields and whole numbers above 0"
_FIELD = "must be the name of one field (the fields to compare go into SIMHASH_ITEM_FIELDS)"


def switch(value: Any) -> bool:
    """Read a boolean, or a word such as ``yes`` or ``off``."""
    text = str(value).strip().lower()
    if not isinstance(value, bool | int | str) or text not in TRUE | FALSE:
        raise ValueError("must be True or False")
    return text in TRUE


def whole(least: int, most: int | None = None, *, of: str) -> Reader:
    """Return the reader of a whole number from *least* to *most*; *of* is its unit, for messages."""
    what = f"must be a whole number of {of}, {least}" + (" or more" if most is None else f" to {most:,}")

    def read(value: Any) -> int:
        try:
            number = int(value) if isinstance(value, str) else index(value)
        except (TypeError, ValueError):
            raise ValueError(what) from None
        if isinstance(value, bool) or number < least or (most is not None and number > most):
            raise ValueError(what)
        return number

    return read


def share(value: Any) -> float:
    """Read a number above 0 and at most 1."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if isinstance(value, bool) or not 0 < number <= 1:
        raise ValueError("must be a number above 0 and at most 1")
    return number


def one_of(words: Collection[str], *, or_path_of: str = "") -> Reader:
    """Return the reader of one of *words*, or of an import path of *or_path_of*, such as ``a function``."""
    what = f"must be one of {', '.join(words)}" + (or_path_of and f", or the import path of {or_path_of}")

    def read(value: Any) -> str:
        if not isinstance(value, str) or not (value in words or (or_path_of and is_path(value))):
            raise ValueError(what)
        return value

    return read


def list_of(what: str, is_right: Callable[[str], bool] = bool) -> Reader:
    """Return a reader that accepts a list of *what*, its JSON, or a single entry.

    A string is not split, since it may contain commas. A list in Python notation is refused: as a regular expression
    it would be a character set that matches nearly every URL.
    """
    wrong = f"must be a list of {what}, or one of them"

    def read(value: Any) -> tuple[str, ...]:
        given = _from_json(value)
        if isinstance(given, str) and _LIST.match(given):
            raise ValueError(f'must be one of the {what}, or a JSON list of them, such as ["/a/", "/b/"]')
        if isinstance(given, str):
            given = [given.strip()] if given.strip() else []
        if not isinstance(given, list | tuple | set | frozenset):
            raise ValueError(wrong)
        for part in given:
            if not isinstance(part, str):
                raise ValueError(wrong)
            if not is_right(part):
                raise ValueError(wrong, part)
        return tuple(sorted(given) if isinstance(given, set | frozenset) else given)

    return read


_LIST = re.compile(r"\s*\[\s*['\"]")


def some_of(words: Collection[str]) -> Reader:
    """Return the reader of a list whose entries are among *words*."""
    return list_of(f"words {', '.join(words)}", lambda word: word in words)


def action(value: Any) -> str:
    """Read the name of an action, or several names."""
    what = f"must be one of {', '.join(ACTIONS)}, or several of them; SIMHASH_POLICY takes the import path of a class"
    words = _from_json(value)
    try:
        # Refuse an empty list. As None, it could drop pages that "mark" keeps.
        if not words:
            raise ValueError
        Action.named(words)
    except ValueError:
        raise ValueError(what) from None
    return words if isinstance(words, str) else ",".join(sorted(words) if isinstance(words, set) else words)


def actions(value: Any) -> str | tuple[tuple[str, str], ...]:
    """Read an action, or a dictionary (or its JSON) of URL patterns and actions."""
    given = _from_json(value)
    is_kept = isinstance(given, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in given)
    if not isinstance(given, Mapping) and not (is_kept and given):
        return action(value)
    pairs = tuple(dict(given).items())
    if not pairs or not all(is_pattern(pattern) for pattern, _ in pairs):
        raise ValueError("must be an action, or a dictionary that maps URL patterns to actions")
    return tuple((pattern, action(one)) for pattern, one in pairs)


def text(value: Any) -> str:
    """Read a string or a path."""
    if isinstance(value, PathLike):
        value = fspath(value)
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def place(value: Any) -> str:
    """Read the place of a store. A Path such as ``Path("seen")`` is a folder, so a separator is added."""
    return text(os.path.join(value, "") if isinstance(value, PathLike) else value)  # noqa: PTH118


def field(value: Any) -> str:
    """Read the name of one item field; a list is refused."""
    is_name = isinstance(value, str) and value and value == value.strip() and value.isprintable()
    if not is_name or "," in value or value[0] in "[({":
        raise ValueError(_FIELD)
    return str(value)


_weight = whole(1, of="features")


def weights(value: Any) -> tuple[tuple[str, int], ...]:
    """Read fields and their weights: a dictionary, its JSON, or a list of fields."""
    given = _from_json(value)
    if isinstance(given, Mapping):
        pairs = tuple(given.items())
    elif isinstance(given, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in given):
        pairs = given  # as Config stores it
    else:
        try:
            pairs = tuple((name, 1) for name in list_of("fields")(given))
        except ValueError:
            raise ValueError(_WEIGHTS) from None
    try:
        if any(isinstance(weight, str) for _, weight in pairs):
            raise ValueError
        return tuple((field(name), _weight(weight)) for name, weight in pairs)
    except ValueError:
        raise ValueError(_WEIGHTS) from None


def is_pattern(value: Any) -> bool:
    """Return whether *value* is a regular expression."""
    try:
        re.compile(value)
    except (TypeError, re.error):
        return False
    return True


def ages(words: Collection[str]) -> Reader:
    """Return the reader of a dictionary, or its JSON, of URL patterns and ages or *words*."""
    what = (
        "must be a dictionary (JSON on the command line) from regular expressions for URLs to an age such as 7d or"
        f" one of {', '.join(words)}, such as {{'/news/': '6h', '': 'auto'}}"
    )

    def read(value: Any) -> tuple[tuple[str, str], ...]:
        given = _from_json(value)
        if not isinstance(given, Mapping | tuple):
            raise ValueError(what)
        for name, one in dict(given).items():
            try:
                if not is_pattern(name):
                    raise ValueError
                if one not in words:
                    duration(one)
            except (AttributeError, ValueError):
                raise ValueError(what) from None
        return tuple(dict(given).items())

    return read


def imported(setting: str, path: str) -> Any:
    """Return the object at the import *path*, a value of *setting*. Raises SettingError if there is none."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingError(f"{setting}: cannot import {path!r}: {error}") from error


def is_path(value: str) -> bool:
    """Return whether *value* has the form of an import path."""
    return "." in value and all(part.isidentifier() for part in value.split("."))


def _from_json(value: Any) -> Any:
    """Return the dictionary or the list of strings that *value* encodes as JSON, else *value*.

    ``["/print/"]`` is JSON: as a regular expression it would be a character class, which matches nearly every URL.
    ``[0]`` is a regular expression, because it is not a list of strings.
    """
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        found = json.loads(value)
    except ValueError:
        return value
    return value if isinstance(found, list) and not all(isinstance(one, str) for one in found) else found
