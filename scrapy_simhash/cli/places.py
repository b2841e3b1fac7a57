"""Places: what on the command line names a store, and how that is opened.

    pages.sqlite                      a file of SQLite
    redis://host:6379/0?prefix=news   a store in Redis or Valkey, as ``SIMHASH_STORE`` writes it, see ``StorePlace``
    news                              in a Scrapy project: the store in which that spider remembers

Whatever it is, it is opened as one whose methods wait, so that no command knows two kinds.
"""

from __future__ import annotations

import logging
import os
from abc import ABC, abstractmethod
from argparse import ArgumentParser, Namespace
from asyncio import new_event_loop
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_simhash.cli.progress import warn
from scrapy_simhash.cli.stores import HeldBack, Waited
from scrapy_simhash.cli.streams import BYTE_ORDER_MARK, FAILED, Failed, Refused, failing
from scrapy_simhash.exceptions import StoreError, StoreUnavailable
from scrapy_simhash.place import StorePlace, filled, in_url, is_redis
from scrapy_simhash.store import Header, Store, damage
from scrapy_simhash.store.candidates import BLOCKS
from scrapy_simhash.store.sqlite import SqliteStore, header_at, is_database

if TYPE_CHECKING:
    from scrapy_simhash.store.redis import Server, Servers


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
        """Raise Failed, or Refused, if it can be told without opening it that there is none, or something else."""

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
        """Open the store, which must be there, and leave it as it is. Raises Failed, or StoreError."""
        self.check()
        with _waiting(lambda: self.open(None)) as store:
            try:
                yield store
            finally:
                store.close()

    def header(self) -> Header | None:
        """Return the header of the store, None where there is none, or none that can be opened."""
        with suppress(Failed, StoreError), self.reading() as store:
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

    def __init__(self, path: Path, blocks: int = BLOCKS) -> None:
        super().__init__(str(path))
        self.path = path
        self._blocks = blocks

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
            raise Failed(f"no such store: {self.shown}")
        if self.path.is_dir():
            raise Failed(_folder(self.path))
        if self.is_export():
            raise Refused(f"{self.shown} is an export or a feed, not a store: import it into a store first")
        if self.path.exists() and not is_database(self.path):
            raise Failed(f"{self.shown} is not a store: it is not an SQLite file")

    def exists(self) -> bool:
        """See above."""
        return self.path.exists()

    def is_export(self) -> bool:
        """Tell whether a file is there that begins as exports do. Raises Failed, or StoreError, if it can't be read.

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
        with suppress(Failed, StoreError):
            self.check()
            return header_at(self.path)
        return None

    def open(self, header: Header | None) -> Store:
        """See above."""
        if header is None:
            return SqliteStore(self.path, read_only=True)
        return SqliteStore(self.path, header, self._blocks)


class RedisPlace(Place):
    """A store in Redis or Valkey, under a prefix."""

    kind = "redis"

    def __init__(
        self, server: Server | Servers, place: StorePlace, prefix: str, blocks: int = BLOCKS
    ) -> None:
        # As the next command takes it.
        super().__init__(f"{server}?prefix={in_url(prefix.replace('%', '%%'))}")
        self._server = server
        self._prefix = prefix
        self._blocks = blocks
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
            options = {"blocks": self._blocks, "expire": self._place.expire}
        store = RedisStore(self._server, self._prefix, header, shards=self._place.shards, **options)
        # Now, and not at the first question: what is wrong is wrong before anything is read.
        store.check()
        return store


def add_place(parser: ArgumentParser) -> None:
    """Add the one store that a command is about."""
    parser.add_argument(
        "place",
        metavar="PLACE",
        nargs="?",
        help="the store: an SQLite file, a URL like redis://host:6379/0?prefix=news, or, in a Scrapy project, the"
        " name of a spider"
        " (default: the only spider of the project)",
    )


def place_of(name: str | None, options: Namespace) -> Place:
    """Return the place that *name* means. Raises Refused if it means none."""
    if name is not None and _is_redis(name):
        from scrapy_simhash.store.redis import servers_of

        try:
            wanted = StorePlace.of(name)
        except ValueError as error:
            raise Refused(f"PLACE {error}") from None
        server = servers_of(wanted.url, options.project.settings if options.project is not None else {})
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
        raise Failed(_folder(Path(name)))
    return FilePlace(Path(name))


def _is_redis(name: str) -> bool:
    """Tell whether *name* means a place in Redis, and not a file or a folder that is called ``redis``."""
    return is_redis(name) and ("://" in name or not Path(name).exists())


def _folder(path: Path) -> str:
    """Return the sentence about a folder where a file is needed."""
    file = min((file.name for file in path.glob("*.sqlite")), default="SPIDER.sqlite")
    return f"{path} is a folder: give the file of a spider in it, such as {file}"


def is_store(name: str, options: Namespace) -> bool:
    """Tell whether *name* means a store, and not a file of something else. Raises Failed if that cannot be read."""
    path = Path(name)
    if path.is_file():
        with failing(f"read {name}"):
            return path.stat().st_size > 0 and is_database(path)
    return _is_redis(name) or (options.project is not None and options.project.has(name))


def header_at_place(place: Place, options: Namespace) -> Header | None:
    """Return the header of the store at *place*, or the one that the project makes it with; None if none is known."""
    header: Header | None = place.header() or (options.project and options.project.header_for(place))
    return header


def header_to_change(place: Place, options: Namespace) -> Header:
    """Return the same of a store that is to be changed. Raises Failed, or StoreError, if there is none."""
    header = header_at_place(place, options)
    if header is None:
        # Says why, if it cannot be opened.
        with place.reading() as store:
            header = store.header
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
    loop, interrupts = new_event_loop(), HeldBack()
    try:
        yield Waited(store, loop, interrupts)
    finally:
        interrupts.release()
        loop.close()


# One warning, and not what a crawl writes into its log: a line for each.
logging.getLogger(damage.__name__).addHandler(logging.NullHandler())


def left_out(place: Place, store: Waited) -> int:
    """Warn of damaged records of *store* that were left out, and return the exit status: FAILED if there are any."""
    found: damage.Damage | None = store.damage
    if not found:
        return 0
    warn(
        f"{place.shown}: damaged records were left out: {len(found):,} ({found.named[0]}"
        f"{', ...' if len(found) > 1 else ''}); scrapy-simhash info --check names them"
    )
    return FAILED
