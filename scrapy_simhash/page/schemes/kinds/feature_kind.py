"""FeatureKind: what takes features out of a page. A kind is a file beside this one, or a function of your own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from scrapy_simhash.page.text import Document

if TYPE_CHECKING:
    from lxml import etree


@dataclass(frozen=True)
class Page:
    """What a feature kind reads."""

    document: Document
    """Title, language and paragraphs; ``document.main`` is the main text."""
    root: etree._Element | None = None
    """The tree of its HTML, not to be changed; None for plain text."""
    url: str = ""
    """Empty if it is not known."""


class FeatureKind(Protocol):
    """Returns the features of one kind, each as often as it occurs; a feature is a string, or the bits themselves.

    The same page gives the same features, in any order. A string is hashed by the scheme; a number is taken as its
    hash. Two kinds that return the same string return the same feature, and its weights are added.
    """

    def __call__(self, page: Page, /) -> Iterable[str | int]:
        """Return the features of *page*; none where the page has nothing of this kind."""
        ...
