"""Convert HTML or plain text to a `Document`: the first step of reading a page."""

from __future__ import annotations

import re
from itertools import chain, compress
from typing import TypeAlias

from lxml import etree
from lxml.html import HTMLParser
from w3lib.encoding import html_to_unicode

from scrapy_simhash.encoding import inferred_encoding
from scrapy_simhash.page.language import detect, normalize, primary_subtag, stopwords, tokenize
from scrapy_simhash.page.text.columns import Columns
from scrapy_simhash.page.text.document import Document, Paragraph, Zone
from scrapy_simhash.page.text.main_text import REASONS, classify
from scrapy_simhash.page.text.outline import outline
from scrapy_simhash.page.text.title_key import title_key
from scrapy_simhash.patterns import lazy_pattern

#: A page: text, bytes as received, or a parsed tree.
Html: TypeAlias = "str | bytes | etree._Element"


def parse(html: Html, content_type: str | None = None) -> etree._Element:
    """Return the root element of *html*; an element is returned unchanged.

    The encoding of bytes is that of the byte order mark, else of *content_type* (the value of the HTTP header), else
    the declared encoding, else the one that Scrapy infers (see inferred_encoding()). Text is parsed with the options
    of Scrapy's selectors, so that the tree equals ``response.selector.root``. Never fails on bad markup; for empty
    input, returns an empty ``<html>``. Takes about 10 µs per kilobyte.

    Raises TypeError for any other type.
    """
    # Checked first, because reading the tag creates a string.
    if isinstance(html, etree.ElementBase):
        return html
    if isinstance(html, bytes):
        html = decode_html(html, content_type)
    if isinstance(html, str):
        # Lone surrogates cannot be encoded as UTF-8, which lxml requires here.
        body = html.strip().replace("\x00", "").encode("utf-8", "replace") or b"<html/>"
        parser = HTMLParser(recover=True, encoding="utf-8", huge_tree=True)
        root: etree._Element | None = etree.fromstring(body, parser)
        # A document with only a comment or a doctype has no element.
        return root if root is not None else etree.fromstring(b"<html/>", parser)
    if etree.iselement(html) and isinstance(html.tag, str):  # the tag of a comment is a function
        return html
    raise TypeError(f"html must be str, bytes or an lxml element, got {type(html).__name__}")


def decode_html(body: bytes, content_type: str | None = None) -> str:
    """Return *body* as text, decoded as by parse()."""
    return html_to_unicode(content_type, body, auto_detect_fun=inferred_encoding)[1]


#: The beginning of XML sitemaps and feeds, whatever their Content-Type. Their URLs are not text to be compared. (The
#: prefix can match in only one way, so no page can block the crawl by backtracking.)
_FEED = lazy_pattern(
    rb"(?:\xef\xbb\xbf)?\s*(?:(?:<\?(?:(?!\?>).)*\?>|<!--(?:(?!-->).)*-->)\s*)*<(?:urlset|sitemapindex|rss|feed|rdf:RDF)[\s>]",
    re.DOTALL | re.IGNORECASE,
)
_HEAD = 2_000


def is_xml_feed(body: bytes) -> bool:
    """Return whether *body* is a sitemap or a feed.

    >>> is_xml_feed(b'<?xml version="1.0"?><rss version="2.0">'), is_xml_feed(b"<p>A page")
    (True, False)
    """
    return _FEED.match(body, 0, _HEAD) is not None


def extract(root: etree._Element, content_language: str | None = None) -> Document:
    """Return the text of the page under *root*; the tree is not changed.

    *content_language* is the value of the HTTP header, if any; a ``lang`` attribute overrides it.
    """
    page = outline(root)
    tokens = [() if block.hidden else _tokens_of(block.text) for block in page.blocks]
    declared = _declared_language(root) or primary_subtag(content_language)
    columns = Columns(page, tokens, stopwords(detect(list(chain.from_iterable(tokens)), declared)))
    classify(columns)
    is_main = [not reason for reason in columns.reasons]
    for place, block in enumerate(page.blocks):
        if block.hidden and is_main[place]:
            tokens[place] = _tokens_of(block.text)
    # Detect the language again without the menus, so that it does not depend on the template.
    language = detect(list(chain.from_iterable(compress(tokens, is_main))), declared)
    zones: list[Zone] = [
        "offer" if is_offer else block.zone
        for block, is_offer in zip(page.blocks, columns.is_offer, strict=True)
    ]
    reasons = [REASONS[reason] for reason in columns.reasons]
    paragraphs = tuple(
        Paragraph(block.text, words, zone, block.path, block.link_length / len(block.text), *rest)
        for block, words, zone, *rest in zip(
            page.blocks, tokens, zones, reasons, columns.is_inside, columns.containers, strict=True
        )
    )
    return Document(page.title, language, title_key(page.title, paragraphs), paragraphs)


def _tokens_of(text: str) -> tuple[str, ...]:
    return tuple(tokenize(normalize(text)))


def _declared_language(root: etree._Element) -> str | None:
    """Return the language declared by ``lang``, ``xml:lang`` or a ``meta`` element."""
    for name in ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang"):
        if declared := primary_subtag(root.get(name)):
            return declared
    for meta in root.iterfind("head/meta[@http-equiv]"):
        if meta.get("http-equiv", "").lower() == "content-language":
            return primary_subtag(meta.get("content"))
    return None


_EMPTY_LINE = lazy_pattern(r"\n\s*\n")


def plain_text(text: str, language: str | None = None) -> Document:
    r"""Return *text* as a document with only main text; empty lines separate paragraphs.

    *language* is an ISO 639-1 code; with None, the language is detected.

    >>> [paragraph.text for paragraph in plain_text("One\nline.\n\nTwo.").paragraphs]
    ['One line.', 'Two.']
    """
    lines = [folded for part in _EMPTY_LINE.split(text) if (folded := " ".join(part.split()))]
    tokens = [tuple(tokenize(normalize(line))) for line in lines]
    if language is None:
        language = detect([token for line in tokens for token in line])
    paragraphs = (
        Paragraph(line, words, "body", "", 0.0, None) for line, words in zip(lines, tokens, strict=True)
    )
    return Document("", language, (), tuple(paragraphs))
