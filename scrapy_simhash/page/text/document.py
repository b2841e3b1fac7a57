"""Document and Paragraph: the text of an HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

#: Zones have constant weights in features/, which do not depend on their place in the page.
Zone = Literal["heading", "body", "offer"]


class Paragraph(NamedTuple):
    """A run of text between two block-level tags, either main text or boilerplate."""

    text: str
    """The text, with white space collapsed to single spaces; never empty."""
    tokens: tuple[str, ...]
    """Tokens, as :mod:`scrapy_simhash.page.language` splits them; may be empty, and is empty for hidden text outside
    the main text."""
    zone: Zone
    """``heading`` within ``h1`` to ``h6``; ``offer`` for the name and the price of a product."""
    path: str
    """Tags from the root, ``html/body/main/p``; at most 32."""
    link_density: float
    """Share of the characters within links, 0-1."""
    boilerplate: str | None
    """None for main text, else the filter that removed the paragraph: see
    :mod:`scrapy_simhash.page.text.main_text`."""
    in_article: bool = False
    """Whether the paragraph is in the smallest element that contains the main text and its title."""
    container: int = -1
    """Number of the parent of the paragraph's element; -1 if unknown. The cells of a row have the same number."""


@dataclass(frozen=True)
class Document:
    """The text of a page: its title, its language, and its paragraphs in document order."""

    title: str
    """The title; empty if the page has no title."""
    language: str | None
    """The language, an ISO 639-1 code; None if unknown."""
    title_key: tuple[str, ...]
    """Tokens that title and headings of the page have in common; see :mod:`scrapy_simhash.page.text.title_key`. Empty
    if the page has neither."""
    paragraphs: tuple[Paragraph, ...]
    """All visible text, including boilerplate."""

    @cached_property
    def main(self) -> tuple[Paragraph, ...]:
        """The paragraphs of the main text."""
        return tuple([paragraph for paragraph in self.paragraphs if paragraph.boilerplate is None])

    @cached_property
    def text(self) -> str:
        """The main text, one line per paragraph."""
        return "\n".join([paragraph.text for paragraph in self.main])
