"""Stores: which pages a crawl has seen."""

from scrapy_simhash.store.base import (
    Candidate,
    Claim,
    History,
    Page,
    Posting,
    Run,
    Store,
    Touch,
    Visit,
)
from scrapy_simhash.store.header import Header

__all__ = [
    "Candidate",
    "Claim",
    "Header",
    "History",
    "Page",
    "Posting",
    "Run",
    "Store",
    "Touch",
    "Visit",
]
