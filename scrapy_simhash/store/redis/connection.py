"""Server: where a Redis is, and how to speak to it. The one place that imports redis-py."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from scrapy_simhash.exceptions import SettingError, StoreError

_SCHEMES = ("redis://", "rediss://", "unix://")
#: What redis-py takes and a store can use. The rest says how answers are read, which is ours to say, or is the
#: business of who holds many connections.
_OPTIONS = {"client_name", "credential_provider", "db", "password", "username"}
_TIMES = {"socket_connect_timeout", "socket_timeout"}
_TCP_OPTIONS = {"socket_keepalive", "socket_keepalive_options", "socket_type"}
_TLS_OPTIONS = {
    *("ssl_ca_certs", "ssl_ca_data", "ssl_ca_path", "ssl_cert_reqs", "ssl_certfile", "ssl_check_hostname"),
    *("ssl_ciphers", "ssl_keyfile", "ssl_min_version", "ssl_password"),
}
_URL_SETTINGS = "SIMHASH_REDIS_URL (or REDIS_URL)"
_THIS_MACHINE = {"127.0.0.1", "::1"}


@dataclass(frozen=True)
class Server:
    """A Redis or Valkey server.

    >>> str(Server("redis://:secret@db.example:6380/1"))
    'redis://db.example:6380/1'
    """

    url: str
    """``redis://``, ``rediss://`` (TLS) or ``unix://``, as ``redis.Redis.from_url`` takes it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the URL does not say, as ``redis.Redis`` takes it. What does not suit a store is passed over."""

    def __post_init__(self) -> None:
        if not self.url.startswith(_SCHEMES):
            raise SettingError(
                f"{_URL_SETTINGS} must be a URL that begins with redis://, rediss://, unix:// or redis+cluster://,"
                f" got {self}"
            )

    def __str__(self) -> str:
        """Return the URL without what nobody shall read in a log."""
        address, _, query = self.url.partition("?")
        # The question mark may be in a password, and then nobody knows where it ends.
        return re.sub("//.*", "//...", address) if "@" in query else re.sub("//.*@", "//", address)

    def __repr__(self) -> str:
        """Return the same, as code would have it."""
        return f"Server({str(self)!r})"

    @property
    def identity(self) -> str:
        """Where it is and which database is meant, told in one way however it was written.

        >>> Server("redis://127.0.0.1").identity == Server("redis://:secret@LOCALHOST:6379", {"db": 0}).identity
        True
        """
        taken = self.client(1, is_async=False).connection_pool.connection_kwargs
        host = str(taken.get("host") or "localhost").lower()
        host = "localhost" if host in _THIS_MACHINE else host
        address = taken.get("path") or f"{host}:{taken.get('port') or 6379}"
        return f"{address}/{taken.get('db') or 0}"

    def client(self, timeout: float, *, is_async: bool) -> Any:
        """Return a client of redis-py that tries everything once and takes answers as bytes.

        *timeout* is for every answer, in seconds, unless the server's options have one. Connects at the first
        command. Raises StoreError if redis-py is missing or too old, SettingError for options that it does not take.
        """
        redis = library()
        kind = redis.asyncio if is_async else redis
        address, _, query = self.url.partition("?")
        try:
            _ = urlsplit(address).port
        except ValueError:
            # What Python has to say about it may be a part of the password.
            raise SettingError(
                f"{_URL_SETTINGS} must be a URL like redis://:password@host:6379/0, got {self}."
                " In a password write %2F for /, %3F for ?, %23 for #, %5B for [, %5D for ]"
            ) from None
        suitable = _OPTIONS | _TIMES
        if not address.startswith("unix:"):
            suitable |= _TCP_OPTIONS
        if address.startswith("rediss:"):
            suitable |= _TLS_OPTIONS
        query = urlencode([(name, value) for name, value in parse_qsl(query) if name in suitable])
        options = {name: value for name, value in self.options.items() if name in suitable}
        # The same claim sent again would find itself.
        once = kind.retry.Retry(redis.backoff.NoBackoff(), 0)
        try:
            times: dict[str, Any] = {name: float(options.pop(name, None) or timeout) for name in _TIMES}
            return kind.Redis.from_url(f"{address}?{query}", protocol=2, retry=once, **times, **options)
        except (TypeError, ValueError) as error:
            raise SettingError(
                f"SIMHASH_REDIS_URL, REDIS_URL or REDIS_PARAMS has a wrong value for the Redis server {self}: {error}"
            ) from error


def library() -> Any:
    """Return redis-py. Raises StoreError, which names the extra, if it is not there or too old."""
    how = "pip install 'scrapy-simhash[redis]', in a checkout pip install '.[redis]'"
    try:
        import redis.asyncio.retry
        import redis.crc
        import redis.retry
    except ImportError as error:
        raise StoreError(f"SIMHASH_STORE = 'redis' needs redis-py: {how}") from error
    if int(redis.__version__.partition(".")[0]) < 5:
        raise StoreError(
            f"SIMHASH_STORE = 'redis' needs redis-py 5.0 or later, found {redis.__version__}: {how}"
        )
    return redis
