"""RedisStore: a store that crawlers share on a Redis server or a Redis Cluster."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Awaitable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from scrapy_simhash.exceptions import RecordDamaged, SettingError, StoreError, StoreMismatch, StoreUnavailable
from scrapy_simhash.notes import KINDS, PAGE, RULES, SITE, Name, Note
from scrapy_simhash.page.fingerprint import digest
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import host_of, scope_of
from scrapy_simhash.store.base import Claim, Original, Posting, Row, Run, Store, Touch
from scrapy_simhash.store.candidates import BLOCKS, FINGERPRINTS
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.redis import layout
from scrapy_simhash.store.redis.claims import claim_page
from scrapy_simhash.store.redis.client import Client, Server
from scrapy_simhash.store.redis.layout import FAULTS, decoded, encoded, field_of
from scrapy_simhash.store.redis.shard import DONE, LOST, Session, Shard

#: Default number of shards of a store on a cluster.
SHARDS = 1024
#: Max shards per crawler whose index is in memory.
LOADED = 256
#: Max seconds per reply.
TIMEOUT = 5.0
#: Max pages whose shard is cached. Other pages are looked up in all shards.
_PAGES = 100_000
#: Records, and notes, per read.
_STEP, _NOTES = 500, 50


def shard_of(scope: str, shards: int) -> int:
    """Return the number of the shard of *scope*, which never changes.

    >>> shard_of("example.com", 1024)
    883
    """
    return int.from_bytes(digest(scope), "big") % shards


class RedisStore(Store):
    """A :class:`~scrapy_simhash.store.base.Store` in Redis 6 or later, or Valkey, whose methods are coroutines.

    The server has the rows and a log of the originals; every crawler has an index of the originals. The crawler
    decides a claim, and the server stores it atomically if the underlying data has not changed. A new page takes one
    round trip, a known page or text two, and one more each time another crawler was faster.

    On a Redis Cluster the store is split into shards. Pages are compared within their scope, so each scope is in one
    shard, and each shard on one node. The shards that were used last are in memory. If a node is down, only its
    shards are unavailable. A single server has one shard.
    """

    is_remote = True

    def __init__(
        self,
        server: Server | str,
        prefix: str,
        header: Header | None,
        *,
        shards: int | None = None,
        blocks: int = BLOCKS,
        keep: int | None = None,
        reset: bool = False,
        read_only: bool = False,
        timeout: float = TIMEOUT,
    ) -> None:
        """Create a store of the keys that begin with *prefix* and a colon. Connects at the first command.

        *header* is the required header; None accepts the header of the store. Pages that were not seen for *keep*
        seconds are removed at opening; None keeps all pages. *reset* deletes the stored pages. *read_only* changes
        nothing on the server, and refuses to claim or remove. *timeout* is in seconds per reply.

        On a cluster, keys begin with *prefix* and the number of a shard, in braces. If *shards* is None, the number
        is that of the store, or ``SHARDS`` for a new store.

        Raises SettingError for an invalid URL or option and for a scope that cannot be split into shards, and
        StoreError if redis-py is missing.
        """
        super().__init__(header)
        server = Server(server) if isinstance(server, str) else server
        self._place, self._prefix = f"the store {prefix!r} at {server}", prefix
        self._is_cluster = server.is_cluster
        self._wanted_shards, self._count = shards, (shards or SHARDS) if server.is_cluster else 1
        if header is not None and header.scope == "crawl" and self._count > 1:
            raise SettingError(
                "SIMHASH_STORE is a Redis Cluster, and SIMHASH_SCOPE = 'crawl' would store all pages in one shard."
                " Set SIMHASH_SCOPE to domain or host, or add shards=1 to SIMHASH_STORE for a single shard"
            )
        if server.is_cluster and "{" in prefix:
            raise SettingError(f"SIMHASH_STORE: the prefix must not contain {{ on a cluster, got {prefix!r}")
        # A cluster stores no notes about pages, because unknown pages would be looked up in all shards.
        self.note_kinds = (SITE, RULES) if server.is_cluster else KINDS
        self._client = Client(server, self._place, timeout)
        rows = Recent[tuple[int, int], Original](FINGERPRINTS)
        self._session = Session(
            self._client,
            self._place,
            header,
            blocks,
            keep,
            reset,
            read_only,
            rows,
            self.note_damage,
            self._connect,
        )
        self._shards: dict[int, Shard] = {}
        #: Shards in memory, with the most recently used shard last.
        self._loaded: OrderedDict[int, None] = OrderedDict()
        # Number of pages by shard at the beginning, and the shards of the latest pages.
        self._pages: dict[int, int] = {}
        self._shard_by_page: Recent[bytes, int] = Recent(_PAGES if server.is_cluster else 0)

    @property
    def header(self) -> Header:
        """See :attr:`Store.header <scrapy_simhash.store.base.Store.header>`."""
        self._header = self._session.header
        return super().header

    @property
    def index_size(self) -> int:
        """Number of searchable fingerprints in the shards in use, as the server last reported it."""
        return sum(shard.index_size for shard in self._shards.values())

    @property
    def absence(self) -> StoreError | None:
        """The error of a server that could not be reached at the last attempt; None if there was none."""
        return next((shard.absence for shard in self._shards.values() if shard.absence), None)

    def __str__(self) -> str:
        """Return the location of the store for messages."""
        return self._place

    def __len__(self) -> int:
        """Return the number of known pages at the last replies."""
        return sum((self._pages | {number: shard.pages for number, shard in self._shards.items()}).values())

    def check(self) -> None:
        """Connect to the servers and wait, in code that cannot ``await``: before a crawl begins.

        Raises StoreMismatch, StoreDamaged, or StoreError for a server that denies access, or that is a node of a
        cluster without the cluster scheme in the URL. Raises StoreUnavailable if a server does not answer, or if it
        is read-only and the store writes; then the store tries again at the first command.
        """
        # This runs in a separate loop and thread, because this thread may have a running loop.
        with ThreadPoolExecutor(1) as threads:
            threads.submit(asyncio.run, self._check()).result()

    async def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`.

        If the server does not answer in time, StoreUnavailable is raised; the claim may have been stored anyway.
        """
        self._check_writable()
        return await self._claim(posting, is_look=False)

    async def look(self, posting: Posting) -> Claim:
        """See :meth:`Store.look <scrapy_simhash.store.base.Store.look>`."""
        return await self._claim(posting, is_look=True)

    async def deliver(self, pages: Mapping[bytes, int | None]) -> None:
        """See :meth:`Store.deliver <scrapy_simhash.store.base.Store.deliver>`.

        Takes one round trip per shard; for pages whose shard is no longer cached, one to each shard in use.
        """
        self._check_writable()
        by_shard: defaultdict[int, list[bytes]] = defaultdict(list)
        for key, page_hash in pages.items():
            home = self._shard_by_page.get(key) if self._is_cluster else 0
            for number in list(self._shards) if home is None else [home]:
                by_shard[number] += [field_of(key), layout.packed_hash(page_hash)]

        async def deliver(shard: Shard, packed: list[bytes]) -> None:
            # The run is known once the shard is ready.
            await shard.change("deliver", lambda store_id: (store_id + self._session.packed_run, *packed))

        await _all_of([deliver(self._shard(number), packed) for number, packed in by_shard.items()])

    async def touch(self, visits: Collection[tuple[bytes, int]], touch: Touch = Touch.VISITED) -> None:
        """See :meth:`Store.touch <scrapy_simhash.store.base.Store.touch>`.

        Takes one round trip; on a cluster nothing is stored.
        """
        self._check_writable()
        if not self._is_cluster:
            times = [part for key, seen in visits for part in (field_of(key), layout.packed_time(seen))]
            await self._shard(0).change("touch", lambda store_id: (store_id, touch.value, *times))

    async def get(self, key: bytes) -> Row | None:
        """See :meth:`Store.get <scrapy_simhash.store.base.Store.get>`.

        Takes one round trip, to all shards if the shard of the page is not cached.
        """
        for number in await self._shards_of(key):
            shard = await self._ready_shard(number)
            record, original = await shard.script("get", field_of(key))
            if record:
                self._shard_by_page[key] = number
                return self._numbered(number, shard.read_row(key, record, original))
        return None

    async def remove(self, key: bytes) -> bool:
        """See :meth:`Store.remove <scrapy_simhash.store.base.Store.remove>`. Two round trips."""
        self._check_writable()
        removed = False
        for number in await self._shards_of(key):
            shard = self._shard(number)
            reply = await shard.change("remove", lambda store_id: (store_id, field_of(key)))
            shard.check_readable(reply, key)
            await shard.catch_up(await shard.ready())
            removed |= reply == b"y"
        return removed

    async def remove_host(self, host: str) -> int:
        """See :meth:`Store.remove_host <scrapy_simhash.store.base.Store.remove_host>`. Reads every row."""
        self._check_writable()
        keys = [posting.key async for posting in self if host_of(posting.url) == host]
        return sum([await self.remove(key) for key in keys])

    async def pages(self) -> AsyncIterator[Row]:
        """See :meth:`Store.pages <scrapy_simhash.store.base.Store.pages>`. One shard after another.

        O(n). Sorting the pages takes about 200 bytes of memory per page.
        """
        for number in await self._used():
            shard = await self._ready_shard(number)
            replica = await shard.ready()
            numbers: dict[bytes, int] = {}
            cursor = 0
            while True:
                cursor, part = await shard.ask("HSCAN", shard.names["pages"], cursor, "COUNT", _STEP)
                numbers |= {field: layout.number_in(record) for field, record in part.items() if field}
                if not int(cursor):
                    break
            fields = sorted(numbers, key=numbers.__getitem__)
            for start in range(0, len(fields), _STEP):
                some = fields[start : start + _STEP]
                found = await shard.script("get", *some)
                for field, record, original in zip(some, found[::2], found[1::2], strict=True):
                    with suppress(RecordDamaged):
                        if record:
                            self._shard_by_page[field[1:]] = number
                            yield self._numbered(number, shard.read_row(field[1:], record, original))
            # Missing pages are an error if a server lost them, but not if another crawler removed them.
            if await shard.catch_up(replica) == LOST:
                raise StoreUnavailable(f"{self} lost stored pages while it was read")

    async def __aiter__(self) -> AsyncIterator[Posting]:
        """See :meth:`Store.__iter__ <scrapy_simhash.store.base.Store.__iter__>`. See ``pages``."""
        async for row in self.pages():
            yield row.posting

    async def note(self, kind: str, name: Name) -> tuple[int, bytes | None]:
        """See :meth:`Notes.note <scrapy_simhash.notes.Notes.note>`. One round trip."""
        shard = await self._shard_of_note(name)
        kept = await shard.ask("HGET", shard.names["notes"], _note_field(kind, name))
        return layout.read_note(kept) if kept else (0, None)

    async def notes(self, kind: str) -> AsyncIterator[tuple[Name, bytes]]:
        """See :meth:`Notes.notes <scrapy_simhash.notes.Notes.notes>`. Fifty per round trip."""
        before = _note_field(kind, b"")
        for number in await self._used():
            shard = await self._ready_shard(number)
            key = shard.names["notes"]
            fields = sorted(field for field in await shard.ask("HKEYS", key) if field.startswith(before))
            for start in range(0, len(fields), _NOTES):
                some = fields[start : start + _NOTES]
                for field, kept in zip(some, await shard.ask("HMGET", key, *some), strict=True):
                    name = field.removeprefix(before)
                    # Names that cannot be decoded are not hosts.
                    with suppress(UnicodeDecodeError):
                        if kept:
                            yield name if kind == PAGE else decoded(name), layout.read_note(kept)[1]

    async def replace_notes(self, kind: str, notes: Sequence[Note]) -> list[int | None]:
        """See :meth:`Notes.replace_notes <scrapy_simhash.notes.Notes.replace_notes>`. All at once."""
        self._check_writable()
        return await asyncio.gather(*(self._replaced(kind, note) for note in notes))

    async def runs(self) -> list[Run]:
        """See :meth:`Store.runs <scrapy_simhash.store.base.Store.runs>`. Runs are in the first shard."""
        shard = await self._ready_shard(0)
        found = []
        for field, record in (await shard.ask("HGETALL", shard.names["runs"])).items():
            try:
                found += [layout.read_run(field, record)] if field else []
            except FAULTS:
                self.note_damage(f"run {field!r}")
        return sorted(found)

    async def close(self, reason: str = "finished") -> None:
        """See :meth:`Store.close <scrapy_simhash.store.base.Store.close>`.

        Waits for an unavailable server at most as long as for a reply. If the server does not come back, the store is
        released and StoreUnavailable is raised; the run then counts as killed.
        """
        try:
            await _all_of([shard.close(reason) for shard in self._shards.values()])
        finally:
            await self._client.close()

    async def _claim(self, posting: Posting, is_look: bool) -> Claim:
        await self._ready()
        number = shard_of(posting.scope, self._count) if self._is_cluster else 0
        claim = await claim_page(self._shard(number), posting, is_look)
        if not self._is_cluster:
            return claim
        self._shard_by_page[posting.key] = number
        if claim.original_key is not None:
            # The crawl looks up whether another crawler delivered the original.
            self._shard_by_page[claim.original_key] = number
        former, cluster = claim.former, self._number(number, claim.cluster)
        return claim._replace(
            former=None if former is None else self._numbered(number, former),
            cluster=cluster,
            also_near=tuple([self._number(number, one) for one in claim.also_near]),
        )

    async def _replaced(self, kind: str, note: Note) -> int | None:
        shard, version = await self._shard_of_note(note.name), layout.new_version()
        former = b"" if note.version is None else note.version.to_bytes(layout.VERSION_BYTES, "big")
        some = _note_field(kind, note.name), former, version, note.data
        reply = await shard.change("replace_note", lambda store_id: (store_id, *some))
        return int.from_bytes(version, "big") if reply == DONE else None

    # --- Shards.

    def _shard(self, number: int) -> Shard:
        """Return a shard, and unload the least recently used shard if there are too many."""
        shard = self._shards.get(number)
        if shard is None:
            shard = self._shards[number] = Shard(self._session, self._tag(number), has_runs=not number)
        self._loaded[number] = None
        self._loaded.move_to_end(number)
        if len(self._loaded) > LOADED:
            idle, _ = self._loaded.popitem(last=False)
            self._shards[idle].unload()
        return shard

    async def _ready_shard(self, number: int) -> Shard:
        """Return a shard that is ready. Raises StoreUnavailable if it is unavailable."""
        await self._ready()
        shard = self._shard(number)
        await shard.ready()
        return shard

    def _tag(self, number: int) -> str:
        return f"{{{self._prefix}:{number}}}" if self._is_cluster else self._prefix

    def _number(self, shard: int, number: int) -> int:
        """Convert a number of a shard into a number that is unique in the store."""
        return number * self._count + shard

    def _numbered(self, shard: int, row: Row) -> Row:
        return row._replace(number=self._number(shard, row.number), cluster=self._number(shard, row.cluster))

    async def _of_all(self, command: str, name: str, *about: bytes) -> list[int]:
        """Return the shards for which *command* returns true for the key with this *name*."""
        if not self._is_cluster:
            return [0]
        await self._ready()
        names = [f"{self._tag(number)}:{name}" for number in range(self._count)]
        found = await asyncio.gather(*(self._client.ask(command, key, *about) for key in names))
        return [number for number, there in enumerate(found) if there]

    async def _used(self) -> list[int]:
        """Return the numbers of the shards with data."""
        return await self._of_all("EXISTS", "header")

    async def _shards_of(self, key: bytes) -> list[int]:
        """Return the shards that may contain a page."""
        home = self._shard_by_page.get(key)
        return [home] if home is not None else await self._of_all("HEXISTS", "pages", field_of(key))

    async def _shard_of_note(self, name: Name) -> Shard:
        """Return the shard of the notes about a host: that of its pages, if their scope depends only on the host."""
        await self._ready()
        number = 0
        if self._is_cluster:
            scope = self.header.scope if self.header.scope in ("crawl", "host") else "domain"
            number = shard_of(scope_of(f"http://{name!s}/", scope), self._count)
        return await self._ready_shard(number)

    async def _check(self) -> None:
        try:
            await self._shard(0).check()
        finally:
            # The connections belong to an event loop that ends here.
            await self._client.close()

    async def _ready(self) -> None:
        """Agree on the shards of a cluster, and begin the run. Opening the first shard does both."""
        session = self._session
        if self._is_cluster and not (session.is_connected and (session.run or session.is_read_only)):
            await self._shard(0).ready()

    async def _connect(self) -> None:
        """Connect; on a cluster, agree with all other crawlers on the header and the number of shards.

        Raises StoreMismatch, StoreDamaged or StoreError, and then changes nothing.
        """
        session, ask = self._session, self._client.ask
        if not self._is_cluster:
            # Send a short command, which fails without the password.
            await ask("PING")
            return
        key = f"{self._tag(0)}:shards"
        kept = await ask("GET", key)
        if kept and session.is_reset:
            # A reset reads only the number of shards, so it works on a store of another release.
            with layout.readable(session.place):
                shards = range(int(json.loads(kept)["shards"]))
            await asyncio.gather(*(ask("UNLINK", *layout.names_of(self._tag(number))) for number in shards))
            await ask("DEL", key)
            kept = None
        if kept is None:
            if session.header is None:
                raise StoreError(f"no such store: {session.place.removeprefix('the store ')}")
            about = {"header": session.header.to_dict(), "shards": self._count}
            kept = json.dumps(about, sort_keys=True).encode()
            if not session.is_read_only:
                # The first crawler decides; the others read its decision.
                await ask("SET", key, kept, "NX")
                kept = await ask("GET", key) or kept
        with layout.readable(session.place):
            about = json.loads(kept)
            header, count = Header.from_dict(about["header"]), int(about["shards"])
        if session.header is not None:
            header.check(session.header, session.place)
        if self._wanted_shards not in (None, count):
            raise StoreMismatch(
                f"{session.place} has {count:,} shards, not {self._wanted_shards:,}. Nothing was changed. Add"
                f" shards={count} to SIMHASH_STORE, or export the store and import it into a new store"
            )
        self._count = count
        session.header, session.is_connected, session.is_reset = header, True, False

        async def count_pages(number: int) -> None:
            # If a server is down, only its shards are unavailable.
            with suppress(StoreUnavailable):
                self._pages[number] = max(await ask("HLEN", f"{self._tag(number)}:pages") - 1, 0)

        await asyncio.gather(*map(count_pages, range(count)))

    def _check_writable(self) -> None:
        if self._session.is_read_only:
            raise StoreError(f"{self} was opened read-only")


def _note_field(kind: str, name: Name) -> bytes:
    return kind.encode() + b" " + (encoded(name) if isinstance(name, str) else name)


async def _all_of(steps: Sequence[Awaitable[Any]]) -> None:
    """Run *steps* concurrently; raise the error of a failed step after all have ended."""
    for answer in await asyncio.gather(*steps, return_exceptions=True):
        if isinstance(answer, BaseException):
            raise answer
