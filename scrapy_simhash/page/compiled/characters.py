"""Character tables of the C extension, computed at first use by Python functions.

The C extension normalises one character at a time. This is wrong if NFKC depends on the neighbours, because a mark
may move or a pair may compose. Such characters are ``COMPLEX``: the C extension passes the words that contain them to
:func:`~scrapy_simhash.page.language.normalize`.

Source: Unicode Standard Annex 15 (quick check), Unicode Character Database 13.0 (compositions).
"""

from __future__ import annotations

import re
from bisect import bisect
from functools import lru_cache
from struct import pack
from unicodedata import category, combining, decomposition
from unicodedata import normalize as to_form

from scrapy_simhash.page.language.tokens import INVISIBLE, MARKS, UNSPACED

SIZE = 256

#: Character classes, as bits.
WORD, MARK, IS_UNSPACED, DECIMAL = 1, 2, 4, 8

#: Kinds of normalisation: the two highest bits of an entry, which define the meaning of the other bits.
ONE, MANY, GONE, COMPLEX = (kind << 30 for kind in range(4))
#: Shift of the classes, which are above the 21 bits of the code point.
CLASSES_SHIFT = 21

# Greater than any canonical combining class, so that any following mark is out of order.
_BEFORE_NO_MARK = 255
_SECOND_PLANE = 0x10000

# Second characters of canonical compositions. The list is complete for Unicode 13: Unicode never adds a composition
# for a pair of existing characters. Newer second characters are beyond the first plane, and are looked up by block.
_SECONDS = frozenset(
    chr(code)
    for ends in (
        part.split("-")
        for part in """
        300-304 306-30C 30F 311 313-314 31B 323-328 32D-32E 330-331 338 342 345 5B4 5B7-5B9 5BC 5BF 5C1-5C2
        653-655 93C 9BC 9BE 9D7 A3C B3C B3E B56-B57 BBE BD7 C56 CC2 CD5-CD6 D3E D57 DCA DCF DDF F72 F74 F80
        FB5 FB7 102E 1161-1175 11A8-11C2 1B35 3099-309A 110BA 11127 1133E 11357 114B0 114BA 114BD 115AF 11930
        1D165 1D16E-1D172
        """.split()
    )
    for code in range(int(ends[0], 16), int(ends[-1], 16) + 1)
)


class _Ranges:
    """A set of characters, as ranges of code points. A regular expression would take 5 to 20 ms to compile."""

    def __init__(self, characters: str) -> None:
        """*characters* is the inside of a regular expression's ``[...]``; see `character_class`."""
        ends = re.findall(r"\\U(\w{8})(?:-\\U(\w{8}))?", characters)
        #: The first code point of each range and the one after its last, alternately.
        self._ends = sorted(
            code for first, last in ends for code in (int(first, 16), int(last or first, 16) + 1)
        )

    def has(self, code: int) -> bool:
        """Return whether the character with this *code* point is in the set."""
        return bisect(self._ends, code) % 2 == 1


_MARKED, _UNSPACED, _INVISIBLE = _Ranges(MARKS), _Ranges(UNSPACED), _Ranges(INVISIBLE)


# Numbers of blocks that contain only ideographs or Hangul syllables: letters that normalise to themselves. (Versions
# of Unicode after 13.0 add ideographs only after these blocks.)
_LETTERS = frozenset((*range(0x4E, 0x9F), *range(0xAC, 0xD7)))


def character(code: int) -> tuple[int | None, int, int, bytes]:
    """Return the normalisation, classes, combining class and replacement of a character.

    The normalisation is None if all characters of the block are letters of these classes and normalise to themselves.
    Characters of the kind ``MANY`` have a replacement, 32 bits for each character in native byte order. Takes a few
    microseconds.
    """
    text = chr(code)
    entry = _with_classes(text)
    classes, block = entry >> CLASSES_SHIFT, code // SIZE
    if block in _LETTERS:
        return None, classes, 0, b""
    order = combining(text)
    seconds = _SECONDS if code < _SECOND_PLANE else _seconds(block)
    if text in seconds or _is_unknown(text, classes):
        return COMPLEX, classes, order, b""
    decomposed = to_form("NFKD", text)
    # The result of normal_form() for one character.
    form = "" if _INVISIBLE.has(code) else to_form("NFKC", to_form("NFKC", text).casefold())
    if form == decomposed == text and not order:
        return entry, classes, 0, b""
    kind = _kind(text, form, decomposed, seconds)
    if kind == ONE:
        return _with_classes(form), classes, order, b""
    if kind != MANY:
        return kind, classes, order, b""
    # Case folding may turn a mark into a letter. NFKC runs first, and may move the next mark before it.
    order = _BEFORE_NO_MARK if any(map(combining, form + to_form("NFKC", text))) else 0
    return kind, classes, order, pack(f"={len(form)}I", *map(_with_classes, form))


@lru_cache(maxsize=512)
def _seconds(block: int) -> frozenset[str]:
    """Return the second characters of the compositions in Unicode 13, and of those to characters in *block*."""
    known = filter(None, map(decomposition, map(chr, range(SIZE * block, SIZE * (block + 1)))))
    parts = [parts for each in known if len(parts := each.split()) == 2 and each[0] != "<"]
    return _SECONDS.union(chr(int(second, 16)) for _, second in parts)


@lru_cache(maxsize=512)
def _with_classes(character: str) -> int:
    code = ord(character)
    classes = (
        WORD * character.isalnum()
        | MARK * _MARKED.has(code)
        | IS_UNSPACED * _UNSPACED.has(code)
        | DECIMAL * character.isdecimal()
    )
    return classes << CLASSES_SHIFT | code


def _is_unknown(character: str, classes: int) -> bool:
    """Return whether *character* is a surrogate, or a mark newer than the table of marks."""
    kind = category(character)
    return kind == "Cs" or (kind[0] == "M" and not classes & MARK and not _INVISIBLE.has(ord(character)))


def _kind(character: str, form: str, decomposed: str, seconds: frozenset[str]) -> int:
    """Return how to normalise a *character* that changes to *form* or is a mark."""
    first, order = decomposed[0], combining(character)
    if first in seconds or form[:1] in seconds:
        return COMPLEX
    if combining(first) and (order != combining(first) or form != character):
        return COMPLEX
    if not form:
        return GONE
    if combining(form[0]) != order or len(form) > 255:
        return COMPLEX
    return ONE if len(form) == 1 else MANY
