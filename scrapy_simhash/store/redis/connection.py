"""Servers: the addresses of Redis servers and clusters, and their clients. Only this module imports redis-py."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from scrapy_simhash.exceptions import SettingError, StoreError
from scrapy_simhash.place import without_password

_SCHEMES = ("redis://", "rediss://", "unix://")
#: Options of redis-py that a user may set. The others control decoding, which the store sets, or connection pools.
_OPTIONS = {"client_name", "credential_provider", "db", "password", "username"}
_TIMES = {"socket_connect_timeout", "socket_timeout"}
_TCP_OPTIONS = {"socket_keepalive", "socket_keepalive_options", "socket_type"}
_TLS_OPTIONS = {
    *("ssl_ca_certs", "ssl_ca_data", "ssl_ca_path", "ssl_cert_reqs", "ssl_certfile", "ssl_check_hostname"),
    *("ssl_ciphers", "ssl_keyfile", "ssl_min_version", "ssl_password"),
}
#: Max retries of a command whose connection was lost.
REPEATS = 5
_THIS_MACHINE = {"127.0.0.1", "::1"}


@dataclass(frozen=True)
class Server:
    """A Redis or Valkey server.

    >>> str(Server("redis://:secret@db.example:6380/1"))
    'redis://db.example:6380/1'
    """

    url: str
    """A ``redis://``, ``rediss://`` (TLS) or ``unix://`` URL for ``redis.Redis.from_url``."""

    def __post_init__(self) -> None:
        if not self.url.startswith(_SCHEMES):
            raise SettingError(
                "SIMHASH_STORE must be a URL that begins with redis://, rediss://, unix:// or redis+cluster://,"
                f" got {self}"
            )

    def __str__(self) -> str:
        """Return the URL without its password, for logs."""
        return without_password(self.url)

    def __repr__(self) -> str:
        """Return the representation for code."""
        return f"Server({str(self)!r})"

    @property
    def identity(self) -> str:
        """Address and database in a normal form.

        >>> Server("redis://127.0.0.1").identity == Server("redis://:secret@LOCALHOST:6379/0").identity
        True
        """
        taken = self.client(1).connection_pool.connection_kwargs
        host = str(taken.get("host") or "localhost").lower()
        host = "localhost" if host in _THIS_MACHINE else host
        address = taken.get("path") or f"{host}:{taken.get('port') or 6379}"
        return f"{address}/{taken.get('db') or 0}"

    def client(self, timeout: float) -> Any:
        """Return an asyncio client of redis-py that returns bytes and connects at the first command.

        *timeout* is in seconds per reply, unless the URL sets one. Raises StoreError if redis-py is missing or too
        old, SettingError for options that it rejects.
        """
        redis = library()
        # Batches are retried as a whole, see client.py.
        retry = redis.asyncio.retry.Retry(redis.backoff.NoBackoff(), 0)
        return self._made(redis.asyncio.Redis.from_url, timeout, retry=retry)

    def _made(self, make: Any, timeout: float, **options: Any) -> Any:
        """Call *make* with the URL and the options of a store, and return the result."""
        address, _, query = self.url.partition("?")
        try:
            _ = urlsplit(address).port
        except ValueError:
            # Python's error message may contain part of the password.
            raise SettingError(
                f"SIMHASH_STORE must be a URL like redis://:password@host:6379/0, got {self}."
                " In a password write %2F for /, %3F for ?, %23 for #, %5B for [, %5D for ]"
            ) from None
        suitable = _OPTIONS | _TIMES
        if not address.startswith("unix:"):
            suitable |= _TCP_OPTIONS
        if address.startswith("rediss:"):
            suitable |= _TLS_OPTIONS
        query = urlencode([(name, value) for name, value in parse_qsl(query) if name in suitable])
        try:
            times = dict.fromkeys(_TIMES, float(timeout))
            return make(f"{address}?{query}", protocol=2, **options, **times)
        except (TypeError, ValueError) as error:
            raise SettingError(
                f"SIMHASH_STORE has a wrong value for the Redis server {self}: {error}"
            ) from error


def library() -> Any:
    """Return redis-py. Raises StoreError, which names the extra, if it is missing or too old."""
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


_CLUSTER = re.compile(r"(rediss?)\+cluster://(.*@)?([^/?@,]+(?:,[^/?@,]+)*)(?:/0?)?(\?.*)?", re.DOTALL)
_DEFAULT_PORT = 6379


@dataclass(frozen=True)
class Servers:
    """A Redis Cluster, named by some of its nodes.

    >>> str(servers_of("redis+cluster://:secret@one.example:7000,two.example"))
    'redis+cluster://one.example:7000,two.example:6379'
    """

    named: tuple[Server, ...]

    def __str__(self) -> str:
        """Return the URL without its password, for logs."""
        scheme, _, first = str(self.named[0]).partition("://")
        others = [str(server).partition("://")[2] for server in self.named[1:]]
        return f"{scheme}+cluster://{','.join([first, *others])}"

    @property
    def identity(self) -> str:
        """See :attr:`Server.identity`. URLs with different nodes of one cluster have different identities."""
        return "cluster " + " ".join(server.identity for server in self.named)

    def client(self, timeout: float) -> Any:
        """Return a redis-py client that finds the node of each shard. See :meth:`Server.client`."""
        redis = library()
        parts = [urlsplit(server.url.partition("?")[0]) for server in self.named]
        nodes = [redis.asyncio.cluster.ClusterNode(part.hostname, part.port) for part in parts]
        retry = redis.asyncio.retry.Retry(redis.backoff.NoBackoff(), REPEATS)
        return self.named[0]._made(
            redis.asyncio.cluster.RedisCluster.from_url,
            timeout,
            retry=retry,
            startup_nodes=nodes,
            # If a node is down, only its shards are unavailable.
            require_full_coverage=False,
        )


def servers_of(url: str) -> Server | Servers:
    """Return the server or the cluster at *url*.

    ``redis+cluster://host:port,host:port`` names nodes of a cluster; one is enough. Raises SettingError for an
    invalid URL.
    """
    url = re.sub(r"\s*,\s*", ",", url.strip())
    if re.search(r"[\s,]\w+(\+cluster)?://", url):
        raise SettingError(
            "SIMHASH_STORE must name one server, or a Redis Cluster, whose nodes are in one URL, with commas between"
            " them: redis+cluster://host:6379,host:6379"
        )
    if "+cluster://" not in url:
        return Server(url)
    found = _CLUSTER.fullmatch(url)
    if found is None:
        raise SettingError(
            "SIMHASH_STORE must name a cluster like redis+cluster://:password@host:6379,host:6379, without a"
            " number of a database. In a password write %2F for /, %3F for ?, %40 for @"
        )
    scheme, user, hosts, query = (part or "" for part in found.groups())
    return Servers(tuple(Server(f"{scheme}://{user}{_with_port(host)}{query}") for host in hosts.split(",")))


def _with_port(host: str) -> str:
    return host if re.search(r":\d+$", host) else f"{host}:{_DEFAULT_PORT}"
