"""Text to tokens: the words of any script, in the form that is compared.

A token is a run of letters, digits and combining marks. Apostrophes and hyphens split (``l'été`` gives
``l`` and ``été``), so that typography does not matter. A run of a script without spaces becomes its
overlapping character bigrams: 近似网页 gives 近似, 似网, 网页.
"""

from __future__ import annotations

import re
from functools import cache
from operator import add
from typing import NamedTuple
from unicodedata import combining
from unicodedata import normalize as _to_form

from scrapy_simhash.page.language.scripts import INVISIBLE, MARKS, PLAIN, UNSPACED, in_first_plane

#: Of a longer run of combining marks and invisible characters only the first so many count: the limit of Unicode's
#: stream-safe text format. No language comes near it, and the time of NFKC grows with the square of a run.
MOST_MARKS = 30

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_PLAIN_WORD = re.compile(r"[^\W_]+")
_NOT_PLAIN = re.compile(f"[^{PLAIN}]")
_BEYOND_FIRST_PLANE = re.compile("[\U00010000-\U0010ffff]")
# One at a time: a search for a set by itself is twice as fast, and hardly any text holds one.
_INVISIBLE = re.compile(f"[{INVISIBLE}]")


class _Patterns(NamedTuple):
    """What text that is not plain is searched for."""

    overlong: re.Pattern[str]
    unspaced: re.Pattern[str]
    word: re.Pattern[str]
    run: re.Pattern[str]


def normalize(text: str) -> str:
    """Return *text* as it is compared: NFKC, case folded, without invisible characters.

    Full-width forms, ligatures, composed and decomposed accents, soft hyphens and case stop mattering.
    Idempotent. O(len(text)).

    >>> normalize("ﬁne ＣＡＦÉ Straße")
    'fine café strasse'
    """
    if text.isascii():
        return text.lower()
    if len(text) > MOST_MARKS and _NOT_PLAIN.search(text):
        text = _patterns_for(text).overlong.sub(r"\1", text)
    return normal_form(text)


def normal_form(text: str) -> str:
    """Return what `normalize` makes of *text* without a run of more than `MOST_MARKS` marks."""
    folded = _INVISIBLE.sub("", _to_form("NFKC", text)).casefold()
    # Case folding takes some composed letters apart (ΐ): put them together again.
    return _to_form("NFKC", folded)


def tokenize(normalized: str) -> list[str]:
    """Return the tokens of *normalized* text, in order; empty when it holds no letter and no digit.

    A run of one single character of an unspaced script is a token by itself. O(len(normalized)).

    >>> tokenize("it's 20 °c in 北京市, 好")
    ['it', 's', '20', 'c', 'in', '北京', '京市', '好']
    """
    if normalized.isascii():
        return _ASCII_WORD.findall(normalized)
    if _NOT_PLAIN.search(normalized) is None:
        return _PLAIN_WORD.findall(normalized)
    patterns = _patterns_for(normalized)
    if patterns.unspaced.search(normalized) is None:
        return patterns.word.findall(normalized.replace("_", " "))
    tokens: list[str] = []
    for unspaced, word in patterns.run.findall(normalized):
        if len(unspaced) > 1:
            tokens += map(add, unspaced, unspaced[1:])
        else:
            tokens.append(unspaced or word)
    return tokens


def _patterns_for(text: str) -> _Patterns:
    return _patterns(_BEYOND_FIRST_PLANE.search(text) is not None)


@cache
def _patterns(beyond_first_plane: bool) -> _Patterns:
    if beyond_first_plane:
        unspaced, marks, invisible, last = UNSPACED, MARKS, INVISIBLE, 0x20000  # ideographs from there on
    else:
        unspaced, marks, invisible = map(in_first_plane, (UNSPACED, MARKS, INVISIBLE))
        last = 0x10000
    # What NFKC moves: by the interpreter, which may know newer marks than our table.
    movable = "".join(filter(combining, map(chr, range(0x300, last)))) + invisible
    return _Patterns(
        # The first by itself: re scans for a set, but not for a repeated one.
        overlong=re.compile(f"([{movable}][{movable}]{{{MOST_MARKS - 1}}})[{movable}]+"),
        unspaced=re.compile(f"[{unspaced}]"),
        # No set can hold ``\w`` without the underscore, which is taken out before.
        word=re.compile(rf"[\w{marks}]+"),
        # The marks of an unspaced script (Thai vowels) are in UNSPACED, whose branch comes first.
        run=re.compile(rf"([{unspaced}][{unspaced}{marks}]*)|((?:[^\W_{unspaced}]|[{marks}])+)"),
    )
