"""What has become of a site's pages since the last crawl: new, changed, moved, gone, back."""

from scrapy_simhash.observers.changes.feed import Change, PageChange
from scrapy_simhash.observers.changes.page_text import PageText, TextParagraph

__all__ = ["Change", "PageChange", "PageText", "TextParagraph"]
