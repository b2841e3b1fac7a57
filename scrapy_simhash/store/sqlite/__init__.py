"""The store in one SQLite file."""

from scrapy_simhash.store.sqlite.files import header_at, is_database
from scrapy_simhash.store.sqlite.functions import add_functions
from scrapy_simhash.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "add_functions", "header_at", "is_database"]
