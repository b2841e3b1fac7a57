"""The store in one SQLite file."""

from scrapy_simhash.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
