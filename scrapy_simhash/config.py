"""Config: all settings, with their defaults, validation and requirements.

To add a setting, add a field here and an entry in docs/reference/settings.rst; a test compares the two. ``values.py``
defines the accepted forms of values.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NoReturn

from scrapy_simhash import values
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.place import StorePlace, without_password
from scrapy_simhash.values import Reader, list_of, one_of, some_of, switch, whole

PREFIX = "SIMHASH_"
#: Kinds of pages that are not dropped by default: see docs/how-to/actions.rst.
PROTECTIONS = ("start", "listing", "pagination", "language", "facts")
#: The rules for near-duplicates, each with its default max distance in bits.
DISTANCES = {"similarity": 8, "classic": 3}
#: Fingerprint schemes, starting with the default; see scrapy_simhash/page/schemes/.
SCHEMES = ("web", "classic", "manku", "fnv-words", "slides", "moz")
#: Values of ``SIMHASH_SCOPE`` other than the path of a function.
SCOPES = ("crawl", "domain", "host")
#: Settings whose values are actions.
ACTION_SETTINGS = ("action", "exact_action", "revisit_action")
#: Max distance of candidates in bits. With a greater distance, unrelated pages become candidates by chance, and a
#: search is a scan.
MAX_CANDIDATE_DISTANCE = 20
#: Values of ``SIMHASH_RECRAWL`` other than an age.
RECRAWL_WORDS = ("auto", "lastmod", "always")


def _setting(default: object, read: Reader, *needs: str) -> Any:
    """Return the field of a setting that has no effect unless *needs* are met, see `_without_effect`."""
    return field(default=default, metadata={"read": read, "needs": needs})


@dataclass(frozen=True)
class Config:
    """The validated settings of one crawl.

    The field ``max_distance`` is the setting ``SIMHASH_MAX_DISTANCE``, and so on. A setting that has no effect
    because of another setting causes a warning and is ignored: the field keeps its default.

    Raises SettingError with the name of the setting, the accepted values, and the given value.

    >>> Config(max_distance=21)
    Traceback (most recent call last):
    scrapy_simhash.exceptions.SettingError: SIMHASH_MAX_DISTANCE must be at most 20 bits; a greater distance needs \
SIMHASH_RULE = 'classic', got 21
    """

    action: str | tuple[tuple[str, str], ...] = _setting("mark", values.actions)
    store: str | None = _setting(None, values.place)
    result_field: str | None = _setting(None, values.field)
    report: str | None = _setting(None, values.text)
    url_rules: str = _setting("off", one_of(("off", "observe", "skip")))

    exact_action: str | None = _setting(None, values.action)
    revisit_action: str = _setting("mark", values.action, "store")
    keep_urls: tuple[str, ...] = _setting((), list_of("regular expressions", values.is_pattern), "drops")
    protect: tuple[str, ...] = _setting(PROTECTIONS, some_of(PROTECTIONS))
    min_similarity: float = _setting(0.8, values.share, "scheme", "rule")
    scope: str = _setting("crawl", one_of(SCOPES, or_path_of="a function"))
    item_fields: tuple[tuple[str, int], ...] = _setting((), values.weights)
    item_action: str = _setting("mark", one_of(("mark", "drop_items")), "item_fields")
    item_key: str | None = _setting(None, values.field, "item_fields")
    recrawl: tuple[tuple[str, str], ...] = _setting((), values.ages(RECRAWL_WORDS), "store")
    changes: str | None = _setting(None, values.text, "store")

    enabled: bool = _setting(True, switch)
    policy: str | None = _setting(None, values.text)
    rule: str = _setting("similarity", one_of(tuple(DISTANCES)), "scheme")
    max_distance: int | None = _setting(None, whole(0, 63, of="bits"))
    site_learning: bool = _setting(True, switch, "scheme", "rule")
    scheme: str = _setting(SCHEMES[0], one_of(SCHEMES, or_path_of="a Scheme"))
    min_shingles: int = _setting(12, whole(1, of="shingles"))
    maxsize: int = _setting(10 * 1024 * 1024, whole(0, of="bytes"))
    url_rules_pin: tuple[str, ...] = _setting((), list_of("URL rules"), "url_rules")
    reset: bool = _setting(False, switch, "store")
    debug: bool = _setting(False, switch)

    def __post_init__(self) -> None:
        for name in READERS:
            object.__setattr__(self, name, _read(name, getattr(self, name)))
        given = {name for name in READERS if getattr(self, name) != getattr(type(self), name)}
        for name, sentence in _without_effect(self, given):
            warnings.warn(sentence, stacklevel=3)
            object.__setattr__(self, name, getattr(type(self), name))
        if self.scheme != SCHEMES[0]:
            # The similarity rule compares sketches, and only the default scheme has them.
            object.__setattr__(self, "rule", "classic")
        if self.rule == "similarity" and self.distance > MAX_CANDIDATE_DISTANCE:
            limit = f"must be at most {MAX_CANDIDATE_DISTANCE} bits"
            self._refuse("max_distance", f"{limit}; a greater distance needs {PREFIX}RULE = 'classic'")
        if self.result_field in dict(self.item_fields):
            self._refuse("result_field", f"must not be one of {PREFIX}ITEM_FIELDS")
        if self.item_key is not None and self.result_field == self.item_key:
            self._refuse("result_field", f"must not be the field of {PREFIX}ITEM_KEY")
        _ = self.place

    def _refuse(self, name: str, what: str) -> NoReturn:
        raise SettingError(f"{setting_name(name)} {what}, got {getattr(self, name)!r}")

    @cached_property
    def place(self) -> StorePlace | None:
        """Place of the store in ``SIMHASH_STORE``; None if the setting is not set. Raises SettingError."""
        try:
            return StorePlace.of(self.store) if self.store else None
        except ValueError as error:
            raise SettingError(f"{setting_name('store')} {error}") from None

    @property
    def actions(self) -> tuple[tuple[str, str], ...]:
        """Patterns of URLs and their actions in ``action``; the first that matches a URL decides."""
        return (("", self.action),) if isinstance(self.action, str) else self.action

    @property
    def distance(self) -> int:
        """Max distance of the rule in bits: ``max_distance``, or the default of the rule."""
        return DISTANCES[self.rule] if self.max_distance is None else self.max_distance

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Config:
        """Return the config from *settings* (Scrapy's, or any mapping); missing settings get their defaults.

        Values may be strings, as on the command line. None means the default. Settings without effect are ignored;
        unused_settings() returns them. Also raises SettingError for removed settings.
        """
        for name, instead in REMOVED.items():
            if (value := settings.get(PREFIX + name)) not in (None, ""):
                shown = without_password(str(value))
                raise SettingError(f"{PREFIX}{name} ({shown}) was removed: {instead}")
        given = _given(settings)
        unused = dict(_without_effect(SimpleNamespace(**DEFAULTS | given), given))
        return cls(**{name: value for name, value in given.items() if name not in unused})


#: Reader and default of each setting, by field name.
READERS: dict[str, Reader] = {field.name: field.metadata["read"] for field in fields(Config)}
DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Config)}
_STORE_URL = "set SIMHASH_STORE to a URL such as redis://host:6379/0?prefix=news&keep=90d"
_RECRAWL = (
    "set HTTPCACHE_ENABLED = True, HTTPCACHE_POLICY = 'scrapy_simhash.RecrawlPolicy', HTTPCACHE_STORAGE ="
    " 'scrapy_simhash.PageStorage' and SIMHASH_RECRAWL = {'': 'always'}"
)
#: Removed settings and their replacements. CHANGES.md has the same table.
REMOVED = {
    "ACROSS_SCOPES": "remove it; pages of different scopes are not compared",
    "ACTION_ALLOW": "set SIMHASH_ACTION = {'/shop/': 'drop_items'}",
    "ACTION_ALLOW_DOMAINS": "set SIMHASH_ACTION = {'//example.com': 'drop_items'}",
    "ACTION_DENY": "set SIMHASH_KEEP_URLS",
    "ACTION_DENY_DOMAINS": "set SIMHASH_KEEP_URLS = ['//example.com']",
    "ACTION_URLS": "set SIMHASH_ACTION = {'/shop/': 'drop_items'}",
    "BLOCKS": "remove it; SIMHASH_MAX_DISTANCE determines the number of blocks",
    "CANDIDATE_DISTANCE": "set SIMHASH_MAX_DISTANCE",
    "CHANGES_SIZE": "remove it; the size is constant",
    "CLUSTER_BUDGET": "set SIMHASH_POLICY to a class that compares the rank of a page",
    **dict.fromkeys(("CONDITIONAL", "CONDITIONAL_CHECKS", "CONDITIONAL_LINKS"), _RECRAWL),
    "DIR": "set SIMHASH_STORE to a folder such as './simhash'",
    "ITEM_FIELD": "set SIMHASH_RESULT_FIELD",
    "ITEM_LOG_LEVEL": "remove it; dropped items are logged at level DEBUG",
    "ITEM_MARK": "connect to the signal near_duplicate_item_found",
    "KEEP_PER_CLUSTER": "set SIMHASH_POLICY to a class that compares the rank of a page",
    "LIVE": "run scrapy-simhash report report.jsonl --serve, and set SIMHASH_REPORT = 'report.jsonl'",
    "MASK_DIGITS": "set SIMHASH_SCHEME to the import path of your own Scheme",
    "MIN_DEPTH": "set SIMHASH_KEEP_URLS; for start pages, set SIMHASH_PROTECT = ['start']",
    "PREFER": "remove it; scrapy-simhash report shows the preferred URL of each cluster",
    "RECRAWL_BUDGET": "set CLOSESPIDER_PAGECOUNT, or longer ages in SIMHASH_RECRAWL",
    "RECRAWL_MAX_AGE": "remove it; 'auto' and 'lastmod' request a page after 30 days",
    **{f"REDIS_{word}": _STORE_URL for word in ("EXPIRE", "PREFIX", "REQUIRED", "SCOPES", "SHARDS", "URL")},
    "REVISIT_LIVE": "remove it; pages that another running crawler has delivered are not dropped",
    "SHINGLE_SIZE": "set SIMHASH_SCHEME to the import path of your own Scheme",
    "TEXT": "call scrapy_simhash.main_text(response) in the callback",
    "THREAD_SIZE": "remove it; the size is constant",
    "URL_RULES_FORBID": "write a - before the rule: set SIMHASH_URL_RULES_PIN = ['-parameter sid']",
}


def setting_name(field: str) -> str:
    """Return the setting name for a *field* of ``Config``."""
    return PREFIX + field.upper()


def setting_names() -> tuple[str, ...]:
    """Return the name of every setting, in the order of the reference."""
    return tuple(map(setting_name, READERS))


def unknown_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the unknown ``SIMHASH_*`` names in *settings*, each with a warning that suggests a similar name.

    >>> unknown_settings({"SIMHASH_ACTON": "mark", "LOG_LEVEL": "INFO"})
    {'SIMHASH_ACTON': 'SIMHASH_ACTON (mark) is not a setting of scrapy-simhash; did you mean SIMHASH_ACTION?'}
    """
    # Names are compared without the prefix, because the common prefix makes any two names similar.
    known = [name.upper() for name in READERS]
    given = sorted(name.removeprefix(PREFIX) for name in map(str, settings) if name.startswith(PREFIX))
    sentences = {}
    for name in given:
        if name not in known and name not in REMOVED:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {PREFIX}{near[0]}?" if near else "remove it"
            shown = without_password(str(settings[PREFIX + name]))
            sentences[PREFIX + name] = f"{PREFIX}{name} ({shown}) is not a setting of scrapy-simhash; {hint}"
    return sentences


def unused_settings(settings: Mapping[str, Any], *, in_memory: bool = False) -> dict[str, str]:
    """Return the settings in *settings* that have no effect because of other settings, each with a warning.

    *in_memory* is whether the store is in memory, so that its pages are lost at the end of the crawl.

    >>> unused_settings({"SIMHASH_ITEM_KEY": "url"})["SIMHASH_ITEM_KEY"]
    "SIMHASH_ITEM_KEY (url) has no effect without SIMHASH_ITEM_FIELDS: set SIMHASH_ITEM_FIELDS = ['title', 'body']"
    """
    given = _given(settings)
    found = _without_effect(SimpleNamespace(**DEFAULTS | given), given, in_memory)
    return {setting_name(name): sentence for name, sentence in found}


def _given(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parsed values in *settings*, by field. Raises SettingError."""
    given = {name: settings.get(setting_name(name)) for name in READERS}
    return {name: _read(name, value) for name, value in given.items() if value is not None}


def _read(name: str, value: Any) -> Any:
    """Return *value* in the form that `Config` stores. Raises SettingError."""
    if DEFAULTS[name] is None and (value is None or value == ""):
        return None
    try:
        return READERS[name](value)
    except ValueError as error:
        what, *shown = error.args
        raise SettingError(f"{setting_name(name)} {what}, got {(shown or [value])[0]!r}") from None


def _without_effect(
    chosen: Any, given: Collection[str], in_memory: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield (field, warning) for each of the *given* settings that has no effect."""
    drops = any(getattr(chosen, name) not in (None, "mark") for name in ACTION_SETTINGS)
    scheme = f"with SIMHASH_SCHEME = '{chosen.scheme}': remove it, or set SIMHASH_SCHEME = 'web'"
    classic = "with SIMHASH_RULE = 'classic': remove it, or set SIMHASH_RULE = 'similarity'"
    no_rules = "with SIMHASH_URL_RULES = 'off': remove it, or set SIMHASH_URL_RULES = 'observe'"
    no_items = "without SIMHASH_ITEM_FIELDS: set SIMHASH_ITEM_FIELDS = ['title', 'body']"
    unmet = {
        "drops": not drops and "while nothing is dropped: set SIMHASH_ACTION = 'drop_items'",
        "item_fields": not chosen.item_fields and no_items,
        "rule": chosen.rule == "classic" and classic,
        "scheme": chosen.scheme != SCHEMES[0] and scheme,
        "store": in_memory and "without a persistent store: set SIMHASH_STORE = './simhash'",
        "url_rules": chosen.url_rules == "off" and no_rules,
    }
    for one in fields(Config):
        why = next(filter(None, map(unmet.__getitem__, one.metadata["needs"])), None)
        value = getattr(chosen, one.name)
        # Settings that switch a feature off never cause a warning, and schemes other than the default use the classic
        # rule.
        if why and one.name in given and value not in (False, None, "mark", (), "classic"):
            shown = dict(value) if one.name == "recrawl" else value
            yield one.name, f"{setting_name(one.name)} ({shown}) has no effect {why}"
