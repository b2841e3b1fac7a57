"""PageStorage: a storage of Scrapy's HTTP cache in one SQLite file: pages, and which hosts answer 304 wrongly."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
import zlib
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from scrapy.utils.project import data_path

from scrapy_simhash import names

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

T = TypeVar("T")

logger = logging.getLogger(__name__)

#: ``PRAGMA user_version`` of a file.
VERSION = 1
#: Bodies are some 10 kB: with SQLite's 4 kB a fifth more is lost at the ends of overflow pages.
_PAGE_SIZE = 8192
#: Pages that are written together. A kill loses them, and they are fetched in full again.
TOGETHER = 100
#: Seconds to wait for another crawl of the same spider that writes. The event loop waits too.
_TIMEOUT = 1.0
#: Seconds until a host that answered 304 wrongly gets conditional requests again.
FORGIVEN = 30 * 86_400

_TABLES = """
CREATE TABLE pages (key BLOB PRIMARY KEY, hash BLOB, body INTEGER NOT NULL);
CREATE TABLE bodies (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE hosts (
    host TEXT PRIMARY KEY, unmodified INTEGER NOT NULL, wrong INTEGER NOT NULL, has_shown_change INTEGER NOT NULL
) WITHOUT ROWID;
"""
_DATA = "SELECT data FROM pages JOIN bodies ON id = body WHERE key = ?"
_HASH = "SELECT hash FROM pages WHERE key = ?"
_BODY = "SELECT body FROM pages WHERE key = ?"
_HOST = "SELECT unmodified, wrong, has_shown_change FROM hosts WHERE host = ?"


class PageStorage:
    """The setting ``HTTPCACHE_STORAGE``: ``<spider>.pages.sqlite`` in the folder ``HTTPCACHE_DIR``.

    A page has its status, headers and compressed body, and the hash of its text as it was compared, by which is seen
    whether it is the page that the store of pages has. A subclass with ``keeps_bodies = False`` keeps no bodies: a
    page that is not due or not modified raises IgnoreRequest then, which suits spiders that get all URLs from
    sitemaps.

    A file that cannot be used is logged once, and every page is fetched in full.
    """

    keeps_bodies = True

    def __init__(self, settings: BaseSettings) -> None:
        self._folder = Path(data_path(settings["HTTPCACHE_DIR"], createdir=True))
        self._database: sqlite3.Connection | None = None
        self._has_failed = False
        #: Pages that have come and are not compared yet, and those that are written next, with their hash.
        self._compared: dict[bytes, tuple[bytes | None, bytes | None]] = {}
        self._came: dict[bytes, bytes] = {}
        #: Of each host that was met: answers of 304; when one was wrong, 0 for never; whether it has shown a change.
        self._hosts: dict[str, tuple[int, int, int]] = {}
        self._changed_hosts: set[str] = set()

    # --- For Scrapy's middleware.

    def open_spider(self, spider: Spider) -> None:
        """Open the file of *spider*; create it if there is none."""
        crawler = spider.crawler
        assert crawler.request_fingerprinter is not None
        self._key_of = crawler.request_fingerprinter.fingerprint
        self._spider = spider
        path = self._folder / f"{spider.name.replace('/', '_')}.pages.sqlite"
        try:
            database = sqlite3.connect(path, timeout=_TIMEOUT, isolation_level=None)
            try:
                _prepare(database)
            except BaseException:
                database.close()
                raise
            self._database = database
        except sqlite3.Error as error:
            self._failed(f"{path}: {error}")

    def close_spider(self, spider: Spider) -> None:
        """Write what is left, and close the file."""
        if self._database is not None:
            self._compared.update({key: (None, data) for key, data in self._came.items()})
            self._came.clear()
            self._write()
            self._database.close()
            self._database = None

    def retrieve_response(self, spider: Spider, request: Request) -> Response | None:
        """Return the page of *request*; None if it is not known, or its Vary names a header that differs."""
        key = self._key_of(request)
        data = self._compared.get(key, (None, None))[1] or self._asked(_DATA, key)
        if data is None:
            return None
        try:
            head, body = _unpacked(data)
            if head["has_body"] < self.keeps_bodies or not _is_for(head["vary"], request):
                return None
            headers = Headers(head["headers"])
            kind = responsetypes.from_args(headers=headers, url=head["url"], body=body)
            return kind(url=head["url"], status=head["status"], headers=headers, body=body)
        except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
            self._failed(f"{request.url} in it is damaged: {error!r}")
            return None

    def store_response(self, spider: Spider, request: Request, response: Response) -> None:
        """Keep a page in memory until it is `compared`. One that was not modified stays as it is."""
        if names.FLAG_NOT_MODIFIED not in response.flags and self._database is not None:
            self._came[self._key_of(request)] = _packed(request, response, has_body=self.keeps_bodies)

    # --- For `Recrawl`.

    def compared(self, key: bytes, page_hash: int | None) -> None:
        """Keep a page that came, or is in the cache, with its hash; None for a page that has none."""
        data = self._came.pop(key, None) or self._compared.get(key, (None, None))[1]
        self._compared[key] = None if page_hash is None else page_hash.to_bytes(8, "big"), data
        if len(self._compared) >= TOGETHER:
            self._write()

    def discard(self, key: bytes) -> None:
        """Do not keep a page that came: what was kept of it before stays."""
        self._came.pop(key, None)

    def page_hash(self, key: bytes) -> int | None:
        """Return the hash of the page in the cache; None if there is no page, or it has none. One query."""
        found = self._compared[key][0] if key in self._compared else self._asked(_HASH, key)
        return None if found is None else int.from_bytes(found, "big")

    def unmodified(self, host: str) -> tuple[int, bool]:
        """Count an answer of 304 of *host*.

        Return how many came before it, also in earlier crawls, and whether the host has shown a change by now.
        """
        count, wrong, has_shown_change = self._host(host)
        self._hosts[host] = count + 1, wrong, has_shown_change
        self._changed_hosts.add(host)
        return count, bool(has_shown_change)

    def note_change(self, host: str) -> None:
        """Record that *host* has sent a changed page, and not a 304: its validators change with its pages."""
        count, wrong, has_shown_change = self._host(host)
        if not has_shown_change:
            self._hosts[host] = count, wrong, 1
            self._changed_hosts.add(host)

    def is_wrong(self, host: str) -> bool:
        """Return whether *host* answered 304 wrongly in the last 30 days."""
        since = self._host(host)[1]
        return since > 0 and 0 <= time.time() - since < FORGIVEN

    def note_wrong(self, host: str) -> None:
        """Note that *host* answers 304 wrongly. When that is forgiven, its first answers are checked again."""
        self._hosts[host] = 0, int(time.time()), 0
        self._changed_hosts.add(host)

    def _host(self, host: str) -> tuple[int, int, int]:
        if host not in self._hosts:
            rows = self._attempt(lambda database: database.execute(_HOST, (host,)).fetchall())
            self._hosts[host] = rows[0] if rows else (0, 0, 0)
        return self._hosts[host]

    # --- The file.

    def _asked(self, question: str, key: bytes) -> bytes | None:
        rows = self._attempt(lambda database: database.execute(question, (key,)).fetchall())
        return rows[0][0] if rows else None

    def _write(self) -> None:
        """Write pages and hosts in one transaction. Where that fails, they are lost, and fetched in full again."""
        self._attempt(self._write_all)
        self._compared.clear()
        self._changed_hosts.clear()

    def _write_all(self, database: sqlite3.Connection) -> None:
        with database:
            database.execute("BEGIN IMMEDIATE")
            for key, (page_hash, data) in self._compared.items():
                found = database.execute(_BODY, (key,)).fetchone()
                if found:
                    database.execute("UPDATE pages SET hash = ? WHERE key = ?", (page_hash, key))
                if found and data is not None:
                    database.execute("UPDATE bodies SET data = ? WHERE id = ?", (data, found[0]))
                elif data is not None:
                    new = database.execute("INSERT INTO bodies (data) VALUES (?)", (data,)).lastrowid
                    database.execute("INSERT INTO pages VALUES (?, ?, ?)", (key, page_hash, new))
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
                "The pages of the HTTP cache cannot be used, so pages are fetched in full: %s",
                what,
                extra={"spider": self._spider},
            )


def _prepare(database: sqlite3.Connection) -> None:
    """Create the tables of a new file, and check the version of another one. Raises sqlite3.Error."""
    database.execute(f"PRAGMA page_size = {_PAGE_SIZE}")
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        database.execute(_HASH, (b"",))
    elif version or database.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise sqlite3.DatabaseError(f"is of version {version}, and not of version {VERSION}: remove it")
    else:
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
    # A lost tail after a power failure is fetched again.
    database.execute("PRAGMA synchronous = NORMAL")


def _packed(request: Request, response: Response, *, has_body: bool) -> bytes:
    """Return a page as bytes: a line of JSON, and its body, compressed unless it came so. Cookies are left out."""
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
        "has_body": has_body,
    }
    body = response.body if has_body else b""
    level = 0 if b"Content-Encoding" in response.headers else 6
    return zlib.compress(json.dumps(head).encode() + b"\n" + body, level)


def _unpacked(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return what `_packed` took. Raises ValueError or zlib.error for anything else."""
    head, _, body = zlib.decompress(data).partition(b"\n")
    return json.loads(head), body


def _varies(response: Response) -> list[str]:
    """Return the names of the headers of a request that the body depends on."""
    lines = b",".join(response.headers.getlist(b"Vary")).decode("latin-1")
    return sorted({name.strip().lower() for name in lines.split(",") if name.strip()})


def _digest(request: Request, name: str) -> str:
    """Return a digest of the values of a header, which may be a cookie."""
    return blake2b(b"\0".join(request.headers.getlist(name)), digest_size=8).hexdigest()


def _is_for(vary: dict[str, str], request: Request) -> bool:
    """Return whether *request* has the headers that a page was sent for."""
    return all(_digest(request, name) == digest for name, digest in vary.items())
