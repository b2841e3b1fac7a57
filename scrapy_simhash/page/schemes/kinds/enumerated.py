"""Enumerated values, as the lecture slides hash them: one of a few values, with bits as different as can be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scrapy_simhash.page.schemes.kinds.feature_kind import Page


@dataclass(frozen=True)
class Enumerated:
    """Which of *values* the page has: its language, its type.

    >>> from scrapy_simhash.page.text import plain_text
    >>> kind = Enumerated(language, ("de", "en"))
    >>> [hex(bits) for bits in kind(Page(plain_text("The fog", "en")))]
    ['0xffffffffffffffff']
    """

    value_of: Callable[[Page], str | None]
    """Tells the value of a page; None, or what is not among *values*, is no feature."""
    values: tuple[str, ...]
    """In a fixed order: a new value goes to the end."""

    def __call__(self, page: Page) -> Iterator[int]:
        """Yield the bits of the value that *page* has."""
        value = self.value_of(page)
        if value is not None and value in self.values:
            yield repeated(self.values.index(value), len(self.values))


def repeated(ordinal: int, count: int) -> int:
    """Return 64 bits of the value *ordinal* among *count*: the number, again and again in as few bits as it needs.

    As the slides write it, which begin with one copy and add as many as fit: the first one overflows, in part where
    its bits do not divide 64.

    >>> [f"{repeated(ordinal, 3):016x}" for ordinal in range(3)]
    ['0000000000000000', '5555555555555555', 'aaaaaaaaaaaaaaaa']
    """
    bits = max(1, (count - 1).bit_length())
    value = 0
    for _ in range(64 // bits + 1):
        value = (value << bits) + ordinal
    return value & 0xFFFFFFFFFFFFFFFF


def language(page: Page) -> str | None:
    """Return the language of *page*, a code of ISO 639-1."""
    return page.document.language


def page_type(page: Page) -> str | None:
    """Return the type that a page gives itself by Open Graph: ``article``, ``product``, ``website``..."""
    return _first(page, ".//meta[@property='og:type']", "content")


def schema_type(page: Page) -> str | None:
    """Return the type of schema.org of the first thing that a page marks up by microdata: ``Recipe``..."""
    given = _first(page, ".//*[@itemtype]", "itemtype")
    return None if given is None else given.rstrip("/").rpartition("/")[2]


def _first(page: Page, path: str, attribute: str) -> str | None:
    found = None if page.root is None else page.root.find(path)
    return None if found is None else found.get(attribute)
