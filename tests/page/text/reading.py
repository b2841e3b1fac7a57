"""A page for these tests, read in C and in Python."""

from __future__ import annotations

from scrapy_simhash import PageFingerprinter
from scrapy_simhash.page.text import Document, extract, parse

MENU = "".join(f"<li><a href=/{name}>{name}</a>" for name in "boats kitchen town science garden arts".split())


def read(html: str, content_language: str | None = None) -> Document:
    """Return the document of *html*, checked to be the same in C and Python."""
    root = parse(html)
    document = extract(root, content_language)
    assert PageFingerprinter().extract(root, content_language=content_language) == document
    return document
