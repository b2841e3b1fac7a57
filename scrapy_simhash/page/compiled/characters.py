"""Character tables of the C extension, computed at first use by the pure functions of this interpreter.

A character is normalised alone if the result equals that of normalising the text around it. NFKC depends on
neighbours only if a mark may move or a pair may compose; such characters are ``COMPLEX``, and the C extension passes
their words to :func:`~scrapy_simhash.page.language.normalize`.

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

#: Classes of a character, as bits.
WORD, MARK, IS_UNSPACED, DECIMAL = 1, 2, 4, 8

#: Kinds of normalisation: the two upper bits of an entry, which define the meaning of the other bits.
ONE, MANY, GONE, COMPLEX = (kind << 30 for kind in range(4))
#: A character with its classes: 21 bits for the character, and the bits above for the classes.
CLASSES_SHIFT = 21

# Greater than any canonical combining class, so that any following mark is out of order.
_BEFORE_NO_MARK = 255
_SECOND_PLANE = 0x10000

# Second characters of canonical compositions. For the characters of Unicode 13 the list is final, because Unicode
# never adds a composition for existing pairs. Newer second characters are beyond the first plane, and are looked up
# by block.
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
    """A set of characters as ranges of codes. A regular expression would take 5 to 20 ms to compile."""

    def __init__(self, characters: str) -> None:
        """*characters* is the inside of a regular expression's ``[...]``; see `character_class`."""
        ends = re.findall(r"\\U(\w{8})(?:-\\U(\w{8}))?", characters)
        #: The first code of each range and the code after its last one, alternately.
        self._ends = sorted(
            code for first, last in ends for code in (int(first, 16), int(last or first, 16) + 1)
        )

    def has(self, code: int) -> bool:
        """Return whether a character is in the set."""
        return bisect(self._ends, code) % 2 == 1


_MARKED, _UNSPACED, _INVISIBLE = _Ranges(MARKS), _Ranges(UNSPACED), _Ranges(INVISIBLE)


# Blocks of ideographs and of Hangul syllables: Unicode guarantees that each character is a letter that is normalised
# to itself. (Later versions have more ideographs after the last one of 13.0.)
_LETTERS = frozenset((*range(0x4E, 0x9F), *range(0xAC, 0xD7)))


def character(code: int) -> tuple[int | None, int, int, bytes]:
    """Return normalisation, classes, combining class and replacement of a character.

    The normalisation is None if all characters of the block are letters of these classes that are normalised to
    themselves. Characters of the kind ``MANY`` have a replacement, 32 bits for each character in native byte order.
    Takes a few microseconds.
    """
    text = chr(code)
    own = _with_classes(text)
    classes, block = own >> CLASSES_SHIFT, code // SIZE
    if block in _LETTERS:
        return None, classes, 0, b""
    order = combining(text)
    seconds = _SECONDS if code < _SECOND_PLANE else _seconds(block)
    if text in seconds or _is_unknown(text, classes):
        return COMPLEX, classes, order, b""
    apart = to_form("NFKD", text)
    # The result of normal_form() for one character.
    form = "" if _INVISIBLE.has(code) else to_form("NFKC", to_form("NFKC", text).casefold())
    if form == apart == text and not order:
        return own, classes, 0, b""
    kind = _kind(text, form, apart, seconds)
    if kind == ONE:
        return _with_classes(form), classes, order, b""
    if kind != MANY:
        return kind, classes, order, b""
    # Case folding may turn a mark into a letter; before that, a following mark can move before it.
    order = _BEFORE_NO_MARK if any(map(combining, form + to_form("NFKC", text))) else 0
    return kind, classes, order, pack(f"={len(form)}I", *map(_with_classes, form))


@lru_cache(maxsize=512)
def _seconds(block: int) -> frozenset[str]:
    """Return the second characters of compositions: those of Unicode 13, and those of the characters of *block*."""
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


def _kind(character: str, form: str, apart: str, seconds: frozenset[str]) -> int:
    """Return how to normalise a *character* that changes to *form* or is a mark."""
    first, order = apart[0], combining(character)
    if first in seconds or form[:1] in seconds:
        return COMPLEX
    if combining(first) and (order != combining(first) or form != character):
        return COMPLEX
    if not form:
        return GONE
    if combining(form[0]) != order or len(form) > 255:
        return COMPLEX
    return ONE if len(form) == 1 else MANY
