"""HTML to Document: which text of a page is its own. Reads the lxml tree, never changes it."""

from scrapy_simhash.text.document import Document, Paragraph
from scrapy_simhash.text.extract import extract
from scrapy_simhash.text.parse import Html, parse
from scrapy_simhash.text.plain import plain_text

__all__ = ["Document", "Html", "Paragraph", "extract", "parse", "plain_text"]
