"""HTML to Document: find the main text of a page. Reads the lxml tree without changing it."""

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
