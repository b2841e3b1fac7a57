"""Document and Paragraph: the text of an HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

#: Zones have constant weights in features/, whatever their place in the page.
Zone = Literal["heading", "body", "offer"]


class Paragraph(NamedTuple):
    """A run of text between two block-level tags, and whether it belongs to the main text."""

    text: str
    """White space folded to single spaces, never empty."""
    tokens: tuple[str, ...]
    """What :mod:`scrapy_simhash.page.language` makes of the text; may be empty, and is for hidden text."""
    zone: Zone
    """``heading`` inside ``h1`` to ``h6``; ``offer`` for the name and the price of a thing on sale."""
    path: str
    """Tags from the root, ``html/body/main/p``; those deeper than 32 levels are left out."""
    link_density: float
    """Share of the characters that are inside links, 0-1."""
    boilerplate: str | None
    """None for main text, otherwise the reason it is none: see :mod:`scrapy_simhash.page.text.main_text`."""
    in_article: bool = False
    """Whether it stands in the smallest element that holds the main text and its title."""
    container: int = -1
    """Number of the element around its own element, -1 if unknown. The cells of one row have the same number."""


@dataclass(frozen=True)
class Document:
    """A page as text: its title, its language, and its paragraphs in document order."""

    title: str
    """Empty when the page has none."""
    language: str | None
    """ISO 639-1 code; None when neither the markup nor the words tell."""
    subject: tuple[str, ...]
    """Tokens of what the page is about, where its title and headings agree; see
    :mod:`scrapy_simhash.page.text.subject`. Empty when it has neither."""
    paragraphs: tuple[Paragraph, ...]
    """All visible text, boilerplate included."""

    @cached_property
    def main(self) -> tuple[Paragraph, ...]:
        """The paragraphs of the main text."""
        return tuple([paragraph for paragraph in self.paragraphs if paragraph.boilerplate is None])

    @cached_property
    def text(self) -> str:
        """The main text, a line a paragraph."""
        return "\n".join([paragraph.text for paragraph in self.main])
