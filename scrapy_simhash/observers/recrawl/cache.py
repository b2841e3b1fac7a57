"""RecrawlPolicy and PageStorage: a policy and a storage of Scrapy's HTTP cache.

The policy requests known pages conditionally, or not until they are due. A policy has access only to the settings,
and cannot wait for a store. So `SimhashRecrawlMiddleware` decides how to request a page and writes the mode into the
meta of the request, and the policy applies it.

The storage is an SQLite file, which also contains hosts with wrong 304 responses.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import time
import zlib
from collections.abc import Callable
from enum import Enum
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from scrapy.utils.project import data_path

from scrapy_simhash import names
from scrapy_simhash.crawling import internal_of, meta_with
from scrapy_simhash.exceptions import SettingError

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

T = TypeVar("T")

logger = logging.getLogger(__name__)

#: Validators that match no page, so that only a server that ignores validators answers 304.
_NO_ETAG, _LONG_AGO = b'"no-page-has-this"', b"Thu, 01 Jan 1970 00:00:01 GMT"
#: Headers of a 304 response that describe its empty body, not the page.
_OF_THE_BODY = (
    b"Content-Encoding",
    b"Content-Length",
    b"Content-Range",
    b"Content-Type",
    b"Transfer-Encoding",
)
#: Flags of a body that may be incomplete.
_INCOMPLETE = frozenset(("partial", "dataloss", "download_stopped"))

#: The headers of a conditional request.
VALIDATORS = (b"If-None-Match", b"If-Modified-Since")


class Mode(str, Enum):
    """The way in which a page is requested."""

    NOT_DUE = "not_due"
    """The page is not requested; the page in the cache is the response."""
    CONDITIONAL = "conditional"
    """The page is requested with the validators of the page in the cache, if it has any."""
    CHECK = "check"
    """The page is requested with validators that match no page, to test whether the server compares them."""
    FULL = "full"
    """The page is requested without validators; a 304 response is final."""
    MODIFIED = "modified"
    """The page was requested conditionally, and the server sent it in full."""


def mode_of(request: Request) -> Mode | None:
    """Return the mode of *request*; None for a request that does not use the cache."""
    mode = internal_of(request).get(names.RECRAWL)
    return None if mode is None else Mode(mode)


def remove_validators(request: Request) -> None:
    """Remove the validators from *request*, because a copy of it may be sent for a different page or mode."""
    for name in VALIDATORS:
        request.headers.pop(name, None)


class RecrawlPolicy:
    """The class for ``HTTPCACHE_POLICY``. Needs ``SIMHASH_RECRAWL``, the add-on, and `PageStorage`.

    The page in the cache is the response after a 304, or while the page is not due, but never for an error: 5xx
    responses are retried. Unlike Scrapy's policies, this policy also stores responses with ``Cache-Control:
    no-cache`` or ``max-age=0``, which only require revalidation. Requests without a mode do not use the cache.
    """

    def __init__(self, settings: BaseSettings) -> None:
        """Raises SettingError without ``SIMHASH_RECRAWL``."""
        if not settings.get("SIMHASH_RECRAWL"):
            raise SettingError(
                "HTTPCACHE_POLICY = 'scrapy_simhash.RecrawlPolicy' needs SIMHASH_RECRAWL: set {'': 'auto'}, or"
                " {'': 'always'} to request every page conditionally"
            )
        self._keeps_all = settings.getbool("HTTPCACHE_ALWAYS_STORE")

    def should_cache_request(self, request: Request) -> bool:
        """Return whether *request* has a mode."""
        return mode_of(request) is not None

    def should_cache_response(self, response: Response, request: Request) -> bool:
        """Return whether *response* is complete and may be stored."""
        if response.status != 200 or not _INCOMPLETE.isdisjoint(response.flags):
            return False
        if b"*" in response.headers.getlist(b"Vary"):
            return False
        return self._keeps_all or b"no-store" not in (response.headers.get(b"Cache-Control") or b"").lower()

    def is_cached_response_fresh(self, cachedresponse: Response, request: Request) -> bool:
        """Return whether the page is not due. If it is due, add validators to *request*."""
        mode, headers = mode_of(request), cachedresponse.headers
        remove_validators(request)
        if mode is Mode.NOT_DUE:
            cachedresponse.flags.append(names.FLAG_NOT_DUE)
            return True
        if mode is Mode.CHECK:
            request.headers[b"If-None-Match"] = _NO_ETAG
            request.headers[b"If-Modified-Since"] = _LONG_AGO
        elif mode is Mode.CONDITIONAL:
            # Only the ETag is sent, because servers that also compare a date may miss a change.
            if etag := headers.get(b"ETag"):
                request.headers[b"If-None-Match"] = etag
            elif date := headers.get(b"Last-Modified"):
                request.headers[b"If-Modified-Since"] = date
        return False

    def is_cached_response_valid(
        self, cachedresponse: Response, response: Response, request: Request
    ) -> bool:
        """Return whether *response* is a 304, whose headers Scrapy adds to those of the page in the cache."""
        was_asked = mode_of(request) is Mode.CONDITIONAL and any(
            name in request.headers for name in VALIDATORS
        )
        if was_asked and response.status == 200:
            request.meta.update(meta_with(request, names.RECRAWL, Mode.MODIFIED.value))
        remove_validators(request)
        if response.status != 304:
            return False
        for name in _OF_THE_BODY:
            response.headers.pop(name, None)
        response.headers.pop(b"Set-Cookie", None)
        cachedresponse.flags.append(names.FLAG_NOT_MODIFIED)
        return True


#: ``PRAGMA user_version`` of a file.
VERSION = 2
#: Bodies are about 10 kB. With SQLite's default of 4 kB, a fifth more space is lost at the ends of overflow pages.
_PAGE_SIZE = 8192
#: Pages per write. If the crawl is killed, the next crawl fetches these pages in full.
TOGETHER = 100
#: Seconds to wait for another crawl of the same spider that is writing; this blocks the event loop.
_TIMEOUT = 1.0
#: Seconds until a host that answered 304 wrongly gets conditional requests again.
WRONG_SECONDS = 30 * 86_400

_TABLES = """
CREATE TABLE pages (key BLOB PRIMARY KEY, hash BLOB, data BLOB NOT NULL);
CREATE TABLE hosts (
    host TEXT PRIMARY KEY, unmodified INTEGER NOT NULL, wrong INTEGER NOT NULL, has_shown_change INTEGER NOT NULL
) WITHOUT ROWID;
"""
_DATA = "SELECT data FROM pages WHERE key = ?"
# In a damaged file, a column may have a different type. Such a value counts as missing.
_HASH = "SELECT hash FROM pages WHERE key = ? AND typeof(hash) = 'blob'"
_HOST = """SELECT unmodified, wrong, has_shown_change FROM hosts
WHERE host = ? AND typeof(unmodified) = 'integer' AND typeof(wrong) = 'integer'"""


class PageStorage:
    """The class for ``HTTPCACHE_STORAGE``: ``<spider>.pages.sqlite`` in the folder ``HTTPCACHE_DIR``.

    A page is stored with its status, headers, compressed body, and the hash of its compared text, which shows whether
    the store has the same version of the page.

    If the file cannot be used, a warning is logged once, and every page is fetched in full.
    """

    def __init__(self, settings: BaseSettings) -> None:
        self._folder = Path(data_path(settings["HTTPCACHE_DIR"], createdir=True))
        self._database: sqlite3.Connection | None = None
        self._has_failed = False
        #: Pages to be written next, with their hash; received pages that are not compared yet.
        self._compared: dict[bytes, tuple[bytes | None, bytes | None]] = {}
        self._received: dict[bytes, bytes] = {}
        #: By host: number of 304 responses, time of a wrong 304 response (0 for none), and whether the host has shown
        #: a change.
        self._hosts: dict[str, tuple[int, int, int]] = {}
        self._changed_hosts: set[str] = set()

    # --- For Scrapy's middleware.

    def open_spider(self, spider: Spider) -> None:
        """Open the file of *spider*, or create it."""
        crawler = spider.crawler
        assert crawler.request_fingerprinter is not None
        self._key_of = crawler.request_fingerprinter.fingerprint
        self._spider = spider
        self._path = self._folder / f"{spider.name.replace('/', '_')}.pages.sqlite"
        try:
            database = sqlite3.connect(self._path, timeout=_TIMEOUT, isolation_level=None)
            try:
                _prepare(database)
            except BaseException:
                database.close()
                raise
            self._database = database
        except sqlite3.Error as error:
            self._failed(str(error))

    def close_spider(self, spider: Spider) -> None:
        """Write the remaining pages, and close the file."""
        if self._database is not None:
            self._compared.update({key: (None, data) for key, data in self._received.items()})
            self._received.clear()
            self._write()
            self._database.close()
            self._database = None

    def retrieve_response(self, spider: Spider, request: Request) -> Response | None:
        """Return the page of *request*; None if it is unknown, or if a request header in its ``Vary`` differs."""
        key = self._key_of(request)
        data = self._compared.get(key, (None, None))[1] or self._asked(_DATA, key)
        if data is None:
            return None
        try:
            head, body = _unpacked(data)
            if not _is_for(head["vary"], request):
                return None
            headers = Headers(head["headers"])
            kind = responsetypes.from_args(headers=headers, url=head["url"], body=body)
            return kind(url=head["url"], status=head["status"], headers=headers, body=body)
        except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
            self._failed(f"the page {request.url} is damaged: {error!r}")
            return None

    def store_response(self, spider: Spider, request: Request, response: Response) -> None:
        """Keep a page in memory until `compared` is called. A 304 response changes nothing."""
        if names.FLAG_NOT_MODIFIED not in response.flags and self._database is not None:
            self._received[self._key_of(request)] = _packed(request, response)

    # --- For SimhashRecrawlMiddleware.

    def compared(self, key: bytes, page_hash: int | None) -> None:
        """Store the hash of a page that was received or is in the cache; None for a page without a hash."""
        data = self._received.pop(key, None) or self._compared.get(key, (None, None))[1]
        self._compared[key] = None if page_hash is None else page_hash.to_bytes(8, "big"), data
        if len(self._compared) >= TOGETHER:
            self._write()

    def discard(self, key: bytes) -> None:
        """Discard a received page; its former version stays in the cache."""
        self._received.pop(key, None)

    def page_hash(self, key: bytes) -> int | None:
        """Return the hash of the page in the cache; None without a page or hash. Takes one query."""
        found = self._compared[key][0] if key in self._compared else self._asked(_HASH, key)
        return None if found is None else int.from_bytes(found, "big")

    def unmodified(self, host: str) -> tuple[int, bool]:
        """Count a 304 response of *host*.

        Return the number of earlier 304 responses, also in earlier crawls, and whether the host has shown a change.
        """
        count, wrong, has_shown_change = self._host(host)
        self._hosts[host] = count + 1, wrong, has_shown_change
        self._changed_hosts.add(host)
        return count, bool(has_shown_change)

    def note_change(self, host: str) -> None:
        """Record that *host* sent a changed page instead of a 304, so that its validators change with its pages."""
        count, wrong, has_shown_change = self._host(host)
        if not has_shown_change:
            self._hosts[host] = count, wrong, 1
            self._changed_hosts.add(host)

    def is_wrong(self, host: str) -> bool:
        """Return whether *host* answered 304 wrongly in the last 30 days."""
        since = self._host(host)[1]
        return since > 0 and 0 <= time.time() - since < WRONG_SECONDS

    def note_wrong(self, host: str) -> None:
        """Record that *host* answers 304 wrongly. After 30 days its first responses are checked again."""
        self._hosts[host] = 0, int(time.time()), 0
        self._changed_hosts.add(host)

    def _host(self, host: str) -> tuple[int, int, int]:
        if host not in self._hosts:
            rows = self._attempt(lambda database: database.execute(_HOST, (host,)).fetchall())
            self._hosts[host] = rows[0] if rows else (0, 0, 0)
        return self._hosts[host]

    # --- The file.

    def _asked(self, query: str, key: bytes) -> bytes | None:
        rows = self._attempt(lambda database: database.execute(query, (key,)).fetchall())
        return rows[0][0] if rows else None

    def _write(self) -> None:
        """Write pages and hosts in one transaction. If that fails, they are lost, and pages are fetched in full."""
        self._attempt(self._write_all)
        self._compared.clear()
        self._changed_hosts.clear()

    def _write_all(self, database: sqlite3.Connection) -> None:
        with database:
            database.execute("BEGIN IMMEDIATE")
            for key, (page_hash, data) in self._compared.items():
                if data is None:
                    database.execute("UPDATE pages SET hash = ? WHERE key = ?", (page_hash, key))
                else:
                    database.execute("INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", (key, page_hash, data))
            hosts = [(host, *self._hosts[host]) for host in self._changed_hosts]
            database.executemany("INSERT OR REPLACE INTO hosts VALUES (?, ?, ?, ?)", hosts)

    def _attempt(self, step: Callable[[sqlite3.Connection], T]) -> T | None:
        if self._database is None:
            return None
        try:
            return step(self._database)
        except sqlite3.Error as error:
            self._failed(str(error))
            return None

    def _failed(self, what: str) -> None:
        if not self._has_failed:
            self._has_failed = True
            logger.warning(
                "The pages of the HTTP cache cannot be used, so pages are fetched in full: %s: %s",
                self._path,
                what,
                extra={"spider": self._spider},
            )


def _prepare(database: sqlite3.Connection) -> None:
    """Create the tables of a new file, or check the version of an existing file. Raises sqlite3.Error."""
    database.execute(f"PRAGMA page_size = {_PAGE_SIZE}")
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        database.execute(_HASH, (b"",))
    elif version or database.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise sqlite3.DatabaseError(
            f"it has version {version}, but this release reads version {VERSION}. Delete the file"
        )
    else:
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
    # Pages lost in a power failure are fetched again.
    database.execute("PRAGMA synchronous = NORMAL")


def _packed(request: Request, response: Response) -> bytes:
    """Return a page as bytes: a line of JSON without cookies, and the body, compressed unless it already was."""
    headers = {
        name.decode("latin-1"): [value.decode("latin-1") for value in values]
        for name, values in response.headers.items()
        if name != b"Set-Cookie"
    }
    vary = {name: _digest(request, name) for name in _varies(response)}
    head = {
        "url": response.url,
        "status": response.status,
        "headers": headers,
        "vary": vary,
    }
    level = 0 if b"Content-Encoding" in response.headers else 6
    return zlib.compress(json.dumps(head).encode() + b"\n" + response.body, level)


def _unpacked(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the page in *data*, the result of `_packed`. Raises ValueError or zlib.error for other bytes."""
    head, _, body = zlib.decompress(data).partition(b"\n")
    return json.loads(head), body


def _varies(response: Response) -> list[str]:
    """Return the names of the request headers on which the body depends."""
    lines = b",".join(response.headers.getlist(b"Vary")).decode("latin-1")
    return sorted({name.strip().lower() for name in lines.split(",") if name.strip()})


def _digest(request: Request, name: str) -> str:
    """Return a digest of the values of a header, which may be a cookie."""
    return blake2b(b"\0".join(request.headers.getlist(name)), digest_size=8).hexdigest()


def _is_for(vary: dict[str, str], request: Request) -> bool:
    """Return whether *request* has the same headers as the request of the page."""
    return all(_digest(request, name) == digest for name, digest in vary.items())
