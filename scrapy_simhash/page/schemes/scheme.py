"""Scheme: a method to compute a fingerprint."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log
from pathlib import Path
from typing import Literal

from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.page.features.extract import DAMPING, UNIT, WORD, ZONES
from scrapy_simhash.page.fingerprint import TIE_MASK, leads
from scrapy_simhash.page.language.detect import languages
from scrapy_simhash.page.schemes.hashes import FNV1_UTF16, FNV1A, GB2312, XXH3, FeatureHash
from scrapy_simhash.page.schemes.kinds import (
    CyclicWindows,
    FeatureKind,
    Headings,
    Page,
    Shingles,
    Title,
    Words,
)
from scrapy_simhash.page.schemes.markup import Enumerated, language
from scrapy_simhash.values import imported

#: Returns the weight, 0 or more, of a feature with this number of occurrences on the page.
Weighing = Callable[[str | int, int], float]


def uniform(feature: str | int, count: int) -> float:
    """Return 1, so that each distinct feature has one vote."""
    return 1.0


def term_frequency(feature: str | int, count: int) -> float:
    """Return *count*, as in the Java class and in the examples of the paper. Frequent words dominate."""
    return float(count)


def log_frequency(feature: str | int, count: int) -> float:
    """Return 1 + ln *count*: a word that occurs 100 times has a weight of 5.6."""
    return 1.0 + log(count)


def damped_frequency(feature: str | int, count: int) -> float:
    """Return *count* to the power of 0.9, as the default scheme does."""
    damped: float = count**DAMPING
    return damped


@dataclass(frozen=True)
class Capped:
    """A weighting with a maximum.

    >>> Capped(term_frequency, 5)("the", 100)
    5
    """

    weigh: Weighing
    most: float

    def __call__(self, feature: str | int, count: int) -> float:
        """Return the weight, at most ``most``."""
        return min(self.most, self.weigh(feature, count))


@dataclass(frozen=True)
class FrozenIdf:
    """A weighting multiplied by the inverse document frequency of the feature, from a file that must not change.

    The file is one JSON object: ``{"documents": 1000, "frequencies": {"the": 990, "harbour": 3}}``. A feature that is
    not in the file counts as occurring in one document. A different file changes the fingerprints, so change the
    version of the scheme as well.
    """

    weigh: Weighing
    file: str

    def __call__(self, feature: str | int, count: int) -> float:
        """Return the weight; 0 for a feature in every document."""
        documents, frequencies = self._counts
        return self.weigh(feature, count) * log(documents / frequencies.get(str(feature), 1))

    @cached_property
    def _counts(self) -> tuple[int, dict[str, int]]:
        held = json.loads(Path(self.file).read_text("utf-8"))
        return held["documents"], held["frequencies"]


#: The value of a tied bit.
Ties = Literal["zero", "one", "mask"]
WIDTHS = (32, 64, 128)


@dataclass(frozen=True)
class Scheme:
    """A method to compute a fingerprint. Each change of a field requires a new version.

    >>> from scrapy_simhash.page.text import plain_text
    >>> from scrapy_simhash.page.schemes import Words
    >>> scheme = Scheme({Words(): 1})
    >>> f"{scheme.value(Page(plain_text('The fog, the sea.'))):016x}"
    '4b1283491cb33dfd'
    """

    kinds: Mapping[FeatureKind, float]
    """The kinds of features, each with a constant factor for its weights."""
    version: int = 1
    feature_hash: FeatureHash = XXH3
    weigh: Weighing = term_frequency
    """The weight of a feature, from its number of occurrences."""
    ties: Ties = "mask"
    """The value of a tied bit: ``mask`` takes the bit of the constant ``TIE_MASK``."""
    width: int = 64
    """Bits of a fingerprint: 32, 64 or 128. Crawls, stores and indexes support up to 64."""

    def __post_init__(self) -> None:
        if self.width not in WIDTHS:
            raise ValueError(f"width must be one of {', '.join(map(str, WIDTHS))} bits, got {self.width}")
        if self.feature_hash.bits < self.width:
            raise ValueError(
                f"{self.feature_hash.name} has {self.feature_hash.bits} bits, too few for a width of {self.width}"
            )

    def value(self, page: Page) -> int | None:
        """Return the fingerprint of *page*, `width` bits; None for a page without features."""
        weights = self.weights(page)
        return self.fold(weights) if weights else None

    def weights(self, page: Page) -> dict[str | int, int]:
        """Return the features of *page* and their weights, integers above 0: 64 for a weight of 1."""
        weights: dict[str | int, int] = {}
        for kind, factor in self.kinds.items():
            for feature, count in Counter(kind(page)).items():
                weight = round(UNIT * factor * self.weigh(feature, count))
                if weight > 0:
                    weights[feature] = weights.get(feature, 0) + weight
        return weights

    def fold(self, weights: Mapping[str | int, int]) -> int:
        """Return the simhash of weighted features. Raises ValueError without features."""
        return vote(zip(map(self.bits_of, weights), weights.values(), strict=True), self.width, self.ties)

    def bits_of(self, feature: str | int) -> int:
        """Return the hash of a feature, `width` bits."""
        bits = feature if isinstance(feature, int) else self.feature_hash.of(feature)
        return bits & (1 << self.width) - 1


def vote(weighted: Iterable[tuple[int, int]], width: int, ties: Ties) -> int:
    """Return the simhash of weighted hashes of *width* bits; weights are above 0.

    Raises ValueError if there are no hashes. O(width n), mostly in ``int.bit_count``.

    >>> [vote([(0b1100, 1), (0b1010, 1)], 32, ties) for ties in ("zero", "one")]
    [8, 14]
    """
    pairs = list(weighted)
    value = 0
    # Fold halves of 64 bits, as in the default scheme.
    for low in range(0, width, 64):
        digests = [((number >> low & _HALF).to_bytes(8, "big"), weight) for number, weight in pairs]
        for bit, lead in enumerate(leads(digests)):
            if lead > 0 or (lead == 0 and _TIED[ties] >> bit & 1):
                value |= 1 << low + bit
    return value & (1 << width) - 1


_HALF = 2**64 - 1
_TIED: Mapping[Ties, int] = {"zero": 0, "one": _HALF, "mask": TIE_MASK}

# --- Values of ``SIMHASH_SCHEME``: the name of a scheme here, or the import path of a custom scheme.

#: The default scheme. Crawls compute it with separate code, which is many times faster and also returns a sketch; a
#: test compares the two.
WEB = Scheme(
    {
        Shingles(2, "required", "body"): ZONES["body"],
        Shingles(2, "required", "heading"): ZONES["heading"],
        Shingles(2, "required", "offer"): ZONES["offer"],
        Words(zone="body"): ZONES["body"] * WORD,
        Words(zone="heading"): ZONES["heading"] * WORD,
        Words(zone="offer"): ZONES["offer"] * WORD,
    },
    version=4,
    weigh=damped_frequency,
)

#: The *article* (see notes/mechanisms.rst): shingles with a stopword, also of title and headings, constant weights,
#: FNV-1a; a bit is set if its sum is above 0.
CLASSIC = Scheme(
    {Shingles(3, "required"): 1, Headings(3): 1, Title(3): 1},
    feature_hash=FNV1A,
    weigh=log_frequency,
    ties="zero",
)

#: The *digest* of the paper (see notes/mechanisms.rst): words without stopwords, weighted by frequency; a bit is set
#: if its sum is above 0.
MANKU = Scheme({Words(stopwords="removed"): 1}, weigh=log_frequency, ties="zero")

#: The *Java class* (see notes/mechanisms.rst): words weighted by frequency, FNV-1 over UTF-16; a bit is set if its
#: sum is 0 or more.
FNV_WORDS = Scheme({Words(): 1}, feature_hash=FNV1_UTF16, weigh=term_frequency, ties="one")

#: The *slides* (see notes/mechanisms.rst): words as numbers of GB2312, and an enumerated value; a bit is set if its
#: sum is 0 or more.
SLIDES = Scheme(
    {Words(): 1, Enumerated(language, languages()): 1}, feature_hash=GB2312, weigh=term_frequency, ties="one"
)

#: The generator of simhash-cpp: windows of three runs of letters, the Jenkins hash; a bit is set by a majority.
MOZ = Scheme({CyclicWindows(3): 1}, weigh=term_frequency, ties="zero")

SCHEMES = {
    "web": WEB,
    "classic": CLASSIC,
    "manku": MANKU,
    "fnv-words": FNV_WORDS,
    "slides": SLIDES,
    "moz": MOZ,
}


def scheme_named(name: str) -> Scheme:
    """Return the scheme with a name, or at an import path. Raises SettingError if there is no such scheme.

    >>> scheme_named("moz").ties
    'zero'
    """
    if name in SCHEMES:
        return SCHEMES[name]
    found = imported("SIMHASH_SCHEME", name)
    if not isinstance(found, Scheme):
        raise SettingError(f"SIMHASH_SCHEME must be the import path of a Scheme, got {name!r}: {found!r}")
    return found
