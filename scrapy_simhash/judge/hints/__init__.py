"""Hints in markup and URLs about a near-duplicate and its original. Hints do not change the verdict.

These functions read the lxml tree without changing it, and do not need Scrapy.
"""

from scrapy_simhash.judge.hints.markup import Hints, read_canonical, read_hints
from scrapy_simhash.judge.hints.page_kind import is_listing
from scrapy_simhash.judge.hints.protections import evidence, protections
from scrapy_simhash.judge.hints.urls import url_key

__all__ = [
    "Hints",
    "evidence",
    "is_listing",
    "protections",
    "read_canonical",
    "read_hints",
    "url_key",
]
