"""The store in Redis or Valkey: many crawlers, one memory. Needs the extra ``redis``."""

from scrapy_simhash.store.redis.connection import Server, server_from_settings
from scrapy_simhash.store.redis.store import RedisStore

__all__ = ["RedisStore", "Server", "server_from_settings"]
