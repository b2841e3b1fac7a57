"""Kinds of features from text. Feature kinds from markup are in ``markup.py``."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Literal, Protocol
from unicodedata import category

from lxml import etree

from scrapy_simhash.page.features.shingles import selects_prose, shingle, with_stopword
from scrapy_simhash.page.language import normalize, stopwords, tokenize
from scrapy_simhash.page.schemes.hashes import JENKINS, FeatureHash
from scrapy_simhash.page.text import Document
from scrapy_simhash.page.text.document import Zone
from scrapy_simhash.page.text.title_key import UNNAMED


@dataclass(frozen=True)
class Page:
    """A page, as passed to feature kinds."""

    document: Document
    """Title, language and paragraphs; ``document.main`` is the main text."""
    root: etree._Element | None = None
    """The root of its HTML tree, which must not be changed; None for plain text."""
    url: str = ""
    """The URL of the page; empty if unknown."""


class FeatureKind(Protocol):
    """Returns the features of one kind, each as often as it occurs. A feature is a string or a hash.

    The same page must have the same features, in any order. The scheme hashes strings and uses numbers as hashes. A
    string that two kinds return is one feature, whose weights are added.
    """

    def __call__(self, page: Page, /) -> Iterable[str | int]:
        """Return the features of *page* of this kind."""
        ...


#: Splits a text into tokens.
Tokenizer = Callable[[str], Sequence[str]]


def runs(page: Page, zone: Zone | None, tokenizer: Tokenizer | None) -> Iterator[Sequence[str]]:
    """Yield the tokens of each paragraph of the main text, by *tokenizer* or by default."""
    for paragraph in page.document.main:
        if zone is None or paragraph.zone == zone:
            yield paragraph.tokens if tokenizer is None else tokenizer(paragraph.text)


_LETTERS = re.compile("[a-zA-Z]+")


def letters(text: str) -> list[str]:
    """Return the runs of ASCII letters, with their case: the tokenizer of simhash-cpp's generator.

    All other characters separate tokens, including digits, accented letters and Chinese characters.

    >>> letters("what's new?How5is été")
    ['what', 's', 'new', 'How', 'is', 't']
    """
    return _LETTERS.findall(text)


def segments(text: str) -> list[str]:
    """Return the words of *text*, segmented by ``jieba``, as in the Java class.

    Raises ImportError without ``jieba``. Fingerprints depend on its dictionary, so pin its version.
    """
    return [word for word in _segmenter().cut(normalize(text)) if any(map(str.isalnum, word))]


@cache
def _segmenter() -> Any:
    try:
        # Newer versions of Python warn about invalid escapes in its strings.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import jieba  # type: ignore[import-untyped, unused-ignore]  # an optional dependency
    except ImportError as error:
        raise ImportError("segments() needs jieba, which is not installed: pip install jieba") from error
    jieba.setLogLevel("WARNING")
    return jieba.Tokenizer()


@dataclass(frozen=True)
class Words:
    """Every word of the main text.

    >>> from scrapy_simhash.page.text import plain_text
    >>> page = Page(plain_text("The boats of the harbour", "en"))
    >>> list(Words(stopwords="removed", stem=lambda word: word.removesuffix("s"))(page))
    ['boat', 'harbour']
    """

    stopwords: Literal["ignored", "removed"] = "ignored"
    """``removed`` leaves out the stopwords of the language of the page, if there is a list."""
    stem: Callable[[str], str] | None = None
    """A stemmer, as in the digest of the paper, called with every remaining word. None leaves words unchanged."""
    zone: Zone | None = None
    """``heading``, ``body`` or ``offer``; None for all."""
    tokenizer: Tokenizer | None = None
    """None for the default, in which Chinese and Japanese words are bigrams; see also
    :func:`~scrapy_simhash.page.schemes.kinds.segments`."""

    def __call__(self, page: Page) -> Iterable[str]:
        """Return the words, in order."""
        words: Iterable[str] = chain.from_iterable(runs(page, self.zone, self.tokenizer))
        if self.stopwords == "removed":
            known = stopwords(page.document.language)
            words = (word for word in words if word not in known)
        return words if self.stem is None else map(self.stem, words)


@dataclass(frozen=True)
class Shingles:
    """Every run of *size* tokens in a paragraph of the main text.

    >>> from scrapy_simhash.page.text import plain_text
    >>> list(Shingles(2)(Page(plain_text("The fog, the sea."))))
    ['the fog', 'fog the', 'the sea']
    """

    size: int = 3
    """Tokens per shingle; a shorter paragraph is one shorter shingle."""
    stopwords: Literal["ignored", "required"] = "ignored"
    """``required`` keeps only shingles with a stopword, on the same pages as the default scheme: the language has a
    list, at least 30 distinct shingles are left, and the page has no product block."""
    zone: Zone | None = None
    """``heading``, ``body`` or ``offer``; None for all."""
    tokenizer: Tokenizer | None = None
    """None for the default."""

    def __call__(self, page: Page) -> Iterable[str]:
        """Return the shingles, in order."""
        texts = runs(page, self.zone, self.tokenizer)
        if self.stopwords == "required" and self._selects_prose(page):
            known = stopwords(page.document.language)
            return chain.from_iterable(with_stopword(tokens, self.size, known) for tokens in texts)
        return chain.from_iterable(shingle(tokens, self.size) for tokens in texts)

    def _selects_prose(self, page: Page) -> bool:
        """Return whether only shingles with a stopword count, considering all zones of the page."""
        known = stopwords(page.document.language)
        prose = (with_stopword(tokens, self.size, known) for tokens in runs(page, None, self.tokenizer))
        distinct = len(set(chain.from_iterable(prose))) if known else 0
        has_offer = any(paragraph.zone == "offer" for paragraph in page.document.main)
        return selects_prose(bool(known), has_offer, self.size, distinct)


@dataclass(frozen=True)
class CharacterGrams:
    """Every run of *size* characters of a paragraph, with one space between words.

    >>> from scrapy_simhash.page.text import plain_text
    >>> list(CharacterGrams(4)(Page(plain_text("Fog, sea!"))))
    ['fog ', 'og s', 'g se', ' sea']
    """

    size: int = 4

    def __call__(self, page: Page) -> Iterator[str]:
        """Yield the runs, in order; a shorter paragraph is one shorter run."""
        for words in runs(page, None, whole_words):
            text = " ".join(words)
            for start in range(max(1, len(text) - self.size + 1) if text else 0):
                yield text[start : start + self.size]


def whole_words(text: str) -> list[str]:
    """Return the words of *text*; runs of unspaced scripts are not split into bigrams.

    >>> whole_words("Fog in 北京市!")
    ['fog', 'in', '北京市']
    """
    # Keep combining marks: the vowels of Thai and Hindi are marks.
    return "".join(
        one if one.isalnum() or category(one)[0] == "M" else " " for one in normalize(text)
    ).split()


# A cyclic hash of a moving window of tokens: the features of simhash-cpp's generator.
#
# The hash of a window is updated with one rotation and two exclusive ors per token:
#
#     hash = rotate(hash, 1) ^ rotate(first token, length) ^ next token
#
# The windows cover the whole text regardless of paragraphs, and the first windows have fewer tokens. The generator
# numbers bits from the opposite end, so here the hashes of tokens are reversed and rotated in the opposite direction:
# the fingerprints equal published ones.

_MASK = 2**64 - 1


@dataclass(frozen=True)
class CyclicWindows:
    """The hash of every window of *length* tokens."""

    length: int = 3
    tokenizer: Tokenizer = letters
    token_hash: FeatureHash = JENKINS
    """A hash of 64 bits or more for the tokens."""

    def __call__(self, page: Page) -> Iterator[int]:
        """Yield, for each token, the hash of the window that ends with this token."""
        tokens = self.tokenizer(page.document.text)
        entering = {token: _reversed(self.token_hash.of(token) & _MASK) for token in set(tokens)}
        leaving = {token: _rotated(bits, self.length % 64) for token, bits in entering.items()}
        value = 0
        for place, token in enumerate(tokens):
            value = _rotated(value, 1) ^ entering[token]
            if place >= self.length:
                value ^= leaving[tokens[place - self.length]]
            yield value


def _reversed(value: int) -> int:
    return int(f"{value:064b}"[::-1], 2)


def _rotated(value: int, bits: int) -> int:
    return value >> bits | value << 64 - bits & _MASK


@dataclass(frozen=True)
class Title:
    """The shingles of the ``title`` element.

    >>> from scrapy_simhash.page.text import Document
    >>> Title(2)(Page(Document("The last ferry", "en", (), ())))
    ['the last', 'last ferry']
    """

    size: int = 3
    """Tokens per shingle; 1 for words."""

    def __call__(self, page: Page) -> list[str]:
        """Return the shingles, in order; none for a page without a title."""
        return shingle(tokenize(normalize(page.document.title)), self.size)


@dataclass(frozen=True)
class Headings:
    """The shingles of every heading except those of navigation and of lists of links.

    The headline of an article is not part of the main text, so ``Shingles(zone="heading")`` does not include it, but
    only the headings inside the article.
    """

    size: int = 3
    """Tokens per shingle; 1 for words."""

    def __call__(self, page: Page) -> Iterator[str]:
        """Yield the shingles, in order."""
        for paragraph in page.document.paragraphs:
            if paragraph.zone == "heading" and paragraph.boilerplate not in UNNAMED:
                yield from shingle(paragraph.tokens, self.size)
