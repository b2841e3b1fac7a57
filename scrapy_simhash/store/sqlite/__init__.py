"""The store in an SQLite file."""

from scrapy_simhash.store.sqlite.files import header_at, is_database
from scrapy_simhash.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "header_at", "is_database"]
