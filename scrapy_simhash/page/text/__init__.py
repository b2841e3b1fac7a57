"""HTML to Document: which text of a page is its own. Reads the lxml tree, never changes it."""

from scrapy_simhash.page.text.document import Document, Paragraph
from scrapy_simhash.page.text.extract import extract
from scrapy_simhash.page.text.parse import Html, parse
from scrapy_simhash.page.text.plain import plain_text

__all__ = ["Document", "Html", "Paragraph", "extract", "parse", "plain_text"]
