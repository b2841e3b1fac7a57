"""Items that repeat others: the arrows of the pages once more, for chosen fields, with a store of their own."""

from scrapy_simhash.crawl.items.checker import ItemChecker, Ruling
from scrapy_simhash.crawl.items.fields import TooLarge, field_texts
from scrapy_simhash.crawl.items.fingerprint import ItemFingerprinter, ItemReading, item_header

__all__ = [
    "ItemChecker",
    "ItemFingerprinter",
    "ItemReading",
    "Ruling",
    "TooLarge",
    "field_texts",
    "item_header",
]
