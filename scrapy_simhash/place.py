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
from urllib.parse import quote, unquote

from scrapy_simhash.times import duration
from scrapy_simhash.values import AGE, Options, is_age, is_path, option, switch, whole

#: Kinds of places: a folder contains SQLite files, a class is the user's own store.
MEMORY, FOLDER, REDIS, CLASS = "memory", "folder", "redis", "class"
SCHEMES = ("redis", "rediss", "unix", "redis+cluster", "rediss+cluster")
#: Seconds: 32 bits in the records.
MAX_EXPIRE = 2**32 - 1
#: Query key for the age after which pages that were not seen again are removed.
KEEP = "keep"
_WHAT = (
    "must be 'memory', a folder such as './seen', a URL like redis://host:6379/0?prefix=news, or the import"
    " path of a class"
)
_TEMPLATE = "must not contain % except in %(name)s and %%"
#: Several letters before a colon are a scheme or a host; one letter is a Windows drive.
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


def _seconds(most: int, least: int = 0) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not is_age(text) or not least <= duration(text) <= most:
            raise ValueError(f"{AGE}, {f'from {least}s ' if least else ''}up to {most:,}s")
        return duration(text)

    return read


#: Query keys of this plugin. All others belong to redis-py.
KEYS: Options = {
    "prefix": ("simhash:%(name)s", _prefix),
    KEEP: (None, _seconds(MAX_EXPIRE, least=1)),
    "required": (False, switch),
    # A Redis Cluster has 16,384 slots.
    "shards": (None, whole(1, 16_384, of="shards")),
    "scopes": (None, whole(1, of="scopes")),
}
#: Query keys of a folder.
_OF_FOLDER: Options = {KEEP: KEYS[KEEP]}
#: Removed query keys, and the effect.
_GONE = {
    "live": "pages that another running crawler has delivered are no longer dropped",
    "expire": "a store does not expire as a whole, and keep=90d removes the pages that were not seen for so long",
}
#: Query keys for a Redis Cluster only.
_OF_CLUSTER = {"shards", "scopes"}


@dataclass(frozen=True)
class StorePlace:
    """The location of a store.

    >>> StorePlace.of("redis://:secret@host:6379/0?db=1&prefix=news&keep=90d")
    StorePlace(kind='redis', path='', url='redis://:secret@host:6379/0?db=1', prefix='news', \
required=False, shards=None, scopes=None, keep=7776000)
    """

    kind: str
    """One of ``memory``, ``folder``, ``redis`` and ``class``."""
    path: str = ""
    """The folder, in which ``%(name)s`` is the spider's name and ``%%`` a percent sign, or the import path."""
    url: str = ""
    """URL of Redis in redis-py's format, or of a Redis Cluster."""
    prefix: str = KEYS["prefix"][0]
    """Prefix of the keys in Redis; a template like *path*."""
    required: bool = False
    """Whether a crawl must not start while Redis is unavailable."""
    shards: int | None = None
    scopes: int | None = None
    """See RedisStore; None for its defaults."""
    keep: int | None = None
    """Seconds after which a page that was not seen again is removed; None to keep all."""

    @classmethod
    def of(cls, text: str) -> StorePlace:
        """Parse *text* into a place.

        Raises ValueError otherwise; its message continues the name of the setting and contains no password.
        """
        text = text.strip()
        if text == MEMORY:
            return cls(MEMORY)
        if is_redis(text):
            return cls._in_redis(text)
        if text == "sqlite":
            raise ValueError(
                "must be a folder such as './seen' for a file of SQLite, got 'sqlite'; with JOBDIR alone, remove it"
            )
        if is_path(text):
            return cls(CLASS, text)
        if not re.search(r"[/\\]", text) or _SCHEME.match(text):
            raise ValueError(f"{_WHAT}, got {without_password(text)!r}")
        path, _, query = text.partition("?")
        given = dict(part.partition("=")[::2] for part in query.split("&")) if query else {}
        try:
            for name in given:
                option(given, _OF_FOLDER, name)
            return cls(FOLDER, _template(path), keep=option(given, _OF_FOLDER, KEEP))
        except ValueError as error:
            raise ValueError(f"{error}, got {text!r}") from None

    @classmethod
    def _in_redis(cls, text: str) -> StorePlace:
        address, _, query = text.partition("?")
        shown = without_password(text)
        if address == REDIS:
            raise ValueError(
                f"must be the URL of the server, such as redis://localhost:6379/0, got {shown!r}: REDIS_URL and other"
                " settings of scrapy-redis are no longer read"
            )
        # A password may have a #, and ends at the at sign.
        before, mark, fragment = text.rpartition("@")[2].partition("#")
        if mark:
            prefix = fragment if "?" not in before else "..."
            raise ValueError(
                f"takes the prefix of a store in Redis as ?prefix=, not behind #: write {shown.partition('#')[0]}"
                f"?prefix={prefix}"
            )
        given: dict[str, str] = {}
        others = []
        for part in query.split("&") if query else ():
            name, _, value = part.partition("=")
            if name in KEYS:
                if "@" in value:
                    # The rest of a password that contains a question mark would be logged.
                    raise ValueError(f"has an @ in {name}: write %40, and %3F for ? in a password")
                given[name] = value
                continue
            if name in _GONE:
                raise ValueError(f"has {name}, which is gone, behind {shown}?: {_GONE[name]}. Remove it")
            near = get_close_matches(name.lower(), KEYS, n=1, cutoff=0.75)
            if near:
                raise ValueError(f"has an unknown key {name!r} behind {shown}?: did you mean {near[0]}?")
            others.append(part)
        is_cluster = address.startswith(("redis+cluster:", "rediss+cluster:"))
        if not is_cluster and (wrong := _OF_CLUSTER & given.keys()):
            raise ValueError(f"has {min(wrong)}, which is for redis+cluster:// only, behind {shown}?")
        url = "?".join(filter(None, (address, "&".join(others))))
        return cls(REDIS, url=url, **{name: option(given, KEYS, name) for name in given})


def is_redis(text: str) -> bool:
    """Return whether *text* is a place in Redis, valid or not.

    >>> is_redis("redis?prefix=a"), is_redis("rediss://host"), is_redis("./redis"), is_redis("C:/redis")
    (True, True, False, False)
    """
    found = _SCHEME.match(text)
    return text.partition("?")[0] == REDIS or (found is not None and bool(found[2]) and found[1] in SCHEMES)


def filled(template: str, spider: str) -> str:
    """Return the folder or prefix for *spider*."""
    return template % {"name": spider}


def without_password(url: str) -> str:
    """Return *url* without its password, for logs.

    >>> without_password("redis://:secret@db.example:6380/1?password=secret")
    'redis://db.example:6380/1'
    """
    address, _, query = url.partition("?")
    # The question mark may belong to a password, whose end is unknown then.
    if "@" in query and "//" in address:
        return re.sub("(?s)//.*", "//...", address)
    return re.sub("(?s)(?<=//).*@|^(?!.*//).*@", "", address)


def in_url(template: str) -> str:
    """Return *template* quoted as a value in the query of a URL.

    >>> in_url("simhash:%(name)s"), in_url("a & b")
    ('simhash:%(name)s', 'a%20%26%20b')
    """
    return quote(template, safe="%():/,;{}[]!*'$?|~")
