"""What the kernel knows about characters: asked of the pure functions, on this very interpreter, 256 at a time.

A character is normalised by itself wherever that is the same as normalising the text it stands in. NFKC looks at
neighbours only where a mark may move or a pair may compose; such characters are ``COMPLEX``, and the kernel leaves
the word they stand in to :func:`~scrapy_simhash.page.language.normalize`.

Source: Unicode Standard Annex 15 (quick check), Unicode Character Database 13.0 (compositions).
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from struct import pack
from unicodedata import category, combining, decomposition
from unicodedata import normalize as to_form

from scrapy_simhash.page.language.tokens import INVISIBLE, MARKS, UNSPACED, normal_form

SIZE = 256

#: Classes of a character, as bits.
WORD, MARK, IS_UNSPACED, DECIMAL = 1, 2, 4, 8

#: How a character is normalised: the two upper bits of its entry, with what the others say.
ONE, MANY, GONE, COMPLEX = (kind << 30 for kind in range(4))
#: A character with its classes: 21 bits, and those above.
CLASSES_SHIFT = 21

# Beyond any canonical combining class: whatever mark follows is out of order.
_BEFORE_NO_MARK = 255

# Second characters of canonical compositions. The list is final for the characters of Unicode 13: a pair of them
# never gets a composition later. Newer ones are found by the compositions of their own block.
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
    """A set of characters as ranges of codes. To search for it instead takes a pattern, compiled in 5 to 20 ms."""

    def __init__(self, characters: str) -> None:
        """Make one of *characters*, the inside of a regular expression's ``[...]``; see `character_class`."""
        ends = re.findall(r"\\U(\w{8})(?:-\\U(\w{8}))?", characters)
        #: The first code of each range and the code after its last, one after the other.
        self._ends = sorted(
            code for first, last in ends for code in (int(first, 16), int(last or first, 16) + 1)
        )

    def has(self, code: int) -> bool:
        """Tell whether a character is in the set."""
        return bisect(self._ends, code) % 2 == 1

    def row(self, start: int) -> bytes:
        """Return 1 or 0 for each of the `SIZE` characters from *start* on."""
        stop = start + SIZE
        ends = self._ends[bisect(self._ends, start) : bisect(self._ends, stop - 1)]
        row, is_in = b"", self.has(start)
        for first, last in pairwise((start, *ends, stop)):
            row += bytes((is_in,)) * (last - first)
            is_in = not is_in
        return row


_MARKED, _UNSPACED, _INVISIBLE = _Ranges(MARKS), _Ranges(UNSPACED), _Ranges(INVISIBLE)


# Blocks of ideographs and of syllables of Hangul: each character is a letter, and normalised to itself, which Unicode
# promises for good. (Behind the last ideographs of 13.0 later versions have more.)
_LETTERS = frozenset((*range(0x4E, 0x9F), *range(0xAC, 0xD7)))


def char_block(number: int) -> tuple[bytes, bytes, bytes, bytes]:
    """Return what is known about the characters ``256 * number`` to ``256 * number + 255``.

    That is how each is normalised (32 bits in the byte order of the machine), its classes (8 bits), its place in the
    order of marks (8 bits), and what the characters of kind ``MANY`` become (32 bits each). The first is empty where
    each is normalised to itself. Takes 20 to 300 µs.
    """
    codes = range(SIZE * number, SIZE * (number + 1))
    characters = list(map(chr, codes))
    classes = _classes(codes.start, characters)
    if number in _LETTERS or _are_plain(characters):
        return b"", classes, bytes(SIZE), b""
    seconds = _SECONDS | _seconds_of(characters)
    kinds = map(category, characters)
    unknown = {
        ch for ch, kind, own in zip(characters, kinds, classes, strict=True) if _is_unknown(ch, kind, own)
    }
    normal: list[int] = []
    more: list[int] = []
    order = bytearray(map(combining, characters))
    rows = zip(characters, classes, _each(normal_form, characters), _each(_apart, characters), strict=True)
    for i, (character, own, form, apart) in enumerate(rows):
        entry = ONE
        if character in seconds or character in unknown:
            entry = COMPLEX
        elif not form == apart == character or order[i]:
            entry = _kind(character, form, apart, seconds)
        if entry == ONE:
            entry |= own << CLASSES_SHIFT | codes[i] if form == character else _with_classes(form)
        elif entry == MANY:
            entry |= len(more) << 8 | len(form)
            more += map(_with_classes, form)
            # Case folding may make a letter of a mark: while it is one, a mark that follows can move before it.
            order[i] = _BEFORE_NO_MARK if any(map(combining, form + to_form("NFKC", character))) else 0
        normal.append(entry)
    return pack(f"={SIZE}I", *normal), classes, bytes(order), pack(f"={len(more)}I", *more)


def _are_plain(characters: Sequence[str]) -> bool:
    """Tell whether each of *characters* is normalised to itself, and none is a mark or joins another."""
    text = "".join(characters)
    if not {kind[0] for kind in set(map(category, characters))}.isdisjoint("CM") or normal_form(text) != text:
        return False
    firsts = {form[0] for form in _each(_apart, characters)}
    return _SECONDS.isdisjoint(firsts.union(characters)) and not any(map(combining, firsts))


def _apart(text: str) -> str:
    """Return *text* with its characters taken apart."""
    return to_form("NFKD", text)


def _each(form_of: Callable[[str], str], characters: Sequence[str]) -> list[str]:
    """Return the form of each of *characters*, which are told apart by one that changes with none."""
    between = "\n" if "\n" not in characters else "\u2028"
    return form_of(between.join(characters)).split(between)


def _seconds_of(characters: Sequence[str]) -> set[str]:
    """Return the second characters of the compositions among *characters*."""
    parts = [known.split() for known in map(decomposition, characters) if known and known[0] != "<"]
    return {chr(int(part[1], 16)) for part in parts if len(part) == 2}


def _classes(start: int, characters: Sequence[str]) -> bytes:
    """Return the classes of `SIZE` *characters*, of which *start* is the first code."""
    # A byte of each number is a character's, 0 or 1.
    words, marks, unspaced, decimals = (
        int.from_bytes(row, "big")
        for row in (
            bytes(map(str.isalnum, characters)),
            _MARKED.row(start),
            _UNSPACED.row(start),
            bytes(map(str.isdecimal, characters)),
        )
    )
    classes = WORD * words | MARK * marks | IS_UNSPACED * unspaced | DECIMAL * decimals
    return classes.to_bytes(SIZE, "big")


# Of many blocks the characters are made of the same few: the parts of Hangul syllables, Latin letters.
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


def _is_unknown(character: str, kind: str, classes: int) -> bool:
    """Tell whether nothing can be said of *character*: a surrogate, or a mark newer than the table of marks."""
    return kind == "Cs" or (kind[0] == "M" and not classes & MARK and not _INVISIBLE.has(ord(character)))


def _kind(character: str, form: str, apart: str, seconds: frozenset[str]) -> int:
    """Return how a *character* that changes, or is a mark, is normalised: to *form*."""
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
