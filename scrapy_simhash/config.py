"""Config: every setting, its default, its rule. The only reader of ``SIMHASH_*``.

A setting is added by adding a field here; the field's comment is its short description, the reference page
its long one, and a test compares the two lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from math import comb
from operator import index
from os import PathLike, fspath
from typing import Any

from scrapy_simhash.exceptions import SettingError

PREFIX = "SIMHASH_"

#: What is done about a page that repeats another one.
ACTIONS = ("mark", "drop_items", "drop_links", "drop_page")
#: Those after which its items are gone.
LOSING_ACTIONS = ("drop_items", "drop_page")
#: What is done about a page that has not changed since an earlier crawl.
REVISIT_ACTIONS = ("mark", "drop_items")
#: What keeps the pages that were seen.
STORES = ("memory", "sqlite", "redis")
#: Within what a page is compared.
SCOPES = ("crawl", "domain", "host")
#: Tables beyond which an index would cost more than the crawl it serves.
MAX_TABLES = 1_000
#: Bits beyond which unrelated pages become candidates by chance, and the search a scan.
MAX_CANDIDATE_DISTANCE = 20

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
    max_distance: int = 3
    blocks: int = 6
    candidate_distance: int = 10
    min_similarity: float = 0.8
    shingle_size: int = 2
    min_shingles: int = 12
    mask_digits: bool = False
    scope: str = "crawl"
    maxsize: int = 10 * 1024 * 1024
    thread_size: int = 256 * 1024
    item_field: str | None = None
    revisit_action: str = "mark"
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
        _require(self.action in ACTIONS, "action", f"must be one of {', '.join(ACTIONS)}", self.action)
        _require(
            self.revisit_action in REVISIT_ACTIONS,
            "revisit_action",
            f"must be one of {', '.join(REVISIT_ACTIONS)}",
            self.revisit_action,
        )
        _require(self.scope in SCOPES, "scope", f"must be one of {', '.join(SCOPES)}", self.scope)
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
            self.store is None or self.store in STORES or "." in self.store,
            "store",
            f"must be one of {', '.join(STORES)}, or the import path of a class",
            self.store,
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
    if default is None:
        if isinstance(value, PathLike):
            value = fspath(value)
        _require(value is None or isinstance(value, str), name, "must be a string", value)
        return value or None
    _require(isinstance(value, str), name, "must be a string", value)
    return value


def _is_name_of_keys(prefix: str) -> bool:
    try:
        prefix % {"spider": ""}
    except (KeyError, TypeError, ValueError):
        return False
    return True


def _require(fulfilled: bool, name: str, rule: str, value: object) -> None:
    if not fulfilled:
        raise SettingError(f"{PREFIX}{name.upper()} {rule}, got {value!r}")
