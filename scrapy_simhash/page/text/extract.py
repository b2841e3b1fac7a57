"""HTML to Document: the first arrow."""

from __future__ import annotations

from itertools import chain, compress

from lxml import etree

from scrapy_simhash.page.language import detect, normalize, primary_subtag, stopwords, tokenize
from scrapy_simhash.page.text.columns import Columns
from scrapy_simhash.page.text.document import Document, Paragraph, Zone
from scrapy_simhash.page.text.main_text import REASONS, classify
from scrapy_simhash.page.text.outline import outline
from scrapy_simhash.page.text.subject import subject


def extract(root: etree._Element, content_language: str | None = None) -> Document:
    """Return what the page under *root* says; the tree is read only.

    *content_language* is the value of the HTTP header, if any; a ``lang`` attribute goes before it.
    """
    page = outline(root)
    tokens = [tuple(tokenize(normalize(block.text))) for block in page.blocks]
    declared = _declared_language(root) or primary_subtag(content_language)
    columns = Columns(page, tokens, stopwords(detect(list(chain.from_iterable(tokens)), declared)))
    classify(columns)
    # Once more, without the menus: the same text has the same language under any template.
    is_main = [not reason for reason in columns.reasons]
    language = detect(list(chain.from_iterable(compress(tokens, is_main))), declared)
    zones: list[Zone] = [
        "offer" if is_offer else block.zone
        for block, is_offer in zip(page.blocks, columns.is_offer, strict=True)
    ]
    densities = [
        known / len(words) if words else 0.0 for known, words in zip(columns.stopwords, tokens, strict=True)
    ]
    reasons = [REASONS[reason] for reason in columns.reasons]
    paragraphs = tuple(
        Paragraph(block.text, words, zone, block.path, block.link_length / len(block.text), density, reason)
        for block, words, zone, density, reason in zip(
            page.blocks, tokens, zones, densities, reasons, strict=True
        )
    )
    return Document(page.title, language, subject(page.title, paragraphs), paragraphs)


def _declared_language(root: etree._Element) -> str | None:
    """Return the language that the markup declares, by ``lang``, ``xml:lang`` or a ``meta`` element."""
    for name in ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang"):
        if declared := primary_subtag(root.get(name)):
            return declared
    for meta in root.iterfind("head/meta[@http-equiv]"):
        if meta.get("http-equiv", "").lower() == "content-language":
            return primary_subtag(meta.get("content"))
    return None
