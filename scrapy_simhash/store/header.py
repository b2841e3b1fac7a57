"""Header: what the fingerprints of a store were made and compared by. Stores of different headers are never mixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from scrapy_simhash.config import PREFIX, Config
from scrapy_simhash.exceptions import StoreMismatch
from scrapy_simhash.rule import Rule


@dataclass(frozen=True)
class Header:
    """The scheme and the settings that change which page repeats which; ``SIMHASH_BLOCKS`` does not.

    >>> Header.of(Config(), "web-1").rule == Rule()
    True
    """

    scheme: str = ""
    """How pages become fingerprints, see :data:`scrapy_simhash.fingerprinter.SCHEME`."""
    max_distance: int = Config.max_distance
    candidate_distance: int = Config.candidate_distance
    min_similarity: float = Config.min_similarity
    shingle_size: int = Config.shingle_size
    min_shingles: int = Config.min_shingles
    mask_digits: bool = Config.mask_digits
    scope: str = Config.scope

    @classmethod
    def of(cls, config: Config, scheme: str) -> Header:
        """Return the header of fingerprints that are made by *scheme* with *config*."""
        names = [field.name for field in fields(cls) if field.name != "scheme"]
        return cls(scheme, **{name: getattr(config, name) for name in names})

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Header:
        """Return the header that to_dict() wrote down. Raises TypeError for names that there are not, or too few."""
        names = {field.name for field in fields(cls)}
        if names != set(values):
            raise TypeError(
                f"a header has the fields {', '.join(sorted(names))}, got {', '.join(sorted(values))}"
            )
        return cls(**values)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, object]:
        """Return the fields as plain values, for JSON."""
        return asdict(self)

    @property
    def rule(self) -> Rule:
        """The near-duplicate rule."""
        return Rule(self.max_distance, self.candidate_distance, self.min_similarity)

    def fingerprints_differ(self, other: Header) -> list[str]:
        """Return what differs, in words, of what makes fingerprints: the rest can be compared by either rule.

        >>> Header(max_distance=2).fingerprints_differ(Header(mask_digits=True))
        ['SIMHASH_MASK_DIGITS False there, True here']
        """
        both = [replace(header, **_COMPARING) for header in (self, other)]
        return both[0].differences(both[1])

    def differences(self, other: Header) -> list[str]:
        """Return what differs, field by field, in words: this one's value first.

        Without a second look the candidate distance says nothing, and makes no difference.

        >>> Header().differences(Header(max_distance=2))
        ['SIMHASH_MAX_DISTANCE 3 there, 2 here']
        """
        mine, its = self.to_dict(), other.to_dict()
        idle = set() if self.min_similarity or other.min_similarity else {"candidate_distance"}
        return [
            f"{name if name == 'scheme' else PREFIX + name.upper()} {mine[name]!r} there, {its[name]!r} here"
            for name in mine
            if mine[name] != its[name] and name not in idle
        ]

    def check(self, wanted: Header, place: str) -> None:
        """Raise StoreMismatch, which says what differs and what to do, unless *wanted* agrees with this header.

        *place* names the store.
        """
        if differences := self.differences(wanted):
            raise StoreMismatch(
                f"{place} holds fingerprints that cannot be compared with those of this crawl: "
                f"{'; '.join(differences)}. Nothing was changed. Set it as it was, or name another store, or let "
                f"{PREFIX}RESET = True begin anew"
            )


_BY_DEFAULT = Header()
#: What fingerprints are compared by, not made by; with the values of the default.
_COMPARING: dict[str, Any] = {
    name: getattr(_BY_DEFAULT, name)
    for name in ("max_distance", "candidate_distance", "min_similarity", "scope")
}
