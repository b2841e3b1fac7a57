"""Server: the address of a Redis server or cluster, and its client. Only this module imports redis-py."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from scrapy_simhash.exceptions import SettingError, StoreError
from scrapy_simhash.place import without_password

_SCHEMES = ("redis://", "rediss://", "unix://", "redis+cluster://", "rediss+cluster://")
#: Max retries of a command whose connection was lost.
REPEATS = 8
_DEFAULT_PORT = 6379
#: URL options that change the type or format of replies. The store needs bytes in protocol 2, so it ignores them.
_REPLY_FORMAT = {"decode_responses", "encoding", "encoding_errors", "legacy_responses", "protocol"}
_CLUSTER = re.compile(r"(rediss?)\+cluster://(.*@)?([^/?@,]+(?:,[^/?@,]+)*)(?:/0?)?(\?.*)?", re.DOTALL)


@dataclass(frozen=True)
class Server:
    """A Redis or Valkey server, or a Redis Cluster.

    >>> str(Server("redis://:secret@db.example:6380/1"))
    'redis://db.example:6380/1'
    """

    url: str
    """A ``redis://``, ``rediss://`` (TLS) or ``unix://`` URL for ``redis.Redis.from_url``, or
    ``redis+cluster://host:port,host:port`` with one or more nodes of a cluster."""

    def __post_init__(self) -> None:
        if not self.url.startswith(_SCHEMES):
            raise SettingError(
                "SIMHASH_STORE must be a URL that begins with redis://, rediss://, unix:// or redis+cluster://,"
                f" got {self}"
            )
        if re.search(r"[\s,]\w+(\+cluster)?://", self.url):
            raise SettingError(
                "SIMHASH_STORE must be one URL; separate the nodes of a Redis Cluster by commas:"
                " redis+cluster://host:6379,host:6379"
            )
        if self.is_cluster and _CLUSTER.fullmatch(self.url) is None:
            raise SettingError(
                "SIMHASH_STORE must be a cluster URL without a database number, such as redis+cluster://:password@"
                "host:6379,host:6379. In a password, write / as %2F, ? as %3F and @ as %40"
            )

    def __str__(self) -> str:
        """Return the URL without its password and without the options of a cluster, for logs."""
        return without_password(self.url).partition("?")[0] if self.is_cluster else without_password(self.url)

    def __repr__(self) -> str:
        """Return the representation for code."""
        return f"Server({str(self)!r})"

    @property
    def is_cluster(self) -> bool:
        """Whether the URL names nodes of a cluster."""
        return "+cluster://" in self.url

    def client(self, timeout: float) -> Any:
        """Return an asyncio client of redis-py that returns bytes and connects at the first command.

        A command whose connection was lost is sent again, up to `REPEATS` times. A command to a single server that
        timed out is not sent again. *timeout* is in seconds per reply, unless the URL sets one. Raises StoreError if
        redis-py is missing or too old, and SettingError for options that redis-py rejects.
        """
        redis = library()
        address, _, query = self.url.partition("?")
        query = "&".join(part for part in query.split("&") if part.partition("=")[0] not in _REPLY_FORMAT)
        # The delays are 1 to 50 milliseconds.
        pause = redis.backoff.ExponentialBackoff(0.05, 0.001)
        options: dict[str, Any] = {
            "protocol": 2,
            "socket_timeout": float(timeout),
            "socket_connect_timeout": float(timeout),
        }
        make = redis.asyncio.Redis.from_url
        if found := _CLUSTER.fullmatch(self.url) if self.is_cluster else None:
            scheme, user, hosts, _ = (part or "" for part in found.groups())
            names = [name.strip() for name in hosts.split(",")]
            names = [name if re.search(r":\d+$", name) else f"{name}:{_DEFAULT_PORT}" for name in names]
            address = f"{scheme}://{user}{names[0]}"
            nodes = [urlsplit(f"//{name}") for name in names]
            options["startup_nodes"] = [
                redis.asyncio.cluster.ClusterNode(node.hostname, node.port) for node in nodes
            ]
            # If a node is down, only its shards are unavailable.
            options["require_full_coverage"] = False
            options["retry"] = redis.asyncio.retry.Retry(pause, REPEATS)
            make = redis.asyncio.cluster.RedisCluster.from_url
        else:
            errors = [redis.ConnectionError]
            options["retry_on_error"] = errors
            options["retry"] = redis.asyncio.retry.Retry(pause, REPEATS, tuple(errors))
        try:
            _ = urlsplit(address).port
        except ValueError:
            # Python's error message may contain part of the password.
            raise SettingError(
                f"SIMHASH_STORE must be a URL like redis://:password@host:6379/0, got {self}."
                " In a password, write / as %2F, ? as %3F, # as %23, [ as %5B and ] as %5D"
            ) from None
        try:
            client = make(f"{address}?{query}", **options)
            if not self.is_cluster:
                # Otherwise an unknown option would raise TypeError at the first command.
                client.connection_pool.make_connection()
        except (TypeError, ValueError) as error:
            raise SettingError(
                f"SIMHASH_STORE has an invalid option for the Redis server {self}: {error}"
            ) from error
        return client


def library() -> Any:
    """Return the module redis. Raises StoreError, with the name of the extra, if it is missing or too old."""
    how = "pip install 'scrapy-simhash[redis]', in a checkout pip install '.[redis]'"
    try:
        import redis.asyncio.cluster
        import redis.asyncio.retry
        import redis.backoff
    except ImportError as error:
        raise StoreError(f"SIMHASH_STORE: a store in Redis needs redis-py: {how}") from error
    if int(redis.__version__.partition(".")[0]) < 5:
        raise StoreError(
            f"SIMHASH_STORE: a store in Redis needs redis-py 5.0 or later, found {redis.__version__}: {how}"
        )
    return redis
