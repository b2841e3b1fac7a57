"""Document and Paragraph: the text of an HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

#: Zones have constant weights in features/, independent of their place in the page.
Zone = Literal["heading", "body", "offer"]


class Paragraph(NamedTuple):
    """A run of text between two block-level tags; main text or boilerplate."""

    text: str
    """With white space collapsed to single spaces; never empty."""
    tokens: tuple[str, ...]
    """Tokens by :mod:`scrapy_simhash.page.language`; may be empty, and is for hidden text."""
    zone: Zone
    """``heading`` inside ``h1`` to ``h6``; ``offer`` for the name and the price of a product."""
    path: str
    """Tags from the root, ``html/body/main/p``; at most 32."""
    link_density: float
    """Share of the characters inside links, 0-1."""
    boilerplate: str | None
    """None for main text, else the reason why it is not: see :mod:`scrapy_simhash.page.text.main_text`."""
    in_article: bool = False
    """Whether it is in the smallest element that contains the main text and its title."""
    container: int = -1
    """Number of the parent of its element, -1 if unknown. The cells of one row have the same number."""


@dataclass(frozen=True)
class Document:
    """A page as text: its title, its language, and its paragraphs in document order."""

    title: str
    """Empty if the page has none."""
    language: str | None
    """ISO 639-1 code; None if unknown."""
    title_key: tuple[str, ...]
    """Tokens that title and headings of the page have in common; see :mod:`scrapy_simhash.page.text.title_key`. Empty
    if it has neither."""
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
