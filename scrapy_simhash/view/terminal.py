"""Words in lines for a terminal: wrapped by columns, with differences in colours or in brackets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias
from unicodedata import east_asian_width

from scrapy_simhash.display import printable

RED, GREEN, FAINT, PLAIN = "\x1b[1;31m", "\x1b[1;32m", "\x1b[2m", "\x1b[0m"
#: Text, and the escape sequence of its colour, empty for none.
Piece: TypeAlias = "tuple[str, str]"
#: Words that are shown at each end of a longer text.
CONTEXT = 12


def wrapped(pieces: Iterable[Piece], width: int, first: str = "", rest: str = "") -> Iterator[str]:
    """Yield lines of at most *width* columns; *first* is the prefix of the first line, *rest* of the others.

    >>> list(wrapped([("the last wooden ferry", "")], 12, "- ", "  "))
    ['- the last', '  wooden', '  ferry']
    """
    line, taken, is_empty = first, columns(first), True
    for text, colour in pieces:
        for word in printable(text).split():
            for part in _parts(word, width - columns(rest)):
                if not is_empty and taken + 1 + columns(part) > width:
                    yield line
                    line, taken, is_empty = rest, columns(rest), True
                line += f"{'' if is_empty else ' '}{colour}{part}{PLAIN if colour else ''}"
                taken += columns(part) + (not is_empty)
                is_empty = False
    if not is_empty:
        yield line


def word_diff(
    ours: Iterable[tuple[str, bool]], theirs: Iterable[tuple[str, bool]], has_colours: bool
) -> Iterator[Piece]:
    """Yield the differences of two paragraphs, in the format of ``git diff --word-diff``.

    Each is in pieces of text, with whether the other has the same piece.

    >>> list(word_diff([("A", True), ("ship.", False)], [("A", True), ("boat.", False)], has_colours=False))
    [('A', ''), ('[-ship.-]', ''), ('{+boat.+}', '')]
    """
    rest = iter(theirs)
    for text, is_common in ours:
        if is_common:
            yield from _added(rest, has_colours)
            yield _shortened(text), ""
        else:
            yield (_shortened(text), RED) if has_colours else (f"[-{_shortened(text)}-]", "")
    yield from _added(rest, has_colours)


def _added(rest: Iterator[tuple[str, bool]], has_colours: bool) -> Iterator[Piece]:
    for text, is_common in rest:
        if is_common:
            return
        yield (_shortened(text), GREEN) if has_colours else (f"{{+{_shortened(text)}+}}", "")


def _shortened(text: str) -> str:
    words = text.split()
    if len(words) <= 2 * CONTEXT + 4:
        return text
    return " ".join([*words[:CONTEXT], "...", *words[-CONTEXT:]])


def _parts(word: str, width: int) -> Iterator[str]:
    """Yield *word* in parts that fit; a script without spaces has one word per paragraph."""
    part, taken = "", 0
    for sign in word:
        if taken + columns(sign) > max(width, 2):
            yield part
            part, taken = "", 0
        part, taken = part + sign, taken + columns(sign)
    yield part


def columns(text: str) -> int:
    """Return the width of *text* in terminal columns."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)
