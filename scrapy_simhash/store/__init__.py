"""Who was seen: the class of all stores, and the one in memory."""

from scrapy_simhash.store.base import (
    Claim,
    Page,
    Posting,
    Run,
    Store,
    Visit,
)
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.memory import MemoryStore

__all__ = [
    "Claim",
    "Header",
    "MemoryStore",
    "Page",
    "Posting",
    "Run",
    "Store",
    "Visit",
]
