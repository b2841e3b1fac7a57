"""The store in Redis or Valkey, shared by many crawlers. Needs the extra ``redis``."""

from scrapy_simhash.store.redis.connection import Server, Servers, servers_of
from scrapy_simhash.store.redis.store import SCOPES, SHARDS, RedisStore

__all__ = ["SCOPES", "SHARDS", "RedisStore", "Server", "Servers", "servers_of"]
