"""Header: the settings with which the fingerprints of a store are made and compared. A store has a single header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from scrapy_simhash.config import PREFIX, SCHEMES, Config, setting_name
from scrapy_simhash.exceptions import StoreMismatch
from scrapy_simhash.judge.rule import DEFAULT_RULE, RULES, Rule, rule_fields, rule_of
from scrapy_simhash.values import is_path


@dataclass(frozen=True)
class Header:
    """The scheme, and the settings that decide which pages are near-duplicates.

    The header contains only the settings that the chosen rule uses.

    >>> Header.of(Config(), "web-4").rule
    SimilarityRule(max_distance=8, min_similarity=0.8)
    """

    scheme: str = ""
    """The fingerprint scheme: ``SIMHASH_SCHEME`` and its version, such as ``web-4``."""
    rule: Rule = DEFAULT_RULE
    """The rule that decides whether two fingerprints are near-duplicates."""
    shingle_size: int = 2
    min_shingles: int = Config.min_shingles
    mask_digits: bool = False
    scope: str = Config.scope
    width: int = 64
    """Bits of a fingerprint. This release supports 64."""
    own_parts: int = 1
    """Version of the unique text, see :mod:`scrapy_simhash.page.fingerprint.unique_text`, of the title key in the
    sketch, and of ``Posting.page_hash``. This release supports 1."""

    @classmethod
    def of(cls, config: Config, scheme: str) -> Header:
        """Return the header of fingerprints of *scheme* that are compared according to *config*."""
        return cls(scheme, rule_of(config), min_shingles=config.min_shingles, scope=config.scope)

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Header:
        """Return the header from the output of to_dict(). Types may differ, because SQLite has no booleans.

        Raises TypeError for an unknown rule and for missing or unknown names, and ValueError for an invalid value.
        """
        kind = RULES.get(str(values.get("rule")))
        if kind is None:
            raise TypeError(f"its rule must be {' or '.join(RULES)}, got {values.get('rule')!r}")
        own = rule_fields(kind)
        names = {"scheme", "width", "own_parts", "rule", *own, *_SHARED}
        if unknown := sorted(set(values) - names):
            raise TypeError(f"it has unknown fields: {', '.join(unknown)}. A newer release wrote it")
        if missing := sorted(names - set(values)):
            raise TypeError(f"it lacks the fields {', '.join(missing)}")
        for name, known in (("width", cls.width), ("own_parts", cls.own_parts)):
            if int(str(values[name])) != known:
                raise ValueError(
                    f"its {name} is {values[name]}, but this release supports only {known}: another release wrote it"
                )
        types = {"max_distance": int, "min_similarity": float, "scope": str, "mask_digits": bool}
        typed: dict[str, Any] = {name: types.get(name, int)(values[name]) for name in (*own, *_SHARED)}
        rule = kind(**{name: typed.pop(name) for name in own})
        return cls(str(values["scheme"]), rule, **typed)

    def to_dict(self) -> dict[str, object]:
        """Return a flat dictionary for JSON: the name of the rule, its settings, and all other fields."""
        rule = {name: getattr(self.rule, name) for name in rule_fields(type(self.rule))}
        shared = {name: getattr(self, name) for name in _SHARED}
        versions = {"scheme": self.scheme, "width": self.width, "own_parts": self.own_parts}
        return {**versions, "rule": self.rule.name, **rule, **shared}

    @property
    def settings(self) -> dict[str, object]:
        """The fields except the versions, by the name of their setting."""
        settings = {
            setting_name(name): value for name, value in self.to_dict().items() if name not in _NO_SETTINGS
        }
        name = self.scheme.rpartition("-")[0]
        if name not in SCHEMES[1:] and not is_path(name):
            name = SCHEMES[0]
        return settings | {setting_name("scheme"): name}

    def fingerprints_differ(self, other: Header) -> list[str]:
        """Describe the differences in how fingerprints are made; rule and scope are ignored.

        >>> Header(scope="host").fingerprints_differ(Header(mask_digits=True))
        ['mask_digits is False there, True here']
        """
        this, that = (replace(header, rule=DEFAULT_RULE, scope=Config.scope) for header in (self, other))
        return this.differences(that)

    def differences(self, other: Header) -> list[str]:
        """Describe the differences, field by field, with this header's value first.

        If the rules differ, their settings are not compared.

        >>> Header().differences(Header.of(Config(min_similarity=0.9), ""))
        ['SIMHASH_MIN_SIMILARITY is 0.8 there, 0.9 here']
        """
        this, that = self.to_dict(), other.to_dict()
        if this["rule"] != that["rule"]:
            this = {name: value for name, value in this.items() if name not in rule_fields(type(self.rule))}
        return [
            f"{name if name in _NO_SETTINGS else setting_name(name)} is {this[name]!r} there, {that[name]!r} here"
            for name in this
            if name in that and this[name] != that[name]
        ]

    def check(self, wanted: Header, place: str) -> None:
        """Raise StoreMismatch, with the differences and the remedy, unless this header matches *wanted*.

        *place* is the name of the store.
        """
        if differences := self.differences(wanted):
            raise StoreMismatch(
                f"{place} holds fingerprints that cannot be compared with those of this crawl: "
                f"{'; '.join(differences)}. Nothing was changed. Restore the settings, use a different store, or set "
                f"{PREFIX}RESET = True to delete the stored pages"
            )


#: Fields that are not settings, but describe how this release makes fingerprints.
_VERSIONS = ("scheme", "width", "own_parts")
_NO_SETTINGS = (*_VERSIONS, "shingle_size", "mask_digits")
#: The settings that all headers have, independent of the rule.
_SHARED = tuple(field.name for field in fields(Header) if field.name not in (*_VERSIONS, "rule"))
