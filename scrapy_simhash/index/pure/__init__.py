"""The index in pure Python: the definition, whose compiled twin is in ``scrapy_simhash/kernel``."""

from scrapy_simhash.index.pure.postings import Postings

__all__ = ["Postings"]
