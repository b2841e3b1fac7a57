"""Hints: what markup and URLs say about a page that repeats another one. They decide nothing by themselves.

Reads the lxml tree, never changes it; knows no Scrapy.
"""

from scrapy_simhash.judge.hints.markup import Hints, read_canonical, read_hints
from scrapy_simhash.judge.hints.page_kind import is_listing
from scrapy_simhash.judge.hints.protections import HINTS, evidence, protections
from scrapy_simhash.judge.hints.urls import url_key

__all__ = [
    "HINTS",
    "Hints",
    "evidence",
    "is_listing",
    "protections",
    "read_canonical",
    "read_hints",
    "url_key",
]
