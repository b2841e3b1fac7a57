"""The store in Redis or Valkey, shared by many crawlers. Needs the extra ``redis``."""

from scrapy_simhash.store.redis.client import Server
from scrapy_simhash.store.redis.store import SHARDS, RedisStore

__all__ = ["SHARDS", "RedisStore", "Server"]
