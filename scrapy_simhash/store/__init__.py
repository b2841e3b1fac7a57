"""Who was seen: the store protocol and the stores."""

from scrapy_simhash.store.base import (
    AsyncStore,
    Audited,
    Claim,
    Explains,
    KeepsSites,
    ListsPages,
    Page,
    Posting,
    Run,
    SharesSites,
    Store,
    Visit,
)
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.memory import MemoryStore
from scrapy_simhash.store.parts import Part

__all__ = [
    "AsyncStore",
    "Audited",
    "Claim",
    "Explains",
    "Header",
    "KeepsSites",
    "ListsPages",
    "MemoryStore",
    "Page",
    "Part",
    "Posting",
    "Run",
    "SharesSites",
    "Store",
    "Visit",
]
