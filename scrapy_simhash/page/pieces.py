"""Split the main text into text blocks, by which the boilerplate of a site is recognised.

A text block (piece) is a run of about eleven tokens of one paragraph. The tokens determine where a block ends, so
equal sentences are split into equal blocks whatever text precedes them. So a sentence that a site repeats on all its
pages is recognised even inside a paragraph of unique text.

Source: content-defined chunking, as in Muthitacharoen, Chen, Mazieres, "A low-bandwidth network file system", 2001.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from scrapy_simhash.page.fingerprint.fold import SCATTER, number
from scrapy_simhash.page.text import Document
from scrapy_simhash.page.text.document import Paragraph, Zone

#: A text block of at least `MIN_TOKENS` tokens ends at the first word, not a number, whose hash is a multiple of
#: `CUT`.
CUT = 8
MIN_TOKENS = 4
#: Text blocks with fewer tokens are labels and names, which must occur on more pages to count as boilerplate.
SHORT_TOKENS = 5
_MASK = 2**64 - 1
#: Flag of a text block that is boilerplate. A text block with any other flag except 0 may be boilerplate.
OF_SITE = 1
#: The unique text is doubtful if more than one in this many of its tokens may be boilerplate.
DOUBTFUL_SHARE = 5
#: Max words between the day and the year of a date.
DATE_REACH = 3
#: The text of paragraphs with these values of ``Paragraph.boilerplate`` counts for `words_number`.
WORDED = (None, "edge")


class Piece(NamedTuple):
    """A run of tokens inside one paragraph of the main text."""

    key: int
    """64-bit hash of the tokens, with all numbers equal; odd if the text block is short."""
    zone: Zone
    tokens: tuple[str, ...]


def pieces(document: Document) -> list[Piece]:
    """Return the text blocks of the main text, in order; together they contain all its tokens. O(tokens)."""
    return list(chain.from_iterable(_cut(part.zone, part.tokens) for part in document.main))


def made_of(document: Document, parts: Iterable[Piece]) -> Document:
    """Return *document* with *parts* as its paragraphs."""
    return Document(
        document.title,
        document.language,
        document.title_key,
        tuple(Paragraph("", piece.tokens, piece.zone, "", 0.0, None) for piece in parts),
    )


def is_doubtful(tokens: int, doubtful: int) -> bool:
    """Return whether too many of the unique *tokens* may turn out to be boilerplate.

    If such unique texts were compared now, the same tokens might be boilerplate in one page and unique in the other.
    """
    return doubtful * DOUBTFUL_SHARE > tokens


def words_number(document: Document) -> int:
    """Return a 16-bit hash of the words of the article in any order, without numbers and the words of dates.

    Text before and after the main text also counts, because a number may determine whether it is main text.

    Copies of a page differ in counters and dates; different pages with the same title differ in a name. The words of
    a date are up to three words between a day and a year, and one word before a day that is followed by a year.
    O(tokens).
    """
    total = 0
    for tokens in (part.tokens for part in document.paragraphs if part.boilerplate in WORDED):
        decimal = [token.isdecimal() for token in tokens]
        for i, token in enumerate(tokens):
            if not (decimal[i] or _is_in_date(tokens, decimal, i)):
                total += number(token)
    return (total * SCATTER & _MASK) >> 48


def _is_in_date(tokens: Sequence[str], decimal: Sequence[bool], i: int) -> bool:
    """Return whether word *i* belongs to a date: ``3 May 2026``, ``3 de mayo de 2026``, ``May 3, 2026``."""
    after = next((k for k in range(i + 1, min(i + 1 + DATE_REACH, len(tokens))) if decimal[k]), None)
    if after is None:
        return False
    if after == i + 1 and is_day(tokens[after]) and after + 1 < len(tokens) and is_year(tokens[after + 1]):
        return True
    before = next((k for k in range(i - 1, after - 2 - DATE_REACH, -1) if k >= 0 and decimal[k]), None)
    return before is not None and is_day(tokens[before]) and is_year(tokens[after])


def is_year(number: str) -> bool:
    """Return whether a token is a year: from 1900 to 2099."""
    return len(number) == 4 and number.startswith(("19", "20")) and number.isdecimal()


def is_day(number: str) -> bool:
    """Return whether a token is the day of a month: one or two ASCII digits, up to 39."""
    return len(number) == 1 or (len(number) == 2 and number[0] in "0123")


def _cut(zone: Zone, tokens: Sequence[str]) -> list[Piece]:
    found, start = [], 0
    for stop, token in enumerate(tokens, 1):
        is_end = stop - start >= MIN_TOKENS and number(token) % CUT == 0 and not token.isdecimal()
        if is_end or stop == len(tokens):
            part = tuple(tokens[start:stop])
            found.append(Piece(_key(part), zone, part))
            start = stop
    return found


def _key(tokens: Sequence[str]) -> int:
    key = 0
    for token in tokens:
        key = ((key ^ number("0" if token.isdecimal() else token)) * SCATTER) & _MASK
        key ^= key >> 32
    return key & ~1 | (len(tokens) < SHORT_TOKENS)
