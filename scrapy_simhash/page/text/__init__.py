"""HTML to Document: which text of a page is its own. Reads the lxml tree, never changes it."""

from scrapy_simhash.page.text.compared import compared
from scrapy_simhash.page.text.document import Document, Paragraph
from scrapy_simhash.page.text.extract import extract
from scrapy_simhash.page.text.parse import Html, decode_html, parse
from scrapy_simhash.page.text.plain import plain_text
from scrapy_simhash.page.text.xml_feed import is_xml_feed

__all__ = [
    "Document",
    "Html",
    "Paragraph",
    "compared",
    "decode_html",
    "extract",
    "is_xml_feed",
    "parse",
    "plain_text",
]
