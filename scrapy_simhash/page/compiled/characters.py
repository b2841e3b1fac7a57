"""What the kernel knows about characters: asked of the pure functions, on this very interpreter, 256 at a time.

A character is normalised by itself wherever that is the same as normalising the text it stands in. NFKC looks at
neighbours only where a mark may move or a pair may compose; such characters are ``COMPLEX``, and the kernel leaves
the word they stand in to :func:`~scrapy_simhash.page.language.normalize`.

Source: Unicode Standard Annex 15 (quick check), Unicode Character Database 13.0 (compositions).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from struct import pack
from typing import NamedTuple
from unicodedata import category, combining, decomposition
from unicodedata import normalize as to_form

from scrapy_simhash.page.language import normalize
from scrapy_simhash.page.language.scripts import INVISIBLE, MARKS, UNSPACED, in_first_plane

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
_INVISIBLE = re.compile(f"[{INVISIBLE}]")


class _Forms(NamedTuple):
    """What becomes of one character by itself."""

    normal: str
    composed: str
    decomposed: str


def char_block(number: int) -> tuple[bytes, bytes, bytes, bytes]:
    """Return what is known about the characters ``256 * number`` to ``256 * number + 255``.

    That is how each is normalised (32 bits in the byte order of the machine), its classes (8 bits), its place in the
    order of marks (8 bits), and what the characters of kind ``MANY`` become (32 bits each). Takes 0.2 to 0.5 ms.
    """
    characters = [chr(SIZE * number + i) for i in range(SIZE)]
    classes = _classes("".join(characters))
    if _are_plain(characters):
        return pack(f"={SIZE}I", *_entries(characters, classes)), classes, bytes(SIZE), b""
    seconds = _SECONDS | _seconds_of(characters)
    normal: list[int] = []
    order = bytearray()
    more: list[int] = []
    for character, own, forms in zip(characters, classes, _forms(characters), strict=True):
        if forms.normal == forms.decomposed == character and not combining(character):
            joins = character in seconds or _is_unknown(character, own)
            entry, place = COMPLEX if joins else ONE | own << CLASSES_SHIFT | ord(character), 0
        else:
            entry, place = _kind(character, own, forms, seconds), combining(character)
        if entry == ONE:
            entry |= (
                own << CLASSES_SHIFT | ord(character)
                if forms.normal == character
                else _with_classes(forms.normal)
            )
        elif entry == MANY:
            entry |= len(more) << 8 | len(forms.normal)
            more += map(_with_classes, forms.normal)
            # Case folding may make a letter of a mark: while it is one, a mark that follows can move before it.
            place = _BEFORE_NO_MARK if any(map(combining, forms.normal + forms.composed)) else 0
        normal.append(entry)
        order.append(place)
    return pack(f"={SIZE}I", *normal), classes, bytes(order), pack(f"={len(more)}I", *more)


def _are_plain(characters: Sequence[str]) -> bool:
    """Tell whether each of *characters* is normalised to itself, and none is a mark or joins another: ideographs."""
    text = "".join(characters)
    return (
        {kind[0] for kind in set(map(category, characters))}.isdisjoint("CM")
        and _SECONDS.isdisjoint(characters)
        and normalize(text) == to_form("NFKD", text) == text
    )


def _forms(characters: Sequence[str]) -> list[_Forms]:
    """Return the forms of each of *characters*, which are told apart by one that changes with none."""
    between = "\n" if "\n" not in characters else "\u2028"
    functions: tuple[Callable[[str], str], ...] = (
        normalize,
        lambda text: to_form("NFKC", text),
        lambda text: to_form("NFKD", text),
    )
    forms = (function(between.join(characters)).split(between) for function in functions)
    return list(map(_Forms, *forms))


def _seconds_of(characters: Sequence[str]) -> set[str]:
    """Return the second characters of the compositions among *characters*."""
    parts = [decomposition(character).split() for character in characters]
    return {chr(int(part[1], 16)) for part in parts if len(part) == 2 and not part[0].startswith("<")}


def _classes(text: str) -> bytes:
    """Return the classes of every character of *text*."""
    marked, unspaced_ones = _patterns(max(text) > "\uffff")
    # A byte of each number is a character's, 0 or 1.
    words, marks, unspaced, decimals = (
        int.from_bytes(bytes(map(is_one, text)), "big")
        for is_one in (
            str.isalnum,
            frozenset(marked.findall(text)).__contains__,
            frozenset(unspaced_ones.findall(text)).__contains__,
            str.isdecimal,
        )
    )
    classes = WORD * words | MARK * marks | IS_UNSPACED * unspaced | DECIMAL * decimals
    return classes.to_bytes(len(text), "big")


@cache
def _patterns(beyond_first_plane: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of marks and of unspaced scripts; those of the first plane alone are much faster."""
    sets = (MARKS, UNSPACED) if beyond_first_plane else map(in_first_plane, (MARKS, UNSPACED))
    marked, unspaced = (re.compile(f"[{characters}]") for characters in sets)
    return marked, unspaced


def _entries(characters: Iterable[str], classes: bytes) -> list[int]:
    """Return the entries of *characters* that are normalised to themselves."""
    return [
        ONE | own << CLASSES_SHIFT | code for own, code in zip(classes, map(ord, characters), strict=True)
    ]


# Of many blocks the characters are made of the same few: the parts of Hangul syllables, Latin letters.
@lru_cache(maxsize=512)
def _with_classes(character: str) -> int:
    return _classes(character)[0] << CLASSES_SHIFT | ord(character)


def _is_unknown(character: str, classes: int) -> bool:
    """Tell whether nothing can be said of *character*: a surrogate, or a mark newer than the table of marks."""
    kind = category(character)
    return kind == "Cs" or (kind[0] == "M" and not classes & MARK and not _INVISIBLE.match(character))


def _kind(character: str, classes: int, forms: _Forms, seconds: frozenset[str]) -> int:
    """Return how a *character* that changes, or is a mark, is normalised."""
    normal, first, order = forms.normal, forms.decomposed[0], combining(character)
    if not seconds.isdisjoint((character, first, *normal[:1])) or _is_unknown(character, classes):
        return COMPLEX
    if combining(first) and (order != combining(first) or normal != character):
        return COMPLEX
    if not normal:
        return GONE
    if combining(normal[0]) != order or len(normal) > 255:
        return COMPLEX
    return ONE if len(normal) == 1 else MANY
