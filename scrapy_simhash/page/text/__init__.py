"""Make a Document from HTML: find the main text of a page, without changing the lxml tree."""

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
