"""HTML in any form to the root of an lxml tree, as Scrapy itself would parse it."""

from __future__ import annotations

from typing import TypeAlias

from lxml import etree
from lxml.html import HTMLParser
from w3lib.encoding import html_to_unicode

#: What a page may be handed in as: text, bytes as they came, or a tree that is already parsed.
Html: TypeAlias = "str | bytes | etree._Element"


def parse(html: Html, content_type: str | None = None) -> etree._Element:
    """Return the root element of *html*; an element is returned as it is.

    Bytes are decoded by their byte order mark, *content_type* (the value of the HTTP header), the
    encoding they declare, or else as UTF-8 and, where that fails, Windows-1252. Text is cleaned
    and parsed with the options Scrapy's selectors use, so that the tree equals ``response.selector.root``.
    Never fails on bad markup; empty input gives an empty ``<html>``. Takes about 10 µs a kilobyte.

    Raises TypeError for any other type.
    """
    # What is in a tree of HTML and no comment, as a crawl has it: its tag would have to be made into a text.
    if isinstance(html, etree.ElementBase):
        return html
    if isinstance(html, bytes):
        html = decode_html(html, content_type)
    if isinstance(html, str):
        # A lone surrogate has no UTF-8 form; lxml takes bytes of a declared encoding only.
        body = html.strip().replace("\x00", "").encode("utf-8", "replace") or b"<html/>"
        parser = HTMLParser(recover=True, encoding="utf-8", huge_tree=True)
        root: etree._Element | None = etree.fromstring(body, parser)
        # Nothing but a comment or a doctype leaves no element at all.
        return root if root is not None else etree.fromstring(b"<html/>", parser)
    if etree.iselement(html) and isinstance(html.tag, str):  # comments have a function for a tag
        return html
    raise TypeError(f"html must be str, bytes or an lxml element, got {type(html).__name__}")


def decode_html(body: bytes, content_type: str | None = None) -> str:
    """Return the text that *body* is, as parse() decodes it."""
    return html_to_unicode(content_type, body, auto_detect_fun=_guess)[1]


def _guess(body: bytes) -> str:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
