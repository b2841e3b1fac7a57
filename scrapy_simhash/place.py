"""StorePlace: the location of a store, parsed from ``SIMHASH_STORE`` or the command line.

    memory                                      until the crawl ends
    ./seen  /var/seen  ~/seen  seen/?keep=90d   a folder, with a file for each spider
    redis://host:6379/0?prefix=news&keep=90d    Redis or Valkey; also rediss:// (TLS) and unix://
    redis+cluster://host:7000,host:7001?...     a Redis Cluster; also rediss+cluster://
    my.module.Store                             the import path of a class

No other module parses these forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any
from urllib.parse import quote, unquote

from scrapy_simhash.times import duration
from scrapy_simhash.values import is_path, switch, whole

#: Kinds of places: a folder contains SQLite files, a class is the user's own store.
MEMORY, FOLDER, REDIS, CLASS = "memory", "folder", "redis", "class"
SCHEMES = ("redis", "rediss", "unix", "redis+cluster", "rediss+cluster")
#: Max age in seconds, because records have 32 bits for the age.
MAX_EXPIRE = 2**32 - 1
#: Query key for the age after which pages that were not seen again are removed.
KEEP = "keep"
_WHAT = (
    "must be 'memory', a folder such as './seen', a URL like redis://host:6379/0?prefix=news, or the import"
    " path of a class"
)
_TEMPLATE = "must not contain % except in %(name)s and %%"
#: Two or more letters before a colon are a scheme or a host; one letter is a Windows drive.
_SCHEME = re.compile(r"([\w.+-]{2,}):(//)?")


def _template(text: str) -> str:
    """Return *text* if it is a template for a spider's name. Raises ValueError."""
    if "%" in re.sub(r"%%|%\(name\)s", "", text):
        raise ValueError(_TEMPLATE)
    return text


def _prefix(text: str) -> str:
    # %% is an escaped percent sign, even if hexadecimal digits follow.
    prefix = _template("%%".join(map(unquote, text.split("%%"))))
    if not prefix:
        raise ValueError("must not be empty")
    return prefix


def _age(text: str) -> int:
    try:
        seconds = duration(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= MAX_EXPIRE:
        raise ValueError(
            f"must be a number with a unit (s, m, h, d, w), such as 30d, from 1s up to {MAX_EXPIRE:,}s"
        )
    return seconds


#: Readers of the query keys of this plugin. All other keys belong to redis-py.
KEYS: dict[str, Callable[[str], Any]] = {
    "prefix": _prefix,
    KEEP: _age,
    "required": switch,
    # A Redis Cluster has 16,384 slots.
    "shards": whole(1, 16_384, of="shards"),
}
#: Query keys for a Redis Cluster only.
_CLUSTER_KEYS = {"shards"}


def _read(name: str, text: str) -> Any:
    """Return the value of the query key *name*. Raises ValueError."""
    try:
        return KEYS[name](text)
    except ValueError as error:
        raise ValueError(f"contains {name}={text}, but {name} {error.args[0]}") from None


@dataclass(frozen=True)
class StorePlace:
    """The location of a store.

    >>> StorePlace.of("redis://:secret@host:6379/0?db=1&prefix=news&keep=90d")
    StorePlace(kind='redis', path='', url='redis://:secret@host:6379/0?db=1', prefix='news', \
required=False, shards=None, keep=7776000)
    """

    kind: str
    """One of ``memory``, ``folder``, ``redis`` and ``class``."""
    path: str = ""
    """The folder, in which ``%(name)s`` is the spider's name and ``%%`` a percent sign, or the import path."""
    url: str = ""
    """URL of Redis in redis-py's format, or of a Redis Cluster."""
    prefix: str = "simhash:%(name)s"
    """Prefix of the keys in Redis; a template like *path*."""
    required: bool = False
    """Whether a crawl refuses to start while Redis is unavailable."""
    shards: int | None = None
    """Number of shards of a cluster; None for the number of an existing store, or for the default."""
    keep: int | None = None
    """Age in seconds at which a page that was not seen again is removed; None to keep all pages."""

    @classmethod
    def of(cls, text: str) -> StorePlace:
        """Parse *text* into a place.

        Raises ValueError for an invalid place. The message is written to follow the name of the setting, and contains
        no password.
        """
        text = text.strip()
        if text == MEMORY:
            return cls(MEMORY)
        if is_redis(text):
            return cls._in_redis(text)
        if is_path(text):
            return cls(CLASS, text)
        if not re.search(r"[/\\]", text) or _SCHEME.match(text):
            raise ValueError(f"{_WHAT}, got {without_password(text)!r}")
        path, _, query = text.partition("?")
        name, _, value = query.partition("=")
        try:
            if query and name != KEEP:
                raise ValueError(f"contains the unknown key {name!r}; a folder accepts only the key {KEEP}")
            return cls(FOLDER, _template(path), keep=_read(KEEP, value) if query else None)
        except ValueError as error:
            raise ValueError(f"{error}, got {text!r}") from None

    @classmethod
    def _in_redis(cls, text: str) -> StorePlace:
        address, _, query = text.partition("?")
        shown = without_password(text)
        # The password, which may contain a #, ends at the at sign.
        if "#" in text.rpartition("@")[2]:
            raise ValueError(
                f"contains # after {shown.partition('#')[0]}: write # in a password as %23; add a prefix as ?prefix="
            )
        given: dict[str, str] = {}
        others = []
        for part in query.split("&") if query else ():
            name, _, value = part.partition("=")
            if name in KEYS:
                if "@" in value:
                    # Otherwise the rest of a password that contains a question mark would be logged.
                    raise ValueError(
                        f"contains @ in the value of {name}; write it as %40, and ? in a password as %3F"
                    )
                given[name] = value
            elif near := get_close_matches(name.lower(), KEYS, n=1, cutoff=0.75):
                raise ValueError(f"contains the unknown key {name!r}; did you mean {near[0]}?")
            else:
                others.append(part)
        is_cluster = address.startswith(("redis+cluster:", "rediss+cluster:"))
        if not is_cluster and (wrong := _CLUSTER_KEYS & given.keys()):
            raise ValueError(f"contains the key {min(wrong)}, which only redis+cluster:// URLs support")
        url = "?".join(filter(None, (address, "&".join(others))))
        return cls(REDIS, url=url, **{name: _read(name, value) for name, value in given.items()})


def is_redis(text: str) -> bool:
    """Return whether *text* is a place in Redis, valid or not.

    >>> is_redis("rediss://host"), is_redis("./redis"), is_redis("C:/redis")
    (True, False, False)
    """
    return text.partition("://")[0] in SCHEMES and "://" in text


def filled(template: str, spider: str) -> str:
    """Return the folder or prefix in *template*, with the name of the *spider*."""
    return template % {"name": spider}


def without_password(url: str) -> str:
    """Return *url* without its password, for logs.

    >>> without_password("redis://:secret@db.example:6380/1?password=secret")
    'redis://db.example:6380/1'
    """
    address, _, query = url.partition("?")
    # The question mark may belong to a password, and then the end of the password is unknown.
    if "@" in query and "//" in address:
        return re.sub("(?s)//.*", "//...", address)
    return re.sub("(?s)(?<=//).*@|^(?!.*//).*@", "", address)


def in_url(template: str) -> str:
    """Return *template*, quoted for use as a value in the query of a URL.

    >>> in_url("simhash:%(name)s"), in_url("a & b")
    ('simhash:%(name)s', 'a%20%26%20b')
    """
    return quote(template, safe="%():/,;{}[]!*'$?|~")
