"""Character grams: runs of characters, for text without word breaks and text with many spelling errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from unicodedata import category

from scrapy_simhash.page.language import normalize
from scrapy_simhash.page.schemes.kinds.feature_kind import Page
from scrapy_simhash.page.schemes.kinds.runs import runs


@dataclass(frozen=True)
class CharacterGrams:
    """Every run of *size* characters of a paragraph, with one space between its words.

    >>> from scrapy_simhash.page.text import plain_text
    >>> list(CharacterGrams(4)(Page(plain_text("Fog, sea!"))))
    ['fog ', 'og s', 'g se', ' sea']
    """

    size: int = 4

    def __call__(self, page: Page) -> Iterator[str]:
        """Yield the grams, in order; a shorter paragraph is one shorter gram."""
        for words in runs(page, None, words_apart):
            text = " ".join(words)
            for start in range(max(1, len(text) - self.size + 1) if text else 0):
                yield text[start : start + self.size]


def words_apart(text: str) -> list[str]:
    """Return the words of *text*, without cutting runs of unspaced scripts into bigrams.

    >>> words_apart("Fog in 北京市!")
    ['fog', 'in', '北京市']
    """
    # A mark belongs to its letter: the vowels of Thai and Hindi are marks.
    return "".join(
        one if one.isalnum() or category(one)[0] == "M" else " " for one in normalize(text)
    ).split()
