"""The stopword lists: the function words of a language, a text file each.

A language is added by adding ``stopwords/<code>.txt`` (ISO 639-1): one token a line as
:func:`~scrapy_simhash.page.language.tokens.tokenize` yields it, ``#`` starts a comment.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

_LISTS = files("scrapy_simhash.page.language") / "stopwords"


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the languages that have a list, sorted."""
    return tuple(sorted(file.name[:-4] for file in _LISTS.iterdir() if file.name.endswith(".txt")))


@cache
def stopwords(language: str | None) -> frozenset[str]:
    """Return the stopwords of *language* (ISO 639-1, lower case); empty for one without a list.

    Reads a file at the first call for a language, nothing later.

    >>> "the" in stopwords("en"), stopwords("zh"), stopwords(None)
    (True, frozenset(), frozenset())
    """
    if language not in languages():
        return frozenset()
    lines = (_LISTS / f"{language}.txt").read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))
