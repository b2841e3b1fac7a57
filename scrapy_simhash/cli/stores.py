"""Stores for subcommands: names on the command line, opening, writing and iteration.

    pages.sqlite                      an SQLite file
    redis://host:6379/0?prefix=news   a store in Redis or Valkey, as in ``SIMHASH_STORE``, see ``StorePlace``
    news                              in a Scrapy project: the store of this spider

Subcommands use stores through `SyncStore`, whose methods return results; a remote store runs in an event loop.

Pages are yielded in an order in which another store can claim them: a near-duplicate must follow its original. *Late*
pages, whose original has a higher number, was removed or has a different text now, come last, so that they find an
original instead of becoming one.
"""

from __future__ import annotations

import logging
import os
from argparse import ArgumentParser, Namespace
from asyncio import AbstractEventLoop, new_event_loop
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from pathlib import Path
from typing import Any, TypeVar

from scrapy_simhash.cli.kinds import STORE, kind_of, refusal
from scrapy_simhash.cli.streams import FAILED, Refused, warn
from scrapy_simhash.display import shown
from scrapy_simhash.exceptions import FileError, RecordDamaged, StoreError, StoreUnavailable
from scrapy_simhash.notes import change
from scrapy_simhash.place import StorePlace, filled, in_url, is_redis
from scrapy_simhash.store import Header, Posting, Row, Store
from scrapy_simhash.store.sqlite import SqliteStore, header_at, is_database
from scrapy_simhash.waiting import maybe_await, run_in, run_sync

#: Max damaged records that are listed.
NAMED = 10
#: The names of stores, for help.
STORES = "an SQLite file, a URL like redis://host:6379/0?prefix=news, or, in a Scrapy project, the name of a spider"


@dataclass(frozen=True, eq=False)
class Place:
    """The place of a store, which may not exist yet."""

    kind: str
    """The kind of the store: ``sqlite`` or ``redis``."""
    shown: str
    """The name for messages, without a password."""
    identity: str
    """An identifier that is the same for all names of the place."""
    open: Callable[[Header | None], Store]
    """Opens the store for claims with the given header, or read-only if it is None. Raises StoreError."""
    path: Path | None = None
    """The SQLite file, None for other kinds."""

    @property
    def size(self) -> int | None:
        """Size in bytes of the file and its write-ahead log; None without a file."""
        if self.path is None:
            return None
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def exists(self) -> bool:
        """Return whether the store exists; True for a remote store, which would have to be opened."""
        return self.path is None or self.path.exists()

    def check(self, may_be_new: bool = False) -> None:
        """Raise FileError or Refused if the store is known not to exist, without opening it."""
        if not self.exists():
            if not may_be_new:
                raise FileError(f"no such store: {self.shown}")
        elif self.path is None:
            return
        elif self.path.is_dir():
            raise FileError(_folder(self.path))
        # Only SQLite opens the file: opening and closing it here would release the locks of a connection in this
        # process.
        elif not self.path.is_file() or not is_database(self.path):
            raise refusal(self.shown, kind_of(self.path) if self.path.is_file() else None, STORE)

    @contextmanager
    def reading(self) -> Iterator[SyncStore]:
        """Open an existing store read-only. Raises FileError, Refused or StoreError."""
        self.check()
        with _waiting(lambda: self.open(None)) as store:
            try:
                yield store
            finally:
                store.close()

    def header(self) -> Header | None:
        """Return the header of the store; None if it does not exist or cannot be opened."""
        with suppress(FileError, Refused, StoreError):
            if self.path is not None:
                self.check()
                # This is fast for stores of any size.
                return header_at(self.path)
            with self.reading() as store:
                header: Header = store.header
                return header
        return None

    @contextmanager
    def claiming(self, header: Header, doing: str) -> Iterator[SyncStore]:
        """Open or create the store for *header*, in a run that ends with the reason *doing*."""
        self.check(may_be_new=True)
        with _waiting(lambda: self.open(header)) as store:
            # Some stores begin their run only at the first call.
            store.runs()
            try:
                yield store
            except BaseException:
                # Earlier claims remain valid.
                with suppress(StoreUnavailable):
                    store.close(f"{doing} stopped")
                raise
            store.close(doing)


def file_place(path: Path) -> Place:
    """Return the place of a store in an SQLite file."""

    def open_store(header: Header | None) -> Store:
        return SqliteStore(path, read_only=True) if header is None else SqliteStore(path, header)

    return Place("sqlite", str(path), os.path.realpath(path), open_store, path)


def redis_place(wanted: StorePlace, prefix: str) -> Place:
    """Return the place of a store in Redis or Valkey, under a prefix."""
    from scrapy_simhash.store.redis import RedisStore, Server

    server = Server(wanted.url)

    def open_store(header: Header | None) -> Store:
        options: dict[str, Any] = {"read_only": True} if header is None else {"keep": wanted.keep}
        store = RedisStore(server, prefix, header, shards=wanted.shards, **options)
        # Report a wrong server before anything is read.
        store.check()
        return store

    # The prefix is written as on the command line.
    shown = f"{server}?prefix={in_url(prefix.replace('%', '%%'))}"
    return Place("redis", shown, shown, open_store)


def add_store(parser: ArgumentParser) -> None:
    """Add the argument STORE to the parser of a subcommand."""
    parser.add_argument(
        "store",
        metavar="STORE",
        nargs="?",
        help=f"the store: {STORES} (default: the only spider of the project)",
    )


def unknown_host(place: Place, host: str) -> FileError:
    """Return the error to raise for a host without learned data."""
    return FileError(
        f"{place.shown} has no learned data about {shown(host)}: "
        'run "scrapy-simhash learned" without HOST to list all hosts'
    )


def place_of(name: str | None, options: Namespace) -> Place:
    """Return the place with this *name*. Raises Refused for an invalid name."""
    if name is not None and _is_redis(name):
        try:
            wanted = StorePlace.of(name)
        except ValueError as error:
            raise Refused(f"STORE {error}") from None
        prefix = filled(wanted.prefix, "")
        place = redis_place(wanted, prefix)
        if prefix != filled(wanted.prefix, "of a spider"):
            raise Refused(
                f"a store in Redis needs a prefix: append ?prefix=PREFIX to {place.shown.partition('?')[0]}"
            )
        return place
    if options.project is not None:
        named: Place | None = options.project.place_of(name)
        if named is not None:
            return named
    if name is None:
        raise Refused("no store given: name a file, or a URL like redis://host:6379/0?prefix=news")
    if name.endswith(("/", os.sep)):
        raise FileError(_folder(Path(name)))
    return file_place(Path(name))


def _is_redis(name: str) -> bool:
    return "://" in name and is_redis(name)


def _folder(path: Path) -> str:
    """Return the message for a folder instead of a file."""
    file = min((file.name for file in path.glob("*.sqlite")), default="SPIDER.sqlite")
    return f"{path} is a folder: name the file of a spider in it, such as {file}"


def key_function(place: Place, options: Namespace) -> Callable[[str], bytes]:
    """Return a function that returns the key of a URL in a crawl, and raises Refused for a wrong URL."""
    # Imported here, because Scrapy takes longer to import than all other modules.
    from scrapy import Request
    from scrapy.utils.request import fingerprint

    key_of = options.project.key_of(place) if options.project is not None else fingerprint

    def key(url: str) -> bytes:
        try:
            found: bytes = key_of(Request(url))
        except ValueError as error:
            raise Refused(f"{url!r} is not a URL: {error}") from None
        return found

    return key


# Show one warning, instead of a line per record as in the log of a crawl.
for _name in ("base", "sqlite.files"):
    logging.getLogger(f"scrapy_simhash.store.{_name}").addHandler(logging.NullHandler())


def left_out(place: Place, store: SyncStore) -> int:
    """Warn about damaged records of *store* that were left out; return FAILED if there are any, else 0."""
    damaged = store.damaged_records
    if not damaged:
        return 0
    names = ", ".join([*damaged[:NAMED], *["..."] * (len(damaged) > NAMED)])
    warn(f"{place.shown}: damaged records were left out: {len(damaged):,} ({names})")
    return FAILED


# --- Synchronous access to remote stores.

#: Items per run of the event loop.
BATCH = 256
_T = TypeVar("_T")


@contextmanager
def _waiting(open_store: Callable[[], Store]) -> Iterator[SyncStore]:
    """Open a store for synchronous access. The caller closes the store."""
    store = open_store()
    if not store.is_remote:
        yield SyncStore(store)
        return
    with closing(new_event_loop()) as loop:
        yield SyncStore(store, loop)


class SyncStore:
    """A synchronous view of a store: awaits awaitables, and reads asynchronous iterators.

    It has all attributes of a `Store`. A remote store runs in *loop*, one coroutine after another.
    """

    #: No method returns an awaitable.
    is_remote = False

    def __init__(self, store: Store, loop: AbstractEventLoop | None = None) -> None:
        self._store = store
        self._wait: Callable[..., Any] = run_sync if loop is None else partial(run_in, loop)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return partial(self._called, found) if callable(found) else found

    def __len__(self) -> int:
        return len(self._store)

    def __iter__(self) -> Iterator[Posting]:
        store: Any = self._store
        return self._all(aiter(store)) if store.is_remote else iter(store)

    def change(self, kind: str, name: str, changed: Callable[[bytes | None], bytes | None]) -> None:
        """See :func:`scrapy_simhash.notes.change`."""
        self._wait(change(self._store, kind, name, changed))

    def _called(self, method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        answer = method(*arguments, **named)
        if isinstance(answer, AsyncIterator):
            return self._all(answer)
        return self._wait(maybe_await(answer)) if isawaitable(answer) else answer

    def _all(self, ones: AsyncIterator[_T]) -> Iterator[_T]:
        while batch := self._wait(_some(ones)):
            yield from batch


async def _some(ones: AsyncIterator[_T]) -> list[_T]:
    """Return the next items; empty at the end."""
    batch: list[_T] = []
    async for one in ones:
        batch.append(one)
        if len(batch) == BATCH:
            break
    return batch


def walk(store: SyncStore) -> Iterator[Row]:
    """Yield every page of *store*, near-duplicates after their originals. Takes 60 bytes of memory per late page."""
    late: list[bytes] = []
    for page in store.pages():
        if page.cluster != page.number and (page.cluster > page.number or page.original is None):
            late.append(page.posting.key)
        else:
            yield page
    for key in late:
        with suppress(RecordDamaged):
            page = store.get(key)
            if page is not None:
                yield page
