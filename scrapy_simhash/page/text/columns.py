"""Columns: the text blocks of a page as lists of numbers.

The filters of :mod:`~scrapy_simhash.page.text.main_text` read and write only columns. So the same code uses lists or,
if compiled, the C arrays that ``kernel/_native.pxd`` declares with the same names.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from scrapy_simhash.page.text.main_text import HIDDEN
from scrapy_simhash.page.text.outline import Outline
from scrapy_simhash.page.text.tags import CELLS, CHROME_NAMES, ENTRIES, PARAGRAPHS
from scrapy_simhash.patterns import lazy_pattern

_SIGNS = "$€£¥₹₽₩₺₫฿₴₪₦"
_CODES = tuple("USD EUR GBP CHF JPY CNY RMB INR RUB BRL CAD AUD PLN SEK NOK DKK CZK HUF".split())
# Currency words that count only after an amount, and are case-sensitive: 20 Ft are forints, 20 ft are feet.
_WORDS = tuple("zł kr Kč Ft lei лв".split())
_BEGINNINGS = ("円", "원", "руб", "грн")
_YUAN = "元"
#: Every price contains one of these.
CURRENCIES = (*_SIGNS, *_CODES, *_WORDS, *_BEGINNINGS, _YUAN)

_CURRENCY = rf"(?:[{_SIGNS}]|\b(?:{'|'.join(_CODES)})\b)"
_AMOUNT = r"\d[\d.,'’ ]*"
PRICE = lazy_pattern(
    rf"{_CURRENCY}\s?{_AMOUNT}"
    rf"|{_AMOUNT}(?:{_CURRENCY}|{_YUAN}(?!旦)|{'|'.join(_BEGINNINGS)}|(?:{'|'.join(_WORDS)})\b)"
)
# Every price has a digit, and most short blocks have no digit.
_DIGIT = lazy_pattern(r"\d")


def has_price(text: str) -> bool:
    """Return whether *text* contains an amount with a currency. O(characters).

    >>> has_price("only 20 €"), has_price("20 years"), has_price("20 ft"), has_price("20 Ft")
    (True, False, False, True)
    """
    return _DIGIT.search(text) is not None and PRICE.search(text) is not None


#: Marks that end sentences, for languages without a stopword list. Thai and Lao use only spaces, so for these
#: languages the length decides.
SENTENCE_MARKS = frozenset("。．！？｡।॥។။.!?")

#: A year or a time, as in dates of any language.
DATE = lazy_pattern(r"(?<![0-9])(?:(?:19|20)[0-9]{2}|[0-9]{1,2}:[0-9]{2})(?![0-9])")

_NUMBER = lazy_pattern(r"[1-9][0-9]{0,5}")


class _PathFacts(NamedTuple):
    """Properties of a block, derived from its path."""

    is_h1: bool
    is_paragraph: bool
    is_cell: bool
    rank: int


class Columns:
    """The blocks of a page. Each list has one entry per block.

    *tokens* are the tokens of each block; *known* are the stopwords of the language, empty without a list.
    """

    def __init__(
        self, page: Outline, tokens: Sequence[Sequence[str]], known: Collection[str] = frozenset()
    ) -> None:
        blocks = page.blocks
        self.blocks = len(blocks)
        """Number of blocks."""
        self.spans = page.spans
        self.span_count = len(page.spans)
        self.has_stopwords = bool(known)
        """Whether there is a stopword list for the language."""
        self._texts = [block.text for block in blocks]
        self.lengths = list(map(len, self._texts))
        """Characters."""
        self.link_lengths = [block.link_length for block in blocks]
        """Characters within links, at most the number of characters in the block."""
        self.tokens = list(map(len, tokens))
        """Number of tokens."""
        self.stopwords = (
            [sum(map(known.__contains__, block)) for block in tokens] if known else [0] * len(blocks)
        )
        """Number of stopwords."""
        self.is_heading = [block.zone == "heading" for block in blocks]
        """Inside ``h1`` to ``h6``."""
        facts = {path: _path_facts(path) for path in {block.path for block in blocks}}
        found = [facts[block.path] for block in blocks]
        self.is_h1 = [place.is_h1 for place in found]
        """Directly in an ``h1``."""
        self.is_paragraph = [place.is_paragraph for place in found]
        """Directly in one of :data:`~scrapy_simhash.page.text.tags.PARAGRAPHS`."""
        self.is_cell = [place.is_cell for place in found]
        """Directly in a cell of a table."""
        self.ranks = [place.rank for place in found]
        """Level of a heading, as the code of its digit; lower for higher levels, 0 for other blocks."""

        self.is_pictured = [block.is_pictured for block in blocks]
        """Whether the block follows a linked picture in a different element."""
        self.containers = _containers(page)
        """Number of the span around the element that contains the block; -1 for none."""
        parts = [block.path.rpartition("/") for block in blocks]
        self._parents = [part[0] for part in parts]
        self._tags = [part[2] for part in parts]

        # Results of the filters.
        self.is_link = [False] * len(blocks)
        self.is_prose = [False] * len(blocks)
        self.is_offer = [False] * len(blocks)
        self.is_inside = [False] * len(blocks)
        self.reasons = [HIDDEN if block.hidden else 0 for block in blocks]
        """The filter that removed the block, 0 for none. Hidden blocks are removed before the filters run."""

        # Working lists of the filters; ``sums`` has one more entry.
        self.sums = [0] * (len(blocks) + 1)
        self.marks = [0] * len(blocks)
        self.places = [0] * len(blocks)
        # One entry for each word of `CHROME_NAMES`, and one for no word.
        self.held = [0] * (len(CHROME_NAMES) + 1)
        self.stops = [0] * (len(CHROME_NAMES) + 1)

    def has_price(self, i: int) -> bool:
        """Return whether block *i* has a price."""
        return has_price(self._texts[i])

    def has_date(self, i: int) -> bool:
        """Return whether block *i* has a year or a time."""
        return DATE.search(self._texts[i]) is not None

    def is_entry(self, i: int) -> bool:
        """Return whether block *i* is directly in an entry of a list or a table."""
        return self._tags[i] in ENTRIES

    def has_sentence_mark(self, i: int) -> bool:
        """Return whether block *i* contains punctuation that ends a sentence."""
        return not SENTENCE_MARKS.isdisjoint(self._texts[i])

    def counts_up(self, i: int) -> bool:
        """Return whether block *i* consists of consecutive numbers of up to six digits."""
        words = self._texts[i].split(" ")
        if not _NUMBER.fullmatch(words[0]):
            return False
        first = int(words[0])
        return words == [str(number) for number in range(first, first + len(words))]

    def are_beside(self, i: int, k: int) -> bool:
        """Return whether the parents of the elements of blocks *i* and *k* have the same path."""
        return self._parents[i] == self._parents[k]

    def ends_in_letter(self, i: int) -> bool:
        """Return whether the last character of block *i* is a letter or a digit."""
        return self._texts[i][-1].isalnum()


def _containers(page: Outline) -> list[int]:
    """Return, for each block, the number of the second smallest span that contains it. O(blocks + spans)."""
    found: list[int] = []
    around: list[int] = []
    opened = 0
    for i in range(len(page.blocks)):
        while around and page.spans[around[-1]].stop <= i:
            around.pop()
        while opened < len(page.spans) and page.spans[opened].start == i:
            around.append(opened)
            opened += 1
        found.append(around[-2] if len(around) > 1 else -1)
    return found


def _path_facts(path: str) -> _PathFacts:
    tag = path.rpartition("/")[2]
    level = path.rpartition("/h")[2][:1]
    return _PathFacts(path.endswith("/h1"), tag in PARAGRAPHS, tag in CELLS, ord(level) if level else 0)
