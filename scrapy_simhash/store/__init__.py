"""Who was seen: the store protocol and the stores."""

from scrapy_simhash.store.base import (
    Answered,
    AsyncStore,
    Claim,
    Explains,
    KeepsAnswers,
    KeepsSites,
    ListsPages,
    Page,
    Posting,
    Run,
    SharesSites,
    Store,
    Visit,
    change_site,
)
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.memory import MemoryStore

__all__ = [
    "Answered",
    "AsyncStore",
    "Claim",
    "Explains",
    "Header",
    "KeepsAnswers",
    "KeepsSites",
    "ListsPages",
    "MemoryStore",
    "Page",
    "Posting",
    "Run",
    "SharesSites",
    "Store",
    "Visit",
    "change_site",
]
