"""Servers: what settings and URLs name: one Redis server, or several that hold a store together."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.store.redis.connection import Server

_CLUSTER = re.compile(r"(rediss?)\+cluster://(.*@)?([^/?@,]+(?:,[^/?@,]+)*)(?:/0?)?(\?.*)?", re.DOTALL)
_DEFAULT_PORT = 6379
_SCRAPY_REDIS = {"REDIS_URL": "url", "REDIS_HOST": "host", "REDIS_PORT": "port", "REDIS_DB": "db"}


@dataclass(frozen=True)
class Servers:
    """Nodes of a Redis Cluster of which some are named, or plain servers that are all named.

    >>> str(servers_of("redis+cluster://:secret@one.example:7000,two.example"))
    'redis+cluster://one.example:7000,two.example:6379'
    """

    named: tuple[Server, ...]
    is_cluster: bool

    def __str__(self) -> str:
        """Return the URL without what nobody shall read in a log."""
        if not self.is_cluster:
            return " ".join(map(str, self.named))
        scheme, _, first = str(self.named[0]).partition("://")
        others = [str(server).partition("://")[2] for server in self.named[1:]]
        return f"{scheme}+cluster://{','.join([first, *others])}"

    @property
    def identity(self) -> str:
        """See :attr:`Server.identity`. Two lists that name different nodes of one cluster have different ones."""
        return ("cluster " if self.is_cluster else "") + " ".join(server.identity for server in self.named)

    def at(self, host: str, port: int) -> Server:
        """Return another node of the cluster, which is spoken to as those that are named are."""
        first = self.named[0]
        host = f"[{host}]" if ":" in host else host
        head, _, query = first.url.partition("?")
        user, at, _ = head.rpartition("@")
        scheme = head.partition("://")[0]
        url = f"{user}{at}{host}:{port}" if at else f"{scheme}://{host}:{port}"
        return replace(first, url=f"{url}?{query}" if query else url)


def servers_of(url: str) -> Server | Servers:
    """Return what ``SIMHASH_REDIS_URL`` names. Raises SettingError for what is no URL.

    ``redis+cluster://host:port,host:port`` names nodes of a cluster, one is enough; several URLs with spaces between
    them name plain servers.
    """
    url = re.sub(r"\s*,\s*", ",", url.strip())
    urls = url.split()
    if re.search(r",rediss?(\+cluster)?://", url):
        raise SettingError("SIMHASH_REDIS_URL: write spaces between the URLs of several servers, not commas")
    if len(urls) > 1:
        if any("+cluster://" in one for one in urls):
            raise SettingError(
                "SIMHASH_REDIS_URL must name one cluster, or several plain servers. The nodes of a cluster are in one"
                " URL, with commas between them: redis+cluster://host:6379,host:6379"
            )
        return Servers(tuple(map(Server, urls)), is_cluster=False)
    if "+cluster://" not in url:
        return Server(url)
    found = _CLUSTER.fullmatch(url)
    if found is None:
        raise SettingError(
            "SIMHASH_REDIS_URL must name a cluster like redis+cluster://:password@host:6379,host:6379, without a"
            " number of a database. In a password write %2F for /, %3F for ?, %40 for @"
        )
    scheme, user, hosts, query = (part or "" for part in found.groups())
    return Servers(
        tuple(Server(f"{scheme}://{user}{_with_port(host)}{query}") for host in hosts.split(",")),
        is_cluster=True,
    )


def _with_port(host: str) -> str:
    return host if re.search(r":\d+$", host) else f"{host}:{_DEFAULT_PORT}"


def server_from_settings(settings: Mapping[str, Any]) -> Server | Servers | None:
    """Return what ``SIMHASH_REDIS_URL`` names, else that of scrapy-redis's settings, None if nothing names one.

    Of scrapy-redis: ``REDIS_URL``, else ``REDIS_HOST``, ``REDIS_PORT`` and ``REDIS_DB``; all of these also in
    ``REDIS_PARAMS``, with passwords and the like. Raises SettingError for values that are none.

    >>> server_from_settings({"REDIS_HOST": "db.example", "REDIS_PARAMS": {"port": 6380}}).url
    'redis://db.example:6380'
    """
    if url := settings.get("SIMHASH_REDIS_URL"):
        return servers_of(str(url))
    params = settings.get("REDIS_PARAMS") or {}
    try:
        options: dict[str, Any] = dict(json.loads(params) if isinstance(params, str) else params)
    except (TypeError, ValueError):
        # Its value may be a password.
        raise SettingError(
            f"REDIS_PARAMS must be a dictionary, or the JSON of one, got a value of type {type(params).__name__}"
        ) from None
    options |= {name: settings[setting] for setting, name in _SCRAPY_REDIS.items() if settings.get(setting)}
    url, host, port, path = (options.pop(name, None) for name in ("url", "host", "port", "unix_socket_path"))
    is_tls = str(options.pop("ssl", "")).lower() in {"true", "1", "yes"}
    if url:
        # ``ssl`` beside an address without it is meant.
        url = str(url).replace("redis://", "rediss://", 1) if is_tls else str(url)
    elif path:
        url = f"unix://{quote(str(path))}"
    elif host or port or options:
        name = str(host or "localhost")
        name = f"[{name}]" if ":" in name else name
        url = f"redis{'s' if is_tls else ''}://{name}:{_number('REDIS_PORT', port or _DEFAULT_PORT)}"
    else:
        return None
    if "db" in options:
        options["db"] = _number("REDIS_DB", options["db"])
    return Server(url, options)


def _number(setting: str, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise SettingError(
            f"{setting} (or its value in REDIS_PARAMS) must be a whole number, got {value!r}"
        ) from None
