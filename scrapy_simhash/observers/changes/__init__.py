"""What has become of a site's pages since the last crawl: new, changed, moved, gone, back."""

from scrapy_simhash.observers.changes.book import ChangeBook, Sighting, Source
from scrapy_simhash.observers.changes.change import Change, PageChange
from scrapy_simhash.observers.changes.page_text import PageText, TextParagraph
from scrapy_simhash.observers.changes.register import ANSWERED, FAILED, MISSING, Register

__all__ = [
    "ANSWERED",
    "FAILED",
    "MISSING",
    "Change",
    "ChangeBook",
    "PageChange",
    "PageText",
    "Register",
    "Sighting",
    "Source",
    "TextParagraph",
]
