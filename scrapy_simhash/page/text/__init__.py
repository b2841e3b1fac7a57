"""HTML to Document: which text of a page is its own. Reads the lxml tree, never changes it."""

from scrapy_simhash.page.text.document import Document, Paragraph
from scrapy_simhash.page.text.extract import Html, decode_html, extract, is_xml_feed, parse, plain_text

__all__ = [
    "Document",
    "Html",
    "Paragraph",
    "decode_html",
    "extract",
    "is_xml_feed",
    "parse",
    "plain_text",
]
