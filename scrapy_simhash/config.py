"""Config: every setting, its default, its rule. The only reader of ``SIMHASH_*``.

A setting is added by adding a field here; the field's comment is its short description, the reference page
its long one, and a test compares the two lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from math import comb
from operator import index
from os import PathLike, fspath
from typing import Any, cast

from scrapy_simhash.action import ACTIONS, Action
from scrapy_simhash.exceptions import SettingError

PREFIX = "SIMHASH_"

#: Which pages are treated with care, unless told: see docs/how-to/protected.rst.
PROTECTIONS = ("start", "listing", "pagination", "language", "product")
#: By what the preferred URL of a cluster can be chosen.
PREFERENCES = ("https", "canonical", "shorter", "earlier")
#: What is done about an item that repeats another one.
ITEM_ACTIONS = ("mark", "drop")
#: What is done about one page that comes back under ever more addresses.
FLOOD_ACTIONS = ("report", "stop_pattern", "close_spider")
#: At what level Scrapy logs a dropped item.
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
#: What keeps the pages that were seen.
STORES = ("memory", "sqlite", "redis")
#: Within what a page is compared.
SCOPES = ("crawl", "domain", "host")
#: Tables beyond which an index would cost more than the crawl it serves.
MAX_TABLES = 1_000
#: Bits beyond which unrelated pages become candidates by chance, and the search a scan.
MAX_CANDIDATE_DISTANCE = 20

_ACTION_SETTINGS = ("action", "exact_action", "revisit_action")
_CHOICES = {
    "protect": PROTECTIONS,
    "prefer": PREFERENCES,
    "item_action": ITEM_ACTIONS,
    "item_log_level": LOG_LEVELS,
    "flood_action": FLOOD_ACTIONS,
}
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off", ""}


@dataclass(frozen=True)
class Config:
    """The settings of one crawl, checked.

    Field ``max_distance`` is setting ``SIMHASH_MAX_DISTANCE``, and so on. Raises SettingError with
    setting, rule and value.

    >>> Config(blocks=2)
    Traceback (most recent call last):
    scrapy_simhash.exceptions.SettingError: SIMHASH_BLOCKS must be greater than SIMHASH_MAX_DISTANCE (3), got 2
    """

    enabled: bool = True
    action: str = "mark"
    exact_action: str | None = None
    revisit_action: str = "mark"
    cluster_budget: int = 0
    min_depth: int = 0
    action_allow: tuple[str, ...] = ()
    action_deny: tuple[str, ...] = ()
    action_allow_domains: tuple[str, ...] = ()
    action_deny_domains: tuple[str, ...] = ()
    protect: tuple[str, ...] = PROTECTIONS
    max_distance: int = 3
    blocks: int = 6
    candidate_distance: int = 10
    min_similarity: float = 0.8
    shingle_size: int = 2
    min_shingles: int = 12
    mask_digits: bool = False
    scope: str = "crawl"
    across_scopes: bool = False
    maxsize: int = 10 * 1024 * 1024
    thread_size: int = 256 * 1024
    item_field: str | None = None
    item_fields: tuple[tuple[str, int], ...] = ()
    item_action: str = "mark"
    item_mark: str | None = None
    item_key: str | None = None
    item_log_level: str = "DEBUG"
    prefer: tuple[str, ...] = PREFERENCES
    flood_size: int = 100
    flood_action: str = "report"
    flood_probe: bool = False
    report: str | None = None
    store: str | None = None
    dir: str | None = None
    reset: bool = False
    redis_url: str | None = None
    redis_prefix: str = "simhash:%(spider)s"
    redis_expire: int = 0
    debug: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(
                self, field.name, _checked(field.name, field.default, getattr(self, field.name))
            )
        for name in _ACTION_SETTINGS:
            _check_action(name, getattr(self, name))
        for name, words in _CHOICES.items():
            value = getattr(self, name)
            for part in value if isinstance(value, tuple) else (value,):
                _require(part in words, name, f"must be one of {', '.join(words)}", part)
        for name in ("action_allow", "action_deny"):
            for pattern in getattr(self, name):
                _require(_is_pattern(pattern), name, "must be regular expressions", pattern)
        for name in ("cluster_budget", "min_depth", "flood_size"):
            _require(getattr(self, name) >= 0, name, "must be 0 or more", getattr(self, name))
        _require(
            self.scope in SCOPES or _is_path(self.scope),
            "scope",
            f"must be one of {', '.join(SCOPES)}, or the import path of a function",
            self.scope,
        )
        _require(0 <= self.max_distance <= 63, "max_distance", "must be 0 to 63 bits", self.max_distance)
        _require(
            self.blocks > self.max_distance,
            "blocks",
            f"must be greater than {PREFIX}MAX_DISTANCE ({self.max_distance})",
            self.blocks,
        )
        _require(self.blocks <= 64, "blocks", "must be at most 64", self.blocks)
        tables = comb(self.blocks, self.max_distance)
        _require(
            tables <= MAX_TABLES,
            "blocks",
            f"must keep the index within {MAX_TABLES:,} tables"
            f" ({tables:,} with {PREFIX}MAX_DISTANCE {self.max_distance})",
            self.blocks,
        )
        _require(
            # Without a second look nothing is a candidate.
            not self.min_similarity or self.max_distance <= self.candidate_distance <= MAX_CANDIDATE_DISTANCE,
            "candidate_distance",
            f"must be {PREFIX}MAX_DISTANCE ({self.max_distance}) to {MAX_CANDIDATE_DISTANCE} bits",
            self.candidate_distance,
        )
        _require(
            0 <= self.min_similarity <= 1,
            "min_similarity",
            "must be a share from 0 to 1, 0 for no second look",
            self.min_similarity,
        )
        _require(1 <= self.shingle_size <= 16, "shingle_size", "must be 1 to 16 tokens", self.shingle_size)
        _require(self.min_shingles >= 1, "min_shingles", "must be at least 1", self.min_shingles)
        _require(self.maxsize >= 0, "maxsize", "must be a number of bytes, or 0 for no limit", self.maxsize)
        _require(
            self.thread_size >= 0,
            "thread_size",
            "must be a number of bytes, or 0 for never",
            self.thread_size,
        )
        _require(
            self.store is None or self.store in STORES or _is_path(self.store),
            "store",
            f"must be one of {', '.join(STORES)}, or the import path of a class",
            self.store,
        )
        _require(
            self.item_mark not in dict(self.item_fields),
            "item_mark",
            f"must not be among the fields of {PREFIX}ITEM_FIELDS",
            self.item_mark,
        )
        _require(bool(self.redis_prefix), "redis_prefix", "must not be empty", self.redis_prefix)
        _require(
            _is_name_of_keys(self.redis_prefix),
            "redis_prefix",
            "must have no other % than in %(spider)s, or %% for one",
            self.redis_prefix,
        )
        _require(
            self.redis_expire >= 0,
            "redis_expire",
            "must be a number of seconds, or 0 for never",
            self.redis_expire,
        )

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Config:
        """Return the config that *settings* (Scrapy's, or any mapping) hold; what they leave out is default.

        Values may be strings, as the command line gives them. None means the default.
        """
        names = {field.name: PREFIX + field.name.upper() for field in fields(cls)}
        given = {name: settings.get(setting) for name, setting in names.items()}
        return cls(**{name: value for name, value in given.items() if value is not None})


def setting_names() -> tuple[str, ...]:
    """Return the name of every setting, sorted."""
    return tuple(sorted(PREFIX + field.name.upper() for field in fields(Config)))


def unknown_settings(settings: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the ``SIMHASH_*`` names in *settings* that mean nothing, each with the one it resembles, if any.

    >>> unknown_settings({"SIMHASH_ACTON": "mark", "LOG_LEVEL": "INFO"})
    {'SIMHASH_ACTON': 'SIMHASH_ACTION'}
    """
    # Without the prefix, which all names share: with it any two of them look alike.
    known = [name.removeprefix(PREFIX) for name in setting_names()]
    given = (name.removeprefix(PREFIX) for name in map(str, settings) if name.startswith(PREFIX))
    unknown = sorted(name for name in given if name not in known)
    return {
        PREFIX + name: next((PREFIX + near for near in get_close_matches(name, known, n=1)), None)
        for name in unknown
    }


def _checked(name: str, default: object, value: object) -> object:
    """Return *value* as the type of *default*, read from a string where it is one."""
    if isinstance(default, bool):
        text = str(value).strip().lower()
        _require(isinstance(value, bool) or text in _TRUE | _FALSE, name, "must be True or False", value)
        return text in _TRUE
    if isinstance(default, int):
        try:
            number = int(value) if isinstance(value, str) else index(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = None
        _require(number is not None and not isinstance(value, bool), name, "must be a whole number", value)
        return number
    if isinstance(default, float):
        try:
            share = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            share = None
        _require(share is not None and not isinstance(value, bool), name, "must be a number", value)
        return share
    if name == "item_fields":
        return _weights(value)
    if isinstance(default, tuple):
        return _words(name, value)
    if default is None:
        if name in _ACTION_SETTINGS and isinstance(value, list | tuple):
            value = ",".join(map(str, value))
        if isinstance(value, PathLike):
            value = fspath(value)
        _require(value is None or isinstance(value, str), name, "must be a string", value)
        return value or None
    if name in _ACTION_SETTINGS and isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    _require(isinstance(value, str), name, "must be a string", value)
    return value


def _words(name: str, value: object) -> tuple[str, ...]:
    """Return *value* as Scrapy reads a list: what is in one, or the words of a string with commas between."""
    if isinstance(value, str):
        value = [word.strip() for word in value.split(",") if word.strip()]
    rule = "must be a list of strings"
    _require(isinstance(value, list | tuple | set | frozenset), name, rule, value)
    words = list(cast("Iterable[Any]", value))
    _require(all(isinstance(word, str) for word in words), name, rule, value)
    return tuple(sorted(words) if isinstance(value, set | frozenset) else words)


def _weights(value: object) -> tuple[tuple[str, int], ...]:
    """Return fields and how much they count: of ``{"title": 3, "body": 1}``, of its JSON, or of a list of fields."""
    rule = "must be a list of fields, or a dictionary of fields and whole numbers above 0"
    given = value
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            _require(False, "item_fields", rule, given)
    if isinstance(value, Mapping):
        pairs = tuple(value.items())
    elif isinstance(value, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
        pairs = value  # as it is kept
    else:
        pairs = tuple((field, 1) for field in _words("item_fields", value))
    for field, weight in pairs:
        is_weight = isinstance(weight, int) and not isinstance(weight, bool) and weight > 0
        _require(isinstance(field, str) and is_weight, "item_fields", rule, given)
    return pairs


def _check_action(name: str, value: str | None) -> None:
    rule = f"must be one of {', '.join(ACTIONS)}, several of them, or the import path of a class"
    if value is None or _is_path(value):
        return
    try:
        Action.named(value)
    except ValueError:
        _require(False, name, rule, value)


def _is_path(value: str) -> bool:
    """Tell whether *value* may be the import path of something."""
    return "." in value and all(part.isidentifier() for part in value.split("."))


def _is_pattern(value: str) -> bool:
    try:
        re.compile(value)
    except re.error:
        return False
    return True


def _is_name_of_keys(prefix: str) -> bool:
    try:
        prefix % {"spider": ""}
    except (KeyError, TypeError, ValueError):
        return False
    return True


def _require(fulfilled: bool, name: str, rule: str, value: object) -> None:
    if not fulfilled:
        raise SettingError(f"{PREFIX}{name.upper()} {rule}, got {value!r}")
