"""Stores as verbs know them: what on the command line names one, and how it is opened, written to and walked through.

    pages.sqlite                      a file of SQLite
    redis://host:6379/0?prefix=news   a store in Redis or Valkey, as ``SIMHASH_STORE`` writes it, see ``StorePlace``
    news                              in a Scrapy project: the store in which that spider remembers

Whatever it is, its methods answer at once (`Waited`), so that no verb knows two kinds. What a signal raises hits
whatever runs at that moment. In an event loop that may be anything, such as the task that reads answers for all
others, which would take it for a fault of the connection: so signals wait there.

A walk has an order in which another store can take all in. Originals differ from each other, whatever their order. A
near-duplicate must come after its original, and pages that were visited once came in just that order. The others are
*late*: a page whose original has a higher number than it has, and one whose original was removed or has another text
now. Late pages follow at the end, so that each finds the original that it had, and does not become a new one.
"""

from __future__ import annotations

import logging
import os
import signal
from abc import ABC, abstractmethod
from argparse import ArgumentParser, Namespace
from asyncio import AbstractEventLoop, gather, new_event_loop
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from inspect import isawaitable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from scrapy_simhash.cli.streams import BYTE_ORDER_MARK, FAILED, Refused, warn
from scrapy_simhash.exceptions import FileError, RecordDamaged, StoreError, StoreUnavailable, failing
from scrapy_simhash.notes import change
from scrapy_simhash.place import StorePlace, filled, in_url, is_redis
from scrapy_simhash.store import Header, Page, Posting, Store
from scrapy_simhash.store.sqlite import SqliteStore, header_at, is_database
from scrapy_simhash.waiting import awaited, finished

if TYPE_CHECKING:
    from scrapy_simhash.store.redis import Server, Servers

#: What names a store, in a help.
STORES = "an SQLite file, a URL like redis://host:6379/0?prefix=news, or, in a Scrapy project, the name of a spider"


class Place(ABC):
    """Where a store is, or may be made."""

    kind: str
    """What keeps it, in a word."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        """What messages call it; no password."""

    @property
    def identity(self) -> str:
        """Tells one place from another, however they were written."""
        return self.shown

    @property
    def size(self) -> int | None:
        """Bytes on the disk, None where that says nothing."""
        return None

    def check(self, may_be_new: bool = False) -> None:  # noqa: B027 - most places can only be tried
        """Raise FileError, or Refused, if it can be told without opening it that there is none, or something else."""

    def exists(self) -> bool:
        """Tell whether to open the store makes none; True where that cannot be told without opening it."""
        return True

    @abstractmethod
    def open(self, header: Header | None) -> Store:
        """Open the store to be claimed from, for *header*; for None, only to be read.

        Raises StoreError if that is not possible.
        """

    @contextmanager
    def reading(self) -> Iterator[Waited]:
        """Open the store, which must be there, and leave it as it is. Raises FileError, or StoreError."""
        self.check()
        with _waiting(lambda: self.open(None)) as store:
            try:
                yield store
            finally:
                store.close()

    def header(self) -> Header | None:
        """Return the header of the store, None where there is none, or none that can be opened."""
        with suppress(FileError, StoreError), self.reading() as store:
            header: Header = store.header
            return header
        return None

    @contextmanager
    def claiming(self, header: Header, doing: str) -> Iterator[Waited]:
        """Open the store, or make one, for fingerprints of *header*, in a run of its own that ends as *doing*."""
        self.check(may_be_new=True)
        with _waiting(lambda: self.open(header)) as store:
            # Some begin their run at the first question only.
            store.runs()
            try:
                yield store
            except BaseException:
                # What was claimed is as good as ever.
                with suppress(StoreUnavailable):
                    store.close(f"{doing} stopped")
                raise
            store.close(doing)


class FilePlace(Place):
    """A file of SQLite."""

    kind = "sqlite"

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path

    @property
    def identity(self) -> str:
        """The whole path, links followed."""
        return os.path.realpath(self.path)

    @property
    def size(self) -> int:
        """Bytes of the file, and of the log that belongs to it."""
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def check(self, may_be_new: bool = False) -> None:
        """See above."""
        if not may_be_new and not self.path.exists():
            raise FileError(f"no such store: {self.shown}")
        if self.path.is_dir():
            raise FileError(_folder(self.path))
        if self.is_export():
            raise Refused(f"{self.shown} is an export or a feed, not a store: import it into a store first")
        if self.path.exists() and not is_database(self.path):
            raise FileError(f"{self.shown} is not a store: it is not an SQLite file")

    def exists(self) -> bool:
        """See above."""
        return self.path.exists()

    def is_export(self) -> bool:
        """Tell whether a file is there that begins as exports do. Raises FileError or StoreError if it can't be read.

        A pipe, which shows its beginning only once, can be nothing else. What may be a store is not opened here: that
        would cost SQLite its locks on it, if it is open in this process.
        """
        with failing(f"read {self.path}"):
            if not self.path.is_file():
                return self.path.exists() and not self.path.is_dir()
            if is_database(self.path):
                return False
            with self.path.open("rb") as file:
                return file.read(len(BYTE_ORDER_MARK) + 1).removeprefix(BYTE_ORDER_MARK)[:1] == b"{"

    def header(self) -> Header | None:
        """See above; whatever the size of the store, at once."""
        with suppress(FileError, StoreError):
            self.check()
            return header_at(self.path)
        return None

    def open(self, header: Header | None) -> Store:
        """See above."""
        if header is None:
            return SqliteStore(self.path, read_only=True)
        return SqliteStore(self.path, header)


class RedisPlace(Place):
    """A store in Redis or Valkey, under a prefix."""

    kind = "redis"

    def __init__(self, server: Server | Servers, place: StorePlace, prefix: str) -> None:
        # As the next command takes it.
        super().__init__(f"{server}?prefix={in_url(prefix.replace('%', '%%'))}")
        self._server = server
        self._prefix = prefix
        self._place = place

    @property
    def identity(self) -> str:
        """The server, its database, and the prefix."""
        return f"{self._server.identity}?{self._prefix}"

    def open(self, header: Header | None) -> Store:
        """See above."""
        from scrapy_simhash.store.redis import RedisStore

        options: dict[str, Any] = {"read_only": True}
        if header is not None:
            options = {"keep": self._place.keep}
        store = RedisStore(self._server, self._prefix, header, shards=self._place.shards, **options)
        # Now, and not at the first question: what is wrong is wrong before anything is read.
        store.check()
        return store


def add_store(parser: ArgumentParser) -> None:
    """Add the one store that a verb is about."""
    parser.add_argument(
        "store",
        metavar="STORE",
        nargs="?",
        help=f"the store: {STORES} (default: the only spider of the project)",
    )


def place_of(name: str | None, options: Namespace) -> Place:
    """Return the place that *name* means. Raises Refused if it means none."""
    if name is not None and _is_redis(name):
        from scrapy_simhash.store.redis import servers_of

        try:
            wanted = StorePlace.of(name)
        except ValueError as error:
            raise Refused(f"STORE {error}") from None
        server = servers_of(wanted.url)
        prefix = filled(wanted.prefix, "")
        if prefix != filled(wanted.prefix, "of a spider"):
            raise Refused(f"a store in Redis needs a prefix: append ?prefix=PREFIX to {server}")
        return RedisPlace(server, wanted, prefix)
    if options.project is not None:
        place: Place | None = options.project.place_of(name)
        if place is not None:
            return place
    if name is None:
        raise Refused("no store given: give a file, or a URL like redis://host:6379/0?prefix=news")
    if name.endswith(("/", os.sep)):
        raise FileError(_folder(Path(name)))
    return FilePlace(Path(name))


def _is_redis(name: str) -> bool:
    """Tell whether *name* means a place in Redis, and not a file or a folder that is called ``redis``."""
    return is_redis(name) and ("://" in name or not Path(name).exists())


def _folder(path: Path) -> str:
    """Return the sentence about a folder where a file is needed."""
    file = min((file.name for file in path.glob("*.sqlite")), default="SPIDER.sqlite")
    return f"{path} is a folder: give the file of a spider in it, such as {file}"


def is_store(name: str, options: Namespace, or_missing: bool = False) -> bool:
    """Tell whether *name* means a store, and not a file of something else. Raises FileError if it can't be read."""
    path = Path(name)
    if path.is_file():
        with failing(f"read {name}"):
            return path.stat().st_size > 0 and is_database(path)
    project = options.project
    return _is_redis(name) or (
        project is not None and (project.has(name) or (or_missing and not path.exists()))
    )


def header_at_place(place: Place, options: Namespace) -> Header | None:
    """Return the header of the store at *place*, or the one that the project makes it with; None if none is known."""
    header: Header | None = place.header() or (options.project and options.project.header_for(place))
    return header


def key_function(place: Place, options: Namespace) -> Callable[[str], bytes]:
    """Return the function of a URL by whose key a crawl knows its page; it raises Refused for what is no URL."""
    # Scrapy takes longer to import than all else here.
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


@contextmanager
def _waiting(open_store: Callable[[], Store]) -> Iterator[Waited]:
    """Open a store as one whose methods wait; closing it is up to whoever uses it."""
    store = open_store()
    if not store.is_remote:
        yield Waited(store)
        return
    with closing(new_event_loop()) as loop:
        yield Waited(store, loop)


# One warning, and not what a crawl writes into its log: a line for each.
for _name in ("base", "redis.damage", "sqlite.files"):
    logging.getLogger(f"scrapy_simhash.store.{_name}").addHandler(logging.NullHandler())


def left_out(place: Place, store: Waited) -> int:
    """Warn of damaged records of *store* that were left out, and return the exit status: FAILED if there are any."""
    damaged: int = store.damaged
    if not damaged:
        return 0
    warn(
        f"{place.shown}: damaged records were left out: {damaged:,}; scrapy-simhash info --check shows which"
    )
    return FAILED


#: What ends a run.
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def signals_waiting() -> Iterator[None]:
    """Let signals wait, and be handled at the end; on Windows, which has no such thing, they are handled at once."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


#: Postings that are asked for at once.
BATCH = 256

_T = TypeVar("_T")


class Waited:
    """A store whose methods answer at once, whatever it is: what is to be awaited runs to its end.

    It has what a `Store` has, and yields where that is iterated over asynchronously. A remote one runs in *loop*, one
    coroutine after another, while signals wait: some 20 µs a call, beside a round trip.
    """

    #: Not for whoever asks: there is nothing to wait for.
    is_remote = False

    def __init__(self, store: Store, loop: AbstractEventLoop | None = None) -> None:
        self._store = store
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return partial(self._called, found) if callable(found) else found

    def __len__(self) -> int:
        return len(self._store)

    def __iter__(self) -> Iterator[Posting]:
        store: Any = self._store
        return self._all(aiter(store)) if store.is_remote else iter(store)

    def as_store(self) -> Store:
        """Return it for whoever wants a `Store`: what it forwards, no checker of types can see."""
        return cast(Store, self)

    def pages(self) -> Iterator[Page]:
        """Yield every page by number. Of a remote store, a few hundred at a time."""
        if not self._store.is_remote:
            yield from cast("Iterator[Page]", self._store.pages())
            return
        keys = (posting.key for posting in self)
        while batch := list(islice(keys, BATCH)):
            yield from filter(None, self.get_many(batch))

    def get_many(self, keys: Sequence[bytes]) -> list[Page | None]:
        """Return what ``get`` does for each of *keys*, asked for at once; None for a damaged page."""
        if self._store.is_remote:
            return self._wait(self._gathered(keys))
        return [finished(self._page(key)) for key in keys]

    def change(self, kind: str, name: str, changed: Callable[[bytes | None], bytes | None]) -> None:
        """See :func:`scrapy_simhash.notes.change`."""
        self._wait(change(self._store, kind, name, changed))

    async def _gathered(self, keys: Sequence[bytes]) -> list[Page | None]:
        return await gather(*map(self._page, keys))

    async def _page(self, key: bytes) -> Page | None:
        with suppress(RecordDamaged):
            return await awaited(self._store.get(key))
        return None

    def _all(self, ones: AsyncIterator[_T]) -> Iterator[_T]:
        while batch := self._wait(_some(ones)):
            yield from batch

    def _called(self, method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        answer = method(*arguments, **named)
        if isinstance(answer, AsyncIterator):
            return self._all(answer)
        return self._wait(awaited(answer)) if isawaitable(answer) else answer

    def _wait(self, answer: Coroutine[Any, Any, _T]) -> _T:
        if self._loop is None:
            return finished(answer)
        with signals_waiting():
            return self._loop.run_until_complete(answer)


async def _some(ones: AsyncIterator[_T]) -> list[_T]:
    """Return the next *ones*, none at the end."""
    batch: list[_T] = []
    async for one in ones:
        batch.append(one)
        if len(batch) == BATCH:
            break
    return batch


def walk(store: Waited) -> Iterator[Page]:
    """Yield every page of *store*, near-duplicates after their originals.

    Memory for a few hundred pages at a time, and 60 bytes for each late page.
    """
    late: list[bytes] = []
    for page in store.pages():
        if page.cluster != page.number and (page.cluster > page.number or page.original is None):
            late.append(page.posting.key)
        else:
            yield page
    for start in range(0, len(late), BATCH):
        yield from filter(None, store.get_many(late[start : start + BATCH]))
