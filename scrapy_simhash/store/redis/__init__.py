"""The store in Redis or Valkey: many crawlers, one memory. Needs the extra ``redis``."""

from scrapy_simhash.store.redis.connection import Server, Servers, server_from_settings, servers_of
from scrapy_simhash.store.redis.sharded import ShardedStore
from scrapy_simhash.store.redis.store import RedisStore

__all__ = ["RedisStore", "Server", "Servers", "ShardedStore", "server_from_settings", "servers_of"]
