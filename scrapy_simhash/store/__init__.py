"""Who was seen: the store protocol and the stores."""

from scrapy_simhash.store.base import Claim, Posting, Store
from scrapy_simhash.store.memory import MemoryStore

__all__ = ["Claim", "MemoryStore", "Posting", "Store"]
