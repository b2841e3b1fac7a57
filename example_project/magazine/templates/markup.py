"""Markup that all templates use: escaping, links, paragraphs."""

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from magazine.records import Block


class Origins(NamedTuple):
    """The origins of the two hosts, such as `http://127.0.0.1:8000`."""

    main: str
    partner: str


class Link(NamedTuple):
    """A link: URL and text."""

    href: str
    text: str


def esc(text: str) -> str:
    """Return *text* escaped for an element or a quoted attribute."""
    return escape(text, quote=True)


def anchor(link: Link, attributes: str = "") -> str:
    """Return an `a` element; *attributes* is markup that begins with a space, or empty."""
    return f'<a href="{esc(link.href)}"{attributes}>{esc(link.text)}</a>'


def bullets(links: Iterable[Link], css: str = "") -> str:
    """Return the markup of a list of *links*."""
    items = "\n".join(f"<li>{anchor(link)}</li>" for link in links)
    opening = f'<ul class="{css}">' if css else "<ul>"
    return f"{opening}\n{items}\n</ul>"


def prose(blocks: Iterable[Block], heading: str = "h2") -> list[str]:
    """Return each block as one element, so that a template can insert markup between them."""
    return [
        f"<{heading}>{esc(b.text)}</{heading}>" if b.is_heading else f"<p>{esc(b.text)}</p>" for b in blocks
    ]


def paragraphs(text: str) -> str:
    """Return each line of *text* as a paragraph."""
    return "\n".join(f"<p>{esc(line)}</p>" for line in text.splitlines())
