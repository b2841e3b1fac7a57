"""Config: every setting, its default and its check. The only reader of ``SIMHASH_*``.

To add a setting, add a field here with its check, and an entry in docs/reference/settings.rst; a test compares the
two. Conversion from strings is in ``values.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cached_property
from math import comb
from typing import Any

from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.place import StorePlace, former_settings
from scrapy_simhash.values import (
    ACTION_SETTINGS,
    AGE,
    check_action,
    checked,
    is_age,
    is_domain,
    is_path,
    is_pattern,
    loopback,
    require,
)
from scrapy_simhash.values import PREFIX as PREFIX  # shown here too, for all who name settings
from scrapy_simhash.values import setting_name as setting_name

#: Kinds of pages that are protected from dropping by default: see docs/how-to/actions.rst.
PROTECTIONS = ("start", "listing", "pagination", "language", "product")
#: Criteria for the preferred URL of a cluster.
PREFERENCES = ("https", "canonical", "shorter", "earlier")
#: The rules for near-duplicates, each with the settings that only it uses.
CLASSIC = "classic"
RULES = {"similarity": ("candidate_distance", "min_similarity"), CLASSIC: ("max_distance", "blocks")}
#: The ways from a page to a fingerprint, the default first; see scrapy_simhash/page/schemes/.
SCHEMES = ("web", "classic", "manku", "fnv-words", "slides", "moz")
#: Settings that only the default scheme uses: the others have such choices in themselves.
SCHEME_SETTINGS = ("shingle_size", "mask_digits")
#: Actions for an item that repeats another one.
ITEM_ACTIONS = ("mark", "drop")
#: What is done with URL rules: which differences of URLs have no effect on the page, which URLs bring nothing new.
URL_RULES = ("off", "observe", "skip")
#: Log levels for dropped items.
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
#: Scopes: which pages are compared with each other.
SCOPES = ("crawl", "domain", "host")
#: Maximum number of tables: more would take more memory and time than the crawl itself.
MAX_TABLES = 1_000
#: Maximum distance in bits: beyond it, unrelated pages become candidates by chance, and the search becomes a scan.
MAX_CANDIDATE_DISTANCE = 20
#: Maximum seconds for which a killed crawler counts as live: beyond it, others wait too long for its pages.
MAX_LIVE = 3_600

_CHOICES = {
    "protect": PROTECTIONS,
    "prefer": PREFERENCES,
    "item_action": ITEM_ACTIONS,
    "item_log_level": LOG_LEVELS,
    "url_rules": URL_RULES,
}


@dataclass(frozen=True)
class Config:
    """The settings of one crawl, checked.

    Field ``max_distance`` is setting ``SIMHASH_MAX_DISTANCE``, and so on. A setting that the chosen rule does not use
    causes a warning and is ignored: the field has its default.

    Raises SettingError, which names the setting, what it must be, and its value.

    >>> Config(rule="classic", blocks=2)
    Traceback (most recent call last):
    scrapy_simhash.exceptions.SettingError: SIMHASH_BLOCKS must be greater than SIMHASH_MAX_DISTANCE (3), got 2
    """

    enabled: bool = True
    action: str = "mark"
    exact_action: str | None = None
    revisit_action: str = "mark"
    revisit_live: int = 0
    conditional: bool = False
    conditional_checks: float = 0.01
    conditional_links: bool = True
    recrawl: tuple[tuple[str, str], ...] = ()
    recrawl_max_age: str = "30d"
    recrawl_budget: int = 0
    cluster_budget: int = 0
    min_depth: int = 0
    action_allow: tuple[str, ...] = ()
    action_deny: tuple[str, ...] = ()
    action_allow_domains: tuple[str, ...] = ()
    action_deny_domains: tuple[str, ...] = ()
    protect: tuple[str, ...] = PROTECTIONS
    rule: str = "similarity"
    candidate_distance: int = 8
    min_similarity: float = 0.8
    site_learning: bool = True
    max_distance: int = 3
    blocks: int = 6
    scheme: str = SCHEMES[0]
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
    url_rules: str = "observe"
    url_rules_pin: tuple[str, ...] = ()
    url_rules_forbid: tuple[str, ...] = ()
    changes: str | None = None
    changes_size: int = 2_000
    text: bool = False
    report: str | None = None
    live: str | None = None
    store: str | None = None
    reset: bool = False
    debug: bool = False

    def __post_init__(self) -> None:
        is_rule = isinstance(self.rule, str) and self.rule in RULES
        require(is_rule, "rule", f"must be one of {', '.join(RULES)}", self.rule)
        is_scheme = isinstance(self.scheme, str) and (self.scheme in SCHEMES or is_path(self.scheme))
        require(
            is_scheme,
            "scheme",
            f"must be one of {', '.join(SCHEMES)}, or the import path of a Scheme",
            self.scheme,
        )
        if self.scheme != SCHEMES[0]:
            # Only the default scheme makes the sketches that the other rule compares.
            object.__setattr__(self, "rule", CLASSIC)
        unused = _unused_by(self.rule, self.scheme)
        for field in fields(self):
            if field.name in unused and getattr(self, field.name) != field.default:
                sentence = _no_effect(field.name, getattr(self, field.name), unused[field.name])
                warnings.warn(sentence, stacklevel=3)
                object.__setattr__(self, field.name, field.default)
            object.__setattr__(
                self, field.name, checked(field.name, field.default, getattr(self, field.name))
            )
        for name in ACTION_SETTINGS:
            check_action(name, getattr(self, name))
        for name, words in _CHOICES.items():
            value = getattr(self, name)
            for part in value if isinstance(value, tuple) else (value,):
                require(part in words, name, f"must be one of {', '.join(words)}", part)
        for name in ("action_allow", "action_deny"):
            for pattern in getattr(self, name):
                require(is_pattern(pattern), name, "must be regular expressions", pattern)
        for name in ("action_allow_domains", "action_deny_domains"):
            for domain in getattr(self, name):
                require(
                    is_domain(domain),
                    name,
                    "must be domain names such as example.com, without scheme, port and path",
                    domain,
                )
        for name in ("cluster_budget", "min_depth", "recrawl_budget"):
            require(getattr(self, name) >= 0, name, "must be 0 or more", getattr(self, name))
        require(
            0 <= self.revisit_live <= MAX_LIVE,
            "revisit_live",
            f"must be a number of seconds up to {MAX_LIVE:,}, or 0 for off",
            self.revisit_live,
        )
        require(
            0 <= self.conditional_checks <= 1, "conditional_checks", "must be 0 to 1", self.conditional_checks
        )
        require(is_age(self.recrawl_max_age), "recrawl_max_age", AGE, self.recrawl_max_age)
        require(
            self.scope in SCOPES or is_path(self.scope),
            "scope",
            f"must be one of {', '.join(SCOPES)}, or the import path of a function",
            self.scope,
        )
        require(0 <= self.max_distance <= 63, "max_distance", "must be 0 to 63 bits", self.max_distance)
        require(
            self.blocks > self.max_distance,
            "blocks",
            f"must be greater than {PREFIX}MAX_DISTANCE ({self.max_distance})",
            self.blocks,
        )
        require(self.blocks <= 64, "blocks", "must be at most 64", self.blocks)
        tables = comb(self.blocks, self.max_distance)
        require(
            tables <= MAX_TABLES,
            "blocks",
            f"must not need more than {MAX_TABLES:,} tables"
            f" ({tables:,} with {PREFIX}MAX_DISTANCE {self.max_distance})",
            self.blocks,
        )
        require(
            0 <= self.candidate_distance <= MAX_CANDIDATE_DISTANCE,
            "candidate_distance",
            f"must be 0 to {MAX_CANDIDATE_DISTANCE} bits",
            self.candidate_distance,
        )
        require(
            0 < self.min_similarity <= 1,
            "min_similarity",
            "must be above 0 and at most 1"
            + (
                f" (to compare by distance alone, set {PREFIX}RULE = 'classic')"
                if not self.min_similarity
                else ""
            ),
            self.min_similarity,
        )
        require(1 <= self.shingle_size <= 16, "shingle_size", "must be 1 to 16 tokens", self.shingle_size)
        require(self.min_shingles >= 1, "min_shingles", "must be at least 1", self.min_shingles)
        require(
            self.changes_size >= 0,
            "changes_size",
            "must be a number of characters, or 0 for none",
            self.changes_size,
        )
        require(self.maxsize >= 0, "maxsize", "must be a number of bytes, or 0 for no limit", self.maxsize)
        require(
            self.thread_size >= 0,
            "thread_size",
            "must be a number of bytes, or 0 for never",
            self.thread_size,
        )
        require(
            self.live is None or loopback(self.live) is not None,
            "live",
            "must be an IP of this machine for itself and a port, such as 127.0.0.1:0 (0: any free port)",
            self.live,
        )
        _ = self.place
        for name in ("item_field", "item_mark"):
            self._check_field_of_marks(name)

    @cached_property
    def place(self) -> StorePlace | None:
        """Where pages are remembered by ``SIMHASH_STORE``, None if it says nothing. Raises SettingError."""
        try:
            return StorePlace.of(self.store) if self.store else None
        except ValueError as error:
            raise SettingError(f"{setting_name('store')} {error}") from None

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the settings from a pickle; missing ones have their defaults. They are not checked again.

        Raises TypeError for unknown settings.
        """
        if unknown := sorted(set(state) - {field.name for field in fields(self)}):
            raise TypeError(
                f"{type(self).__name__} was pickled by another release of scrapy-simhash, with settings that this one"
                f" does not have: {', '.join(unknown)}"
            )
        vars(self).update(state)

    def _check_field_of_marks(self, name: str) -> None:
        """Raise SettingError if another setting needs the field that the setting *name* writes into."""
        field = getattr(self, name)
        if field is None:
            return
        require(
            field not in dict(self.item_fields),
            name,
            f"must not be one of the fields in {PREFIX}ITEM_FIELDS",
            field,
        )
        require(
            field != self.item_key,
            name,
            f"must not be the field of {PREFIX}ITEM_KEY",
            field,
        )
        require(
            name == "item_field" or field != self.item_field,
            name,
            f"must not be the field of {PREFIX}ITEM_FIELD, which holds the verdict on the page",
            field,
        )

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Config:
        """Return the config from *settings* (Scrapy's, or any mapping); missing settings have their defaults.

        Values may be strings, as on the command line. None means the default. Settings that the chosen rule does not
        use are ignored: see unused_settings(). Raises SettingError also for settings that there were before.
        """
        if gone := former_settings(settings):
            raise SettingError(gone)
        given = {field.name: settings.get(setting_name(field.name)) for field in fields(cls)}
        unused = _unused_by(given["rule"] or cls.rule, given["scheme"] or cls.scheme)
        return cls(
            **{name: value for name, value in given.items() if value is not None and name not in unused}
        )


def setting_names() -> tuple[str, ...]:
    """Return the name of every setting, sorted."""
    return tuple(sorted(setting_name(field.name) for field in fields(Config)))


def unknown_settings(settings: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the unknown ``SIMHASH_*`` names in *settings*, each with the most similar known name, or None.

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


def unused_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings in *settings* that the chosen rule does not use, each with a warning.

    >>> unused_settings({"SIMHASH_BLOCKS": 4})["SIMHASH_BLOCKS"]
    "SIMHASH_BLOCKS (4) has no effect with SIMHASH_RULE = 'similarity': remove it, or set SIMHASH_RULE = 'classic'"
    """
    rule, scheme = (
        settings.get(setting_name(name)) or default
        for name, default in (("rule", Config.rule), ("scheme", Config.scheme))
    )
    unused = _unused_by(rule, scheme)
    given = {name: settings.get(setting_name(name)) for name in unused}
    return {
        setting_name(name): _no_effect(name, value, unused[name])
        for name, value in given.items()
        if value is not None
    }


_NEEDS_STORE = "without a store that outlives the crawl: set SIMHASH_STORE to a folder"
_NEEDS_REDIS = "without a store in Redis: set SIMHASH_STORE = 'redis'"
_NEEDS_ITEMS = "without SIMHASH_ITEM_FIELDS: set SIMHASH_ITEM_FIELDS"


def idle_settings(config: Config, *, forgets: bool, keeps_answers: bool, is_redis: bool) -> Iterator[str]:
    """Yield a warning for each setting of *config* that has no effect because of another one, or of the store.

    The store *forgets* all when the crawl ends, *keeps_answers* of servers, or *is_redis*.

    >>> list(idle_settings(Config(item_key="url"), forgets=True, keeps_answers=False, is_redis=False))
    ['SIMHASH_ITEM_KEY (url) has no effect without SIMHASH_ITEM_FIELDS: set SIMHASH_ITEM_FIELDS']
    """
    table = (
        ("revisit_action", forgets, _NEEDS_STORE),
        ("conditional", not keeps_answers, _NEEDS_STORE),
        ("recrawl", not keeps_answers, _NEEDS_STORE),
        ("recrawl_budget", not keeps_answers, _NEEDS_STORE),
        ("revisit_live", not is_redis, _NEEDS_REDIS),
        (
            "revisit_live",
            is_redis and config.revisit_action == "mark",
            "while SIMHASH_REVISIT_ACTION is mark, except for requests that ask for a revisit_action: set"
            " SIMHASH_REVISIT_ACTION",
        ),
        ("item_action", not config.item_fields, _NEEDS_ITEMS),
        ("item_mark", not config.item_fields, _NEEDS_ITEMS),
        ("item_key", not config.item_fields, _NEEDS_ITEMS),
        ("across_scopes", config.scope == "crawl", "while SIMHASH_SCOPE is crawl: set SIMHASH_SCOPE"),
    )
    for name, is_idle, reason in table:
        value = getattr(config, name)
        if is_idle and value != getattr(Config, name):
            shown = dict(value) if name == "recrawl" else value
            yield f"{setting_name(name)} ({shown}) has no effect {reason}"


def _unused_by(rule: object, scheme: object) -> dict[str, tuple[str, str, str]]:
    """Return the settings that have no effect, each with the setting by which, its value, and one that uses them.

    None for what is no rule, which is an error elsewhere.
    """
    if not isinstance(rule, str) or rule not in RULES:
        return {}
    if scheme != SCHEMES[0]:
        # Whatever the rule says, it is the classic one.
        other_rule = () if rule == CLASSIC else ("rule",)
        names = (*other_rule, *RULES["similarity"], *SCHEME_SETTINGS)
        return dict.fromkeys(names, ("scheme", str(scheme), SCHEMES[0]))
    return {name: ("rule", rule, other) for other, names in RULES.items() if other != rule for name in names}


def _no_effect(name: str, value: object, cause: tuple[str, str, str]) -> str:
    setting, chosen, other = cause
    return (
        f"{setting_name(name)} ({value}) has no effect with {setting_name(setting)} = {chosen!r}:"
        f" remove it, or set {setting_name(setting)} = {other!r}"
    )
