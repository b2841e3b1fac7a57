"""Stores of the pages that crawls have seen."""

from scrapy_simhash.store.base import (
    Claim,
    History,
    Original,
    Posting,
    Row,
    Run,
    Store,
    Touch,
)
from scrapy_simhash.store.header import Header

__all__ = [
    "Claim",
    "Header",
    "History",
    "Original",
    "Posting",
    "Row",
    "Run",
    "Store",
    "Touch",
]
