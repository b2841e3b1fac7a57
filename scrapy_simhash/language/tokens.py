"""Text to tokens: the words of any script, in the form that is compared.

A token is a run of letters, digits and combining marks. Apostrophes and hyphens split (``l'été`` gives
``l`` and ``été``), so that typography does not matter. A run of a script without spaces becomes its
overlapping character bigrams: 近似网页 gives 近似, 似网, 网页.
"""

from __future__ import annotations

import re
from itertools import pairwise
from unicodedata import normalize as _to_form

from scrapy_simhash.language.scripts import INVISIBLE, MARKS, UNSPACED

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WORD = re.compile(rf"(?:[^\W_]|[{MARKS}])+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
# The marks of an unspaced script (Thai vowels) are in UNSPACED, whose branch comes first.
_RUN = re.compile(rf"([{UNSPACED}][{UNSPACED}{MARKS}]*)|(?:[^\W_{UNSPACED}]|[{MARKS}])+")
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")


def normalize(text: str) -> str:
    """Return *text* as it is compared: NFKC, case folded, without invisible characters.

    Full-width forms, ligatures, composed and decomposed accents, soft hyphens and case stop mattering.
    Idempotent. O(len(text)).

    >>> normalize("ﬁne ＣＡＦÉ Straße")
    'fine café strasse'
    """
    if text.isascii():
        return text.lower()
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
    if _UNSPACED.search(normalized) is None:
        return _WORD.findall(normalized)
    tokens: list[str] = []
    for run in _RUN.finditer(normalized):
        word = run.group()
        if run.group(1) is None or len(word) == 1:
            tokens.append(word)
        else:
            tokens.extend(map("".join, pairwise(word)))
    return tokens
