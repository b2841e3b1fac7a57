"""RedisStore: a store that crawlers share on a Redis server or a Redis Cluster."""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from struct import Struct
from struct import error as StructError
from typing import Any

from scrapy_simhash.exceptions import SettingError, StoreError, StoreMismatch, StoreUnavailable
from scrapy_simhash.notes import KINDS, PAGE, RULES, SITE, Name, Note
from scrapy_simhash.page.fingerprint import digest
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import host_of, scope_of
from scrapy_simhash.store.base import Claim, Page, Posting, Run, Store, Touch
from scrapy_simhash.store.candidates import BLOCKS, FINGERPRINTS
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.redis import layout
from scrapy_simhash.store.redis.claims import claim_page, read_record
from scrapy_simhash.store.redis.client import Client
from scrapy_simhash.store.redis.connection import Server, Servers
from scrapy_simhash.store.redis.layout import decoded, encoded, field_of, key_of
from scrapy_simhash.store.redis.replica import Replica
from scrapy_simhash.store.redis.shard import HEAD, Shard, Terms, page_name, readable

#: Default number of shards of a store on a cluster.
SHARDS = 1024
#: Default number of scopes per crawler that are in memory, on a cluster.
SCOPES = 1000
#: Max seconds per reply.
TIMEOUT = 5.0
#: Seconds between attempts to reach an unavailable cluster.
_PAUSE = 1.0
#: Max pages whose shard is remembered. Other pages are looked up in all shards.
_PAGES = 100_000
#: Max notes about hosts per shard: at most 640 MB.
MOST_NOTES = 10_000
#: Records, and notes, that are read at once.
_STEP, _NOTES = 500, 50
#: Store, max notes, whether any version is replaced.
_REPLACE_NOTE = Struct(">8sI?")


def shard_of(scope: str, shards: int) -> int:
    """Return the number of the shard of *scope*, which never changes.

    >>> shard_of("example.com", 1024)
    883
    """
    return int.from_bytes(digest(scope), "big") % shards


class RedisStore(Store):
    """A :class:`~scrapy_simhash.store.base.Store` in Redis 6 or later, or Valkey, whose methods are coroutines.

    The server has the rows and a log of the originals; every crawler has an index of the originals. A claim is looked
    up in the index and decided by the server atomically, in one round trip unless another crawler was faster.

    On a Redis Cluster the store is split into shards. Pages are compared within their scope, so each scope is in one
    shard, and each shard on one node. The most recently used scopes are in memory. If a node is down, only its shards
    are unavailable. A single server has one shard, with all scopes in memory.
    """

    is_remote = True

    def __init__(
        self,
        server: Server | Servers | str,
        prefix: str,
        header: Header | None,
        *,
        shards: int | None = None,
        scopes: int = SCOPES,
        blocks: int = BLOCKS,
        keep: int | None = None,
        reset: bool = False,
        read_only: bool = False,
        timeout: float = TIMEOUT,
    ) -> None:
        """Create a store of the keys that begin with *prefix* and a colon. Connects at the first command.

        *server* is one URL or several. *header* is the required header; None accepts that of the store. Pages that
        were not seen for *keep* seconds are removed at opening; None for never. *reset* deletes the stored pages.
        *read_only* changes nothing on the server, and refuses to claim or remove. *timeout* is in seconds per reply.

        On a cluster, keys begin with *prefix* and the number of a shard, in braces. *shards* None accepts the number
        of the store, or ``SHARDS`` for a new one. At most *scopes* are in memory.

        Raises SettingError for an invalid URL or option and for a scope that cannot be split into shards, StoreError
        if redis-py is missing.
        """
        super().__init__(header)
        self._server = Server(server) if isinstance(server, str) else server
        self._is_cluster = isinstance(self._server, Servers)
        if self._is_cluster and header is not None and header.scope == "crawl" and (shards or SHARDS) > 1:
            raise SettingError(
                "SIMHASH_STORE names a cluster, whose nodes hold the shards of a store, and the shard of a page"
                " follows from its scope: with SIMHASH_SCOPE = 'crawl' all pages have the same. Set SIMHASH_SCOPE to"
                " domain or host, or add shards=1 to SIMHASH_STORE, which keeps all pages on one of the nodes"
            )
        if self._is_cluster and "{" in prefix:
            raise SettingError(f"SIMHASH_STORE: the prefix must not contain {{ on a cluster, got {prefix!r}")
        # No notes about pages on a cluster, since unknown pages would be looked up in all shards.
        self.note_kinds = (SITE, RULES) if self._is_cluster else KINDS
        self._prefix, self._scopes = prefix, scopes
        self._wanted_shards, self._shards = shards, (shards or SHARDS) if self._is_cluster else 1
        self._terms = Terms(
            *(str(self), header, blocks, keep, reset, read_only, self._is_cluster),
            *(Recent(FINGERPRINTS), self.note_damage),
        )
        self._client = Client(self._server, str(self), timeout)
        #: The connected shards.
        self._met: dict[int, Shard] = {}
        # Number of pages by shard at the beginning, and the shard of each known page.
        self._pages: dict[int, int] = {}
        self._homes: Recent[bytes, int] = Recent(_PAGES if self._is_cluster else 0)
        # Scopes in memory, the most recently used last.
        self._recent: OrderedDict[str, int] = OrderedDict()
        self._meeting = asyncio.Lock()
        self._absence: StoreError | None = None
        self._asked = 0.0

    @property
    def header(self) -> Header:
        """See :attr:`Store.header <scrapy_simhash.store.base.Store.header>`."""
        self._header = self._terms.header
        return super().header

    @property
    def index_size(self) -> int:
        """Number of searchable fingerprints, in memory or not, as of the last replies of connected shards."""
        return sum(shard.index_size for shard in self._met.values())

    @property
    def absence(self) -> StoreError | None:
        """Why one of the servers could not be reached at the last attempt; None if there was no failure."""
        return self._absence or next((shard.absence for shard in self._met.values() if shard.absence), None)

    def __str__(self) -> str:
        """Return the location of the store for messages."""
        return f"the store {self._prefix!r} at {self._server}"

    def __len__(self) -> int:
        """Return the number of known pages, as of the last replies."""
        return sum((self._pages | {number: shard.pages for number, shard in self._met.items()}).values())

    def check(self) -> None:
        """Connect to the servers and wait, in code that cannot ``await``: before a crawl begins.

        Raises StoreMismatch, StoreDamaged, or StoreError for a server that denies access or is a node of a cluster
        but not named as one. Raises StoreUnavailable if a server does not answer, or is read-only and the store
        writes; the store then tries again at the first command.
        """
        # In its own loop and thread, since this thread may have a running loop.
        with ThreadPoolExecutor(1) as threads:
            threads.submit(asyncio.run, self._check()).result()

    async def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`. One round trip, rarely two or more.

        If a server does not answer in time, StoreUnavailable is raised; the claim may have been stored nevertheless.
        """
        self._check_writable()
        return await self._claim(posting, is_look=False)

    async def look(self, posting: Posting) -> Claim:
        """See :meth:`Store.look <scrapy_simhash.store.base.Store.look>`. One round trip, rarely two or more."""
        return await self._claim(posting, is_look=True)

    async def deliver(self, pages: Mapping[bytes, int | None]) -> None:
        """See :meth:`Store.deliver <scrapy_simhash.store.base.Store.deliver>`.

        One round trip per shard; for a page from long ago, to all connected shards. On a cluster the number of the
        run is that in the page's shard.
        """
        self._check_writable()
        by_shard: defaultdict[int, list[bytes]] = defaultdict(list)
        for key, page_hash in pages.items():
            home = self._homes.get(key) if self._is_cluster else 0
            for number in self._met if home is None else [home]:
                by_shard[number] += [field_of(key), layout.packed_hash(page_hash)]

        async def deliver(shard: Shard, packed: list[bytes]) -> None:
            await shard.change("deliver", lambda replica: (shard.in_run(replica), *packed))

        await _all_of([deliver(self._shard(number), packed) for number, packed in by_shard.items()])

    async def get(self, key: bytes) -> Page | None:
        """See :meth:`Store.get <scrapy_simhash.store.base.Store.get>`.

        One round trip; to all shards if the shard of the page is not remembered.
        """
        for number in await self._homes_of(key):
            shard = await self._ready_shard(number)
            record, original = await shard.script("get", field_of(key))
            if record:
                self._homes[key] = number
                return self._page(shard, number, key, record, original)
        return None

    async def remove(self, key: bytes) -> bool:
        """See :meth:`Store.remove <scrapy_simhash.store.base.Store.remove>`. One round trip, rarely two or more."""
        self._check_writable()
        return any([await self._remove(self._shard(number), key) for number in await self._homes_of(key)])

    async def remove_host(self, host: str) -> int:
        """See :meth:`Store.remove_host <scrapy_simhash.store.base.Store.remove_host>`. Reads every row."""
        self._check_writable()
        removed = 0
        for number in await self._used():
            shard = await self._ready_shard(number)
            keys = []
            async for field, record in self._all(shard, "pages"):
                key = key_of(field)
                with suppress(IndexError, ValueError, StructError):
                    if key is not None and host_of(layout.read_row(record).url) == host:
                        keys.append(key)
            for key in dict.fromkeys(keys):
                removed += await self._remove(shard, key)
        return removed

    async def pages(self) -> AsyncIterator[Page]:
        """See :meth:`Store.pages <scrapy_simhash.store.base.Store.pages>`. One shard after another.

        O(n), and about 200 bytes of memory per page to sort them.
        """
        for number in await self._used():
            shard = await self._ready_shard(number)
            replica = await shard.ready()
            numbers: dict[bytes, int] = {}
            async for field, record in self._all(shard, "pages"):
                if field:
                    numbers[field] = int.from_bytes(record[2:10], "big")
            fields = sorted(numbers, key=numbers.__getitem__)
            for start in range(0, len(fields), _STEP):
                some = fields[start : start + _STEP]
                found = await shard.script("get", *some)
                for field, record, original in zip(some, found[::2], found[1::2], strict=True):
                    key = field[1:]
                    with suppress(StoreError):
                        if record:
                            page = self._page(shard, number, key, record, original)
                            self._homes[key] = number
                            yield page
            # Missing pages are correct if another crawler removed them, but not if a server lost them.
            if not await shard.is_whole(replica):
                raise StoreUnavailable(f"{self} lost stored pages while it was read")

    async def __aiter__(self) -> AsyncIterator[Posting]:
        """See :meth:`Store.__iter__ <scrapy_simhash.store.base.Store.__iter__>`. See ``pages``."""
        async for page in self.pages():
            yield page.posting

    async def audit(self, tell: Callable[[int], None]) -> list[str]:
        """Return the names of damaged records for messages; *tell* is called with the number of pages read so far."""
        damaged, read = [], 0
        for number in await self._used():
            shard = await self._ready_shard(number)
            place = f"shard {number}: " if self._is_cluster else ""
            async for field, record in self._all(shard, "pages"):
                if not field:
                    continue
                try:
                    layout.read_row(record)
                except (IndexError, ValueError, StructError):
                    damaged.append(f"{place}{page_name(field[1:])}")
                read += 1
                tell(read)
            async for field, record in self._all(shard, "runs"):
                if field and _run_in(field, record) is None:
                    damaged.append(f"{place}run {decoded(field)}")
        return list(dict.fromkeys(damaged))

    async def touch(self, visits: Collection[tuple[bytes, int]], touch: Touch = Touch.VISITED) -> None:
        """See :meth:`Store.touch <scrapy_simhash.store.base.Store.touch>`.

        One round trip; on a cluster nothing is stored.
        """
        self._check_writable()
        if not self._is_cluster:
            times = [part for key, seen in visits for part in (field_of(key), layout.packed_time(seen))]
            await self._shard(0).change("touch", lambda replica: (replica.store_id, touch.value, *times))

    async def note(self, kind: str, name: Name) -> tuple[int, bytes | None]:
        """See :meth:`Notes.note <scrapy_simhash.notes.Notes.note>`. One round trip."""
        shard = await self._ready_shard(await self._shard_of_note(name))
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
                    # Names that cannot be decoded are no hosts.
                    with suppress(UnicodeDecodeError):
                        if kept:
                            yield name if kind == PAGE else decoded(name), layout.read_note(kept)[1]

    async def replace_notes(self, kind: str, notes: Sequence[Note]) -> list[int | None]:
        """See :meth:`Notes.replace_notes <scrapy_simhash.notes.Notes.replace_notes>`. All at once."""
        self._check_writable()
        return await asyncio.gather(*(self._replaced(kind, note) for note in notes))

    async def runs(self) -> list[Run]:
        """See :meth:`Store.runs <scrapy_simhash.store.base.Store.runs>`. A crawl is one run."""
        await self._ready()
        if not self._is_cluster or not self._terms.is_read_only:
            # This crawl counts as a run even if it stored no page.
            await self._ready_shard(0)
        found: defaultdict[bytes, list[Run]] = defaultdict(list)
        for number in await self._used():
            shard = self._shard(number)
            for field, record in (await shard.ask("HGETALL", shard.names["runs"])).items():
                run = _run_in(field, record) if field else None
                if run is not None:
                    found[record[: layout.ID_BYTES]].append(run)
                elif field:
                    self.note_damage(f"run {field!r}")
        if not self._is_cluster:
            return sorted(run for runs in found.values() for run in runs)
        joined = []
        for runs in found.values():
            ends = [run.ended for run in runs if run.ended is not None]
            ended = max(ends) if len(ends) == len(runs) else None
            reason = None if ended is None else next(run.reason for run in runs)
            joined.append(Run(0, min(run.started for run in runs), ended, reason))
        joined.sort(key=lambda run: run.started)
        return [run._replace(number=number) for number, run in enumerate(joined, 1)]

    async def close(self, reason: str = "finished") -> None:
        """See :meth:`Store.close <scrapy_simhash.store.base.Store.close>`: the run ends in every connected shard.

        Waits for an unavailable server as long as for a reply. If it does not come back, the store is released and
        StoreUnavailable is raised; the run then counts as killed.
        """
        await self._release(reason)

    async def abandon(self) -> None:
        """Release the store without ending the run, as a kill does."""
        await self._release(None)

    async def _release(self, reason: str | None) -> None:
        try:
            await _all_of([shard.close(reason) for shard in self._met.values()])
        finally:
            await self._client.close()

    async def _claim(self, posting: Posting, is_look: bool) -> Claim:
        if not self._is_cluster:
            return await claim_page(self._shard(0), posting, is_look, self.explains)
        await self._ready()
        number = shard_of(posting.scope, self._shards)
        self._use(posting.scope, number)
        self._homes[posting.key] = number
        claim = await claim_page(self._shard(number), posting, is_look, self.explains)
        former = claim.former
        if former is not None:
            former = former._replace(cluster=self._number(number, former.cluster))
        also_near = tuple([self._number(number, cluster) for cluster in claim.also_near])
        return claim._replace(former=former, cluster=self._number(number, claim.cluster), also_near=also_near)

    async def _remove(self, shard: Shard, key: bytes) -> bool:
        replica = await shard.ready()

        def about(latest: Replica) -> tuple[bytes, ...]:
            nonlocal replica
            replica = latest
            return shard.position(latest), field_of(key)

        reply = await shard.change("remove", about, key)
        shard.apply(replica, reply, HEAD.size + 1)
        return reply[HEAD.size : HEAD.size + 1] == b"y"

    async def _replaced(self, kind: str, note: Note) -> int | None:
        shard = self._shard(await self._shard_of_note(note.name))
        most, version = 0 if kind == PAGE else MOST_NOTES, layout.new_version()
        versions = layout.packed_version(note.version or 0), layout.packed_version(version)

        def about(replica: Replica) -> tuple[bytes, ...]:
            head = _REPLACE_NOTE.pack(replica.store_id, most, note.version is None)
            return head, _note_field(kind, note.name), *versions, note.data

        return version if await shard.change("replace_note", about) == b"S" else None

    def _page(self, shard: Shard, number: int, key: bytes, record: bytes, original: bytes) -> Page:
        row = read_record(shard, key, record)
        own, cluster = self._number(number, row.number), self._number(number, row.original)
        url = layout.readable_text(original) if original else None
        return Page(own, row.posting(key), cluster, url, row.delivered or None, row.rank)

    def _shard(self, number: int) -> Shard:
        shard = self._met.get(number)
        if shard is None:
            shard = self._met[number] = Shard(self._client, self._tag(number), self._terms)
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
        """Convert a number of a shard into one that is unique in the store."""
        return number * self._shards + shard

    def _use(self, scope: str, number: int) -> None:
        """Mark *scope* as used, and unload the least recently used one."""
        self._recent[scope] = number
        self._recent.move_to_end(scope)
        if len(self._recent) > self._scopes:
            idle, its_shard = self._recent.popitem(last=False)
            self._shard(its_shard).forget(encoded(idle))

    async def _of_all(self, command: str, name: str, *about: bytes) -> list[Any]:
        """Return the reply to *command* for the key with this *name* of each shard."""
        await self._ready()
        names = [f"{self._tag(number)}:{name}" for number in range(self._shards)]
        return await asyncio.gather(*(self._client.ask(command, key, *about) for key in names))

    async def _used(self) -> list[int]:
        """Return the shards with data."""
        if not self._is_cluster:
            return [0]
        return [number for number, there in enumerate(await self._of_all("EXISTS", "header")) if there]

    async def _homes_of(self, key: bytes) -> Collection[int]:
        """Return the shards that may contain a page."""
        if not self._is_cluster:
            return [0]
        await self._ready()
        home = self._homes.get(key)
        if home is not None:
            return [home]
        return [
            number
            for number, there in enumerate(await self._of_all("HEXISTS", "pages", field_of(key)))
            if there
        ]

    async def _all(self, shard: Shard, name: str) -> AsyncIterator[tuple[bytes, bytes]]:
        """Yield fields and values of a hash; a field may come twice."""
        cursor = 0
        while True:
            cursor, part = await shard.ask("HSCAN", shard.names[name], cursor, "COUNT", _STEP)
            for pair in part.items():
                yield pair
            if not int(cursor):
                return

    async def _shard_of_note(self, name: Name) -> int:
        """Return the shard of the notes about a host: that of its pages, if their scope follows from the host."""
        if not self._is_cluster:
            return 0
        await self._ready()
        scope = self.header.scope if self.header.scope in ("crawl", "host") else "domain"
        return shard_of(scope_of(f"http://{name!s}/", scope), self._shards)

    async def _check(self) -> None:
        try:
            await (self._ready() if self._is_cluster else self._shard(0).check())
        finally:
            # The connections belong to an event loop that ends here.
            await self._client.close()

    async def _ready(self) -> None:
        """Connect to a cluster, unless ``check`` did. Raises StoreUnavailable, at once after a recent failure."""
        if self._terms.is_met or not self._is_cluster:
            self._absence = None
            return
        async with self._meeting:
            if self._terms.is_met:
                return
            if self._absence is not None and time.monotonic() - self._asked < _PAUSE:
                raise type(self._absence)(str(self._absence))
            try:
                await self._meet()
            except StoreError as error:
                self._absence = error
                self._asked = time.monotonic()
                raise
            self._absence = None

    async def _meet(self) -> None:
        """Agree with all other crawlers on the header and the number of shards, and count the pages.

        Raises StoreMismatch, StoreDamaged or StoreError, and changes nothing then.
        """
        terms, key, ask = self._terms, f"{self._tag(0)}:shards", self._client.ask
        kept = await ask("GET", key)
        if kept and terms.is_reset:
            # Other releases need to read only the number of shards.
            with readable(terms.place):
                shards = range(int(json.loads(kept)["shards"]))
            await asyncio.gather(*(ask("UNLINK", *layout.names_of(self._tag(number))) for number in shards))
            await ask("DEL", key)
            kept = None
        if kept is None:
            if terms.header is None:
                raise StoreError(f"no such store: {terms.place.removeprefix('the store ')}")
            about = {"header": terms.header.to_dict(), "shards": self._shards}
            kept = json.dumps(about, sort_keys=True).encode()
            if not terms.is_read_only:
                # The first crawler decides; the others read its decision.
                await ask("SET", key, kept, "NX")
                kept = await ask("GET", key) or kept
        with readable(terms.place):
            about = json.loads(kept)
            header, count = Header.from_dict(about["header"]), int(about["shards"])
        if terms.header is not None:
            header.check(terms.header, terms.place)
        if self._wanted_shards not in (None, count):
            raise StoreMismatch(
                f"{terms.place} has {count:,} shards, not {self._wanted_shards:,}. Nothing was changed. Set"
                f" SIMHASH_STORE to it with shards={count}, or export the store and import it into another one"
            )
        self._shards = count
        terms.header, terms.is_met, terms.is_reset = header, True, False

        async def count_pages(number: int) -> None:
            self._pages[number] = max(await ask("HLEN", f"{self._tag(number)}:pages") - 1, 0)

        # If a server is down, only its shards are unavailable.
        await _all_of([count_pages(number) for number in range(count)])

    def _check_writable(self) -> None:
        if self._terms.is_read_only:
            raise StoreError(f"{self} was opened read-only")


def _note_field(kind: str, name: Name) -> bytes:
    return kind.encode() + b" " + (encoded(name) if isinstance(name, str) else name)


def _run_in(field: bytes, record: bytes) -> Run | None:
    """Return the run in a record, None if it cannot be read."""
    try:
        return layout.read_run(field, record)
    except (IndexError, ValueError, StructError):
        return None


async def _all_of(steps: Sequence[Awaitable[Any]]) -> list[Any]:
    """Run *steps* concurrently, and return their results; raise the error of a failed one after all have ended."""
    done = await asyncio.gather(*steps, return_exceptions=True)
    for answer in done:
        if isinstance(answer, BaseException):
            raise answer
    return done
