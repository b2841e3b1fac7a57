"""The schemes by name, and any other by its import path: what ``SIMHASH_SCHEME`` may hold."""

from __future__ import annotations

from importlib import import_module

from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.page.features.extract import WORD, ZONES
from scrapy_simhash.page.language.detect import languages
from scrapy_simhash.page.schemes.hashes import FNV1_UTF16, FNV1A, GB2312
from scrapy_simhash.page.schemes.kinds import CyclicWindows, Headings, Shingles, Title, Words
from scrapy_simhash.page.schemes.markup import Enumerated, language
from scrapy_simhash.page.schemes.scheme import Scheme, damped_frequency, log_frequency, term_frequency

#: The default, told in the words of schemes. A crawl makes its fingerprints with code of their own, which is many
#: times as fast and makes a sketch beside them; a test compares the two.
WEB = Scheme(
    {
        Shingles(2, "required", "body"): ZONES["body"],
        Shingles(2, "required", "heading"): ZONES["heading"],
        Shingles(2, "required", "offer"): ZONES["offer"],
        Words(zone="body"): ZONES["body"] * WORD,
        Words(zone="heading"): ZONES["heading"] * WORD,
        Words(zone="offer"): ZONES["offer"] * WORD,
    },
    version=2,
    weigh=damped_frequency,
)

#: The English article: shingles of words that hold a stopword, title and headings beside them, constant weights,
#: FNV-1a, a bit for a tally above 0.
CLASSIC = Scheme(
    {Shingles(3, "required"): 1, Headings(3): 1, Title(3): 1},
    feature_hash=FNV1A,
    weigh=log_frequency,
    ties="zero",
)

#: The Spanish digest of the paper: words without stopwords, by how often they occur, a bit for a sum above 0.
MANKU = Scheme({Words(stopwords="removed"): 1}, weigh=log_frequency, ties="zero")

#: The Java class: words by how often they occur, FNV-1 over UTF-16, a bit for a sum of 0 or more.
FNV_WORDS = Scheme({Words(): 1}, feature_hash=FNV1_UTF16, weigh=term_frequency, ties="one")

#: The lecture slides: words as numbers of GB2312, and one enumerated value; a bit for a sum of 0 or more.
SLIDES = Scheme(
    {Words(): 1, Enumerated(language, languages()): 1}, feature_hash=GB2312, weigh=term_frequency, ties="one"
)

#: The generator of simhash-cpp: windows of three runs of letters, the jenkins hash, a bit for a majority.
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
    """Return the scheme of a name, or at an import path. Raises SettingError if there is none.

    >>> scheme_named("moz").ties
    'zero'
    """
    if name in SCHEMES:
        return SCHEMES[name]
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingError(f"SIMHASH_SCHEME: cannot import {name!r}: {error}") from error
    if not isinstance(found, Scheme):
        raise SettingError(f"SIMHASH_SCHEME must be the import path of a Scheme, got {name!r}: {found!r}")
    return found
