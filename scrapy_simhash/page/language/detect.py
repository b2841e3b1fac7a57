"""Count the words and characters of a text by language, for :mod:`~scrapy_simhash.page.language.choose`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from scrapy_simhash.page.language.choose import DECLARED, SCRIPTS, Counts, choose
from scrapy_simhash.patterns import lazy_pattern

# The stopword lists: a text file with the function words of each language.
#
# To add a language, add ``stopwords/<code>.txt`` (ISO 639-1): one token per line as
# :func:`~scrapy_simhash.page.language.tokens.tokenize` yields it; ``#`` starts a comment.

_LISTS = files("scrapy_simhash.page.language") / "stopwords"


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the languages with a list, sorted."""
    return tuple(sorted(file.name[:-4] for file in _LISTS.iterdir() if file.name.endswith(".txt")))


@cache
def stopwords(language: str | None) -> frozenset[str]:
    """Return the stopwords of *language* (ISO 639-1, lower case); empty without a list.

    Reads the list at the first call for a language.

    >>> "the" in stopwords("en"), stopwords("zh"), stopwords(None)
    (True, frozenset(), frozenset())
    """
    if language not in languages():
        return frozenset()
    lines = (_LISTS / f"{language}.txt").read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


#: Max tokens that are read; the beginning of a text determines its language.
SAMPLE = 1_000

#: Characters of the scripts that determine a language; for Japanese these are the kana, which are mixed with Han.
CHARACTERS = {
    "ja": lazy_pattern("[\u3041-\u30ff]"),
    "th": lazy_pattern("[\u0e01-\u0e4e]"),
    "lo": lazy_pattern("[\u0e81-\u0edf]"),
    "my": lazy_pattern("[\u1000-\u109f]"),
    "km": lazy_pattern("[\u1780-\u17dd]"),
    "zh": lazy_pattern("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f]"),
    "ko": lazy_pattern("[\uac00-\ud7a3]"),
}

#: Languages that may be written only in Han, for which a declaration counts.
WRITTEN_IN_HAN = frozenset(("ja", "yue", "zh"))

# Matches any of these characters. Without a match, characters are not counted.
_ANY_SCRIPT = lazy_pattern("".join(pattern.pattern for pattern in CHARACTERS.values()).replace("][", ""))

# ISO 639 codes that are not a language: uncoded, several, undetermined, none.
_NO_LANGUAGE = frozenset(("mis", "mul", "und", "zxx"))
_SUBTAG = lazy_pattern(r"\s*([A-Za-z]{2,3})(?![A-Za-z])")


def primary_subtag(tag: str | None) -> str | None:
    """Return the language of a BCP 47 *tag* in lower case; None for a tag without a language.

    >>> primary_subtag(" zh-Hans-CN "), primary_subtag("en, fr"), primary_subtag("x-klingon")
    ('zh', 'en', None)
    """
    match = _SUBTAG.match(tag) if tag else None
    return match[1].lower() if match and match[1].lower() not in _NO_LANGUAGE else None


def detect(tokens: Sequence[str], declared: str | None = None) -> str | None:
    """Return the ISO 639-1 code of the language of *tokens*, or None if it is unknown.

    *declared* (a primary subtag) is used if the text agrees with it or is inconclusive.
    O(min(len(tokens), SAMPLE)).

    >>> detect("the cat sat on the mat and it was not a dog".split())
    'en'
    >>> detect("el gato que se sienta en la alfombra no es un perro y los otros lo saben".split(), declared="en")
    'es'
    """
    sample = tokens[:SAMPLE]
    text = "".join(sample)
    scripts = [0] * len(SCRIPTS)
    if not text.isascii() and _ANY_SCRIPT.search(text) is not None:
        scripts = [len(CHARACTERS[code].findall(text)) for code in SCRIPTS]
    listed = languages()
    votes = [0] * len(listed)
    voters = _voters()
    words = Counter(sample)
    for word in words.keys() & voters.keys():
        for number in voters[word]:
            votes[number] += words[word]
    number = listed.index(declared) if declared in listed else -1
    is_han = declared in WRITTEN_IN_HAN
    chosen = choose(
        Counts(len(sample), len(text), scripts, len(listed), votes, bool(declared), is_han, number)
    )
    return declared if chosen == DECLARED else (*listed, *SCRIPTS)[chosen]


@cache
def _voters() -> dict[str, tuple[int, ...]]:
    """Return, for each stopword, the numbers of the languages for which it votes."""
    voters: dict[str, tuple[int, ...]] = {}
    for number, language in enumerate(languages()):
        # Single letters are elisions (l', d') in some languages, and list markers or variables in all languages.
        for word in (word for word in stopwords(language) if len(word) > 1):
            voters[word] = (*voters.get(word, ()), number)
    return voters
