"""RedisStore: who was seen, for all crawlers that share a server or a Redis Cluster."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from struct import Struct
from typing import Any

from scrapy_simhash.exceptions import SettingError, StoreError, StoreMismatch, StoreUnavailable
from scrapy_simhash.notes import KINDS, PAGE, RULES, SITE, TRUST, Name, Note
from scrapy_simhash.page.fingerprint import digest
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import host_of, scope_of
from scrapy_simhash.store.base import Claim, Page, Posting, Run, Store
from scrapy_simhash.store.candidates import BLOCKS, FINGERPRINTS
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.redis import layout
from scrapy_simhash.store.redis.claim import decide
from scrapy_simhash.store.redis.connection import Server, Servers
from scrapy_simhash.store.redis.damage import Damage
from scrapy_simhash.store.redis.layout import VERSION_BYTES, decoded, encoded
from scrapy_simhash.store.redis.link import EVENTS, Link, Terms, readable
from scrapy_simhash.store.redis.nodes import Nodes
from scrapy_simhash.store.redis.records import Records
from scrapy_simhash.store.redis.replica import Replica

#: How many shards a store on a cluster has if nobody says so.
SHARDS = 1024
#: How many scopes a crawler keeps in memory of such a store if nobody says so.
SCOPES = 1000
#: Seconds that an answer may take.
TIMEOUT = 5.0
#: Seconds for which a text is known elsewhere if the store is kept for ever: 30 days.
KEPT = 30 * 24 * 3600
#: Seconds for which nobody asks after texts when a server did not answer: else pages would wait again and again.
_SILENT_TEXTS = 5.0
#: Seconds for which nobody asks again whether the cluster is there.
_SILENT = 1.0
#: Pages of which it is kept in which shard they are. Of others all shards are asked.
_PAGES = 100_000
#: Events that a removal may be behind.
_NEWS = 1000
_REMOVED = Struct(">cQ?")
#: Store, seconds until all is forgotten, how many notes at most (0: all), whether it replaces any version.
_REPLACE_NOTE = Struct(">8sII?")
#: Notes about hosts that are kept in a shard: at most 640 MB.
MOST_NOTES = 10_000
#: Notes that are fetched together.
_NOTES = 50
_STORED = b"S"


def shard_of(scope: str, shards: int) -> int:
    """Return the number of the shard of *scope*: the same everywhere and for ever.

    >>> shard_of("example.com", 1024)
    883
    """
    return int.from_bytes(digest(scope), "big") % shards


class RedisStore(Store):
    """A :class:`~scrapy_simhash.store.base.Store` in Redis 6 or later, or Valkey, whose methods are coroutines.

    The contents are in the server, in the order in which they came, and an index of them is in every crawler. A claim
    is looked up there and decided by the server in one step, in one trip unless another crawler came first. What is
    asked at the same time travels together.

    On a Redis Cluster the store is cut into shards. Pages are compared within their scope, so a scope is in one
    shard, and a shard on one node. Of each shard the scopes that were asked for last are in memory. Where a server is
    away, its shards only are. One server has one shard, of which all scopes are in memory.
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
        across: bool = False,
        blocks: int = BLOCKS,
        expire: int = 0,
        reset: bool = False,
        read_only: bool = False,
        timeout: float = TIMEOUT,
    ) -> None:
        """Make a store of the keys that begin with *prefix* and a colon. Connects at the first question.

        *server* is a URL or more. *header* is what the store must be for; None takes what is there. *expire* seconds
        after the last claim everything is forgotten, 0 for never. With *reset* it begins empty. A *read_only* one
        leaves no trace, and refuses to claim or remove. *timeout* is for every answer, in seconds.

        On a cluster, keys begin with *prefix* and the number of a shard, in braces. *shards* None takes what is
        there, else ``SHARDS``. *scopes* are in memory at most. With *across* claims also say which page had their
        text first in any scope.

        Raises SettingError for a URL or options that are none, and for a scope of pages that cannot be cut,
        StoreError if redis-py is missing.
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
        # None about pages on a cluster: all shards would be asked where a page is that was not met before.
        self.note_kinds = (SITE, RULES, TRUST) if self._is_cluster else KINDS
        self._prefix, self._across, self._scopes = prefix, across, scopes
        self._wanted_shards, self._shards = shards, (shards or SHARDS) if self._is_cluster else 1
        self.damage = Damage(str(self))
        self._terms = Terms(
            *(str(self), header, blocks, expire, reset, read_only, timeout, self._is_cluster),
            *(self.damage, Recent(FINGERPRINTS)),
        )
        self._nodes = Nodes(self._server, str(self), self._tag, timeout)
        #: The records of the shards that were met.
        self._records: dict[int, Records] = {}
        # Pages by shard as of the beginning, and where a page is.
        self._pages: dict[int, int] = {}
        self._homes: Recent[bytes, int] = Recent(_PAGES if self._is_cluster else 0)
        # Scopes in memory, those that were asked for last at the end.
        self._recent: OrderedDict[str, int] = OrderedDict()
        # Of a store on a cluster until it is reset; by it what was kept of texts before is not found.
        self._store_id = ""
        self._texts_silent_until = 0.0
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
        """How many fingerprints can be found, in memory or not, as of the last answers of shards that were met."""
        return sum(link.index_size for link in self._links)

    @property
    def damaged(self) -> int:
        """How many damaged records were met."""
        return len(self.damage)

    def note_damage(self, record: str) -> None:
        """See :meth:`Store.note_damage <scrapy_simhash.store.base.Store.note_damage>`."""
        self.damage.note(record)

    @property
    def absence(self) -> StoreError | None:
        """Why one of the servers cannot be asked, as of the last attempt; None while all can, or were not asked."""
        return self._absence or next((link.absence for link in self._links if link.absence), None)

    def __str__(self) -> str:
        """Return where it is."""
        return f"the store {self._prefix!r} at {self._server}"

    def __len__(self) -> int:
        """Return how many pages are known, as of the last answers."""
        met = {shard: records.link.pages for shard, records in self._records.items()}
        return sum((self._pages | met).values())

    def check(self) -> None:
        """Meet the servers now, waiting for them, where nobody can ``await``: before a crawl begins.

        Raises StoreMismatch, StoreDamaged, or StoreError for a server that refuses us or is a node of a cluster that
        is not named as one. Raises StoreUnavailable if one of them is not there, or cannot be written to by a store
        that writes; then the store is away, and looks for it at the first question.
        """
        # In a loop of its own, in a thread of its own: there may be a loop in this one, which goes on afterwards.
        with ThreadPoolExecutor(1) as threads:
            threads.submit(asyncio.run, self._check()).result()

    async def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`. One trip, rarely two or more.

        When a server does not answer in time, StoreUnavailable is all that is known: it may have stored the claim.
        """
        self._check_writable()
        return await self._decide(posting, is_look=False)

    async def look(self, posting: Posting) -> Claim:
        """See :meth:`Store.look <scrapy_simhash.store.base.Store.look>`. One trip, rarely two or more."""
        return await self._decide(posting, is_look=True)

    async def deliver(self, pages: Mapping[bytes, int | None]) -> None:
        """See :meth:`Store.deliver <scrapy_simhash.store.base.Store.deliver>`.

        One trip a shard, of all that were met if a page is from long ago.
        On a cluster the number of the run is that of the page's shard.
        """
        self._check_writable()
        of_shards = self._by_shard(pages)
        await _all_of(
            [self._of(shard).link.deliver({key: pages[key] for key in its}) for shard, its in of_shards]
        )

    async def get(self, key: bytes) -> Page | None:
        """See :meth:`Store.get <scrapy_simhash.store.base.Store.get>`.

        One trip, but all shards are asked for a page that was not met before.
        """
        for shard in await self._homes_of(key):
            page = await (await self._ready_of(shard)).page(key)
            if page is not None:
                self._homes[key] = shard
                number, cluster = self._numbers(shard, page.number, page.cluster)
                return page._replace(number=number, cluster=cluster)
        return None

    async def remove(self, key: bytes) -> bool:
        """See :meth:`Store.remove <scrapy_simhash.store.base.Store.remove>`. One trip, rarely two or more."""
        self._check_writable()

        def about(replica: Replica) -> tuple[bytes, ...]:
            return EVENTS.pack(replica.store_id, replica.position, replica.mark, _NEWS), key

        was_known = False
        for shard in await self._homes_of(key):
            records = self._of(shard)
            reply, replica, first = await records.link.change("remove", about)
            records.check(reply, key)
            _, records.link.pages, was_there = _REMOVED.unpack_from(reply)
            replica.apply(reply, _REMOVED.size, first)
            was_known |= was_there
        return was_known

    async def remove_host(self, host: str) -> int:
        """See :meth:`Store.remove_host <scrapy_simhash.store.base.Store.remove_host>`. Reads every page."""
        keys = [posting.key async for posting in self if host_of(posting.url) == host]
        return sum([await self.remove(key) for key in keys])

    async def __aiter__(self) -> AsyncIterator[Posting]:
        """See :meth:`Store.__iter__ <scrapy_simhash.store.base.Store.__iter__>`: one shard after the other.

        O(n), and some 200 bytes of memory a page, for the order.
        """
        for shard in await self._used():
            link = self._of(shard).link
            replica = await link.ready()
            async for posting in self._of(shard).postings():
                self._homes[posting.key] = shard
                yield posting
            # Pages that another crawler removed meanwhile are missing rightly, those that a server lost are not.
            if not await link.catch_up(replica):
                raise StoreUnavailable(f"{self} lost stored pages while it was read")

    async def audit(self, tell: Callable[[int], None]) -> list[str]:
        """Return the damaged records, as messages name them; *tell* hears how many postings were read so far."""
        found: list[str] = []
        read = 0
        for shard in await self._used():
            damage = Damage(str(self))
            await self._ready_of(shard)
            read = await Records(self._of(shard).link, damage).audit(read, tell)
            found += [f"shard {shard}: {name}" if self._is_cluster else name for name in damage.named]
        return found

    async def touch(self, visits: Collection[tuple[bytes, int]]) -> None:
        """See :meth:`Store.touch <scrapy_simhash.store.base.Store.touch>`. One trip; on a cluster nothing is kept."""
        self._check_writable()
        if not self._is_cluster:
            link = self._of(0).link
            replica = await link.ready()
            stamped = [part for key, seen in visits for part in (key, layout.packed_time(seen))]
            await link.ask("touch", replica.store_id, *stamped)

    async def note(self, kind: str, name: Name) -> tuple[int, bytes | None]:
        """See :meth:`Notes.note <scrapy_simhash.notes.Notes.note>`. One trip."""
        link = (await self._ready_of(await self._shard_of_note(name))).link
        kept = await link.ask("HGET", *_place_of_note(link, kind, name))
        return layout.read_note(kept) if kept else (0, None)

    async def notes(self, kind: str) -> AsyncIterator[tuple[Name, bytes]]:
        """See :meth:`Notes.notes <scrapy_simhash.notes.Notes.notes>`. One shard after the other, fifty a trip."""
        for shard in await self._used():
            link = (await self._ready_of(shard)).link
            key, before = _place_of_note(link, kind, b"")
            fields = sorted(field for field in await link.ask("HKEYS", key) if field.startswith(before))
            for start in range(0, len(fields), _NOTES):
                some = fields[start : start + _NOTES]
                for field, kept in zip(some, await link.ask("HMGET", key, *some), strict=True):
                    name = field.removeprefix(before)
                    # What no crawler asks for: nobody calls a host so.
                    with suppress(UnicodeDecodeError):
                        if kept:
                            yield name if kind == PAGE else decoded(name), kept[VERSION_BYTES:]

    async def replace_notes(self, kind: str, notes: Sequence[Note]) -> list[int | None]:
        """See :meth:`Notes.replace_notes <scrapy_simhash.notes.Notes.replace_notes>`. All in one trip."""
        self._check_writable()
        return await asyncio.gather(*(self._replaced(kind, note) for note in notes))

    async def runs(self) -> list[Run]:
        """See :meth:`Store.runs <scrapy_simhash.store.base.Store.runs>`. A crawl is one run, whatever its shards."""
        await self._ready()
        if not self._is_cluster:
            return await (await self._ready_of(0)).runs()
        if not self._terms.is_read_only:
            # This crawl is one, too, whatever its pages.
            await self._ready_of(0)
        found: defaultdict[bytes, list[Run]] = defaultdict(list)
        for shard, records in enumerate(await self._of_all("HVALS", "runs")):
            for record in records:
                run = self.damage.read(partial(layout.read_run, 0), record, f"a run in shard {shard}")
                if run is not None:
                    found[record[: layout.ID_BYTES]].append(run)
        joined = []
        for runs in found.values():
            ends = [run.ended for run in runs if run.ended is not None]
            ended = max(ends) if len(ends) == len(runs) else None
            reason = None if ended is None else next(run.reason for run in runs)
            joined.append(Run(0, min(run.started for run in runs), ended, reason))
        joined.sort(key=lambda run: run.started)
        return [run._replace(number=number) for number, run in enumerate(joined, 1)]

    async def close(self, reason: str = "finished") -> None:
        """See :meth:`Store.close <scrapy_simhash.store.base.Store.close>`: the run ends in every shard that was met.

        A server that is away is waited for a while, as long as for an answer. Raises StoreUnavailable, after it has
        let go, if it does not come back: then the run never ended in order.
        """
        await self._let_go(reason)

    async def abandon(self) -> None:
        """Let go of the store without ending the run, as a kill does."""
        await self._let_go(None)

    async def _let_go(self, reason: str | None) -> None:
        try:
            await _all_of([link.close(reason) for link in self._links])
        finally:
            await self._nodes.hang_up()

    async def _decide(self, posting: Posting, is_look: bool) -> Claim:
        if not self._is_cluster:
            return await decide(self._of(0), posting, is_look, self.explains)
        await self._ready()
        shard = shard_of(posting.scope, self._shards)
        self._keep(posting.scope, shard)
        self._homes[posting.key] = shard
        asked = decide(self._of(shard), posting, is_look, self.explains)
        if self._across:
            claim, first = await asyncio.gather(asked, self._first_elsewhere(posting, is_look))
            claim = claim._replace(elsewhere=first)
        else:
            claim = await asked
        former = claim.former
        if former is not None:
            former = former._replace(cluster=self._numbers(shard, former.cluster)[0])
        return claim._replace(former=former, cluster=self._numbers(shard, claim.cluster)[0])

    async def _first_elsewhere(self, posting: Posting, is_look: bool) -> str | None:
        """Return the URL that came first with the text of *posting*; None if it is this one, or nobody knows.

        A text is a small key in the shard that follows from its hash, whatever that of its page.
        """
        page_hash = posting.page_hash
        if page_hash is None or posting.is_short or time.monotonic() < self._texts_silent_until:
            return None
        shard = page_hash % self._shards
        key = f"{self._tag(shard)}:text:{self._store_id}:{page_hash:016x}"
        ask, seconds = self._nodes.ask, self._terms.expire or KEPT
        kept_now = [] if is_look else [ask(shard, "SET", key, encoded(posting.url), "NX", "EX", seconds)]
        try:
            # In one trip, one after the other.
            *_, kept = await asyncio.gather(*kept_now, ask(shard, "GET", key))
        except StoreError:
            # It is no reason to lose a verdict.
            self._texts_silent_until = time.monotonic() + _SILENT_TEXTS
            return None
        return None if not kept or kept == encoded(posting.url) else decoded(kept)

    async def _replaced(self, kind: str, note: Note) -> int | None:
        link = self._of(await self._shard_of_note(note.name)).link
        most, version = 0 if kind == PAGE else MOST_NOTES, layout.new_version()
        versions = layout.packed_version(note.version or 0), layout.packed_version(version)

        def about(replica: Replica) -> tuple[bytes | str, ...]:
            head = _REPLACE_NOTE.pack(replica.store_id, self._terms.expire, most, note.version is None)
            return head, *_place_of_note(link, kind, note.name), *versions, note.data

        reply, _, _ = await link.change("replace_note", about)
        return version if reply == _STORED else None

    @property
    def _links(self) -> list[Link]:
        return [records.link for records in self._records.values()]

    def _of(self, shard: int) -> Records:
        records = self._records.get(shard)
        if records is None:
            link = Link(self._nodes, shard, self._terms)
            records = self._records[shard] = Records(link, self.damage)
        return records

    async def _ready_of(self, shard: int) -> Records:
        """Return a shard that can be asked at once. Raises StoreUnavailable if it is away."""
        await self._ready()
        records = self._of(shard)
        await records.link.ready()
        return records

    def _tag(self, shard: int) -> str:
        return f"{{{self._prefix}:{shard}}}" if self._is_cluster else self._prefix

    def _numbers(self, shard: int, *numbers: int) -> list[int]:
        """Return the numbers that a shard has given, made different from those of all other shards."""
        return [number * self._shards + shard for number in numbers]

    def _keep(self, scope: str, shard: int) -> None:
        """Note that *scope* is in use, and let go of the one that was not for the longest time."""
        self._recent[scope] = shard
        self._recent.move_to_end(scope)
        if len(self._recent) > self._scopes:
            idle, its_shard = self._recent.popitem(last=False)
            self._of(its_shard).link.forget(encoded(idle))

    async def _of_all(self, command: str, *names: str, about: Sequence[bytes] = ()) -> list[Any]:
        """Return what *command* says of the keys with these *names* of each shard, *about* something in them."""
        await self._ready()
        return await asyncio.gather(
            *(
                self._nodes.ask(shard, command, *(f"{self._tag(shard)}:{name}" for name in names), *about)
                for shard in range(self._shards)
            )
        )

    async def _used(self) -> list[int]:
        """Return the shards that there is something in."""
        if not self._is_cluster:
            return [0]
        return [shard for shard, count in enumerate(await self._of_all("EXISTS", *layout.KEYS)) if count]

    async def _homes_of(self, key: bytes) -> Collection[int]:
        """Return the shards in which a page may be."""
        if not self._is_cluster:
            return [0]
        await self._ready()
        home = self._homes.get(key)
        if home is not None:
            return [home]
        is_there = await self._of_all("HEXISTS", "pages", about=[key])
        return [shard for shard, is_its in enumerate(is_there) if is_its]

    def _by_shard(self, keys: Collection[bytes]) -> Collection[tuple[int, list[bytes]]]:
        """Return *keys* by the shards in which their pages may be, of those that were met."""
        by_shard: defaultdict[int, list[bytes]] = defaultdict(list)
        for key in keys:
            home = self._homes.get(key) if self._is_cluster else 0
            for shard in self._records if home is None else [home]:
                by_shard[shard].append(key)
        return by_shard.items()

    async def _shard_of_note(self, name: Name) -> int:
        """Return the shard of what is known of a host: that of its pages, if their scope says so by its name."""
        if not self._is_cluster:
            return 0
        await self._ready()
        scope = self.header.scope if self.header.scope in ("crawl", "host") else "domain"
        return shard_of(scope_of(f"http://{name!s}/", scope), self._shards)

    async def _check(self) -> None:
        try:
            await (self._ready() if self._is_cluster else self._of(0).link.check())
        finally:
            # The connections belong to an event loop that ends with this.
            await self._nodes.hang_up()

    async def _ready(self) -> None:
        """Meet a cluster if ``check`` did not. Raises StoreUnavailable, at once if it did not help just now."""
        if self._terms.is_met or not self._is_cluster:
            self._absence = None
            return
        async with self._meeting:
            if self._terms.is_met:
                return
            if self._absence is not None and time.monotonic() - self._asked < _SILENT:
                raise type(self._absence)(str(self._absence))
            try:
                await self._meet()
            except StoreError as error:
                self._absence = error
                self._asked = time.monotonic()
                await self._nodes.renew()
                raise
            self._absence = None

    async def _meet(self) -> None:
        """Agree with all other crawlers on what the store is for and how many shards it has, and count its pages.

        Raises StoreMismatch, StoreDamaged or StoreError, and then nothing was changed.
        """
        terms, key = self._terms, f"{self._tag(0)}:shards"
        kept = await self._nodes.ask(0, "GET", key)
        if kept and terms.is_reset:
            # Of an earlier release only the number of shards must be readable.
            with readable(terms.place):
                shards = range(int(json.loads(kept)["shards"]))
            names = [layout.names_of(self._tag(shard)) for shard in shards]
            await asyncio.gather(*(self._nodes.ask(shard, "UNLINK", *names[shard]) for shard in shards))
            await self._nodes.ask(0, "DEL", key)
            kept = None
        if kept is None:
            if terms.header is None:
                raise StoreError(f"no such store: {terms.place.removeprefix('the store ')}")
            about = {"header": terms.header.to_dict(), "shards": self._shards, "id": os.urandom(4).hex()}
            kept = json.dumps(about, sort_keys=True).encode()
            if not terms.is_read_only:
                # Who comes first decides, and all others find that.
                await self._nodes.ask(0, "SET", key, kept, "NX")
                kept = await self._nodes.ask(0, "GET", key) or kept
        with readable(terms.place):
            about = json.loads(kept)
            header, count, store_id = (
                Header.from_dict(about["header"]),
                int(about["shards"]),
                str(about["id"]),
            )
        if terms.header is not None:
            header.check(terms.header, terms.place)
        if self._wanted_shards not in (None, count):
            raise StoreMismatch(
                f"{terms.place} has {count:,} shards, not {self._wanted_shards:,}. Nothing was changed. Set"
                f" SIMHASH_STORE to it with shards={count}, or export the store and import it into another one"
            )
        self._shards, self._store_id = count, store_id
        terms.header, terms.is_met, terms.is_reset = header, True, False

        async def take(shard: int) -> None:
            self._pages[shard] = await self._nodes.ask(shard, "HLEN", f"{self._tag(shard)}:pages")

        # Where a server is away, its shards only are.
        await _all_of([take(shard) for shard in range(count)])

    def _check_writable(self) -> None:
        if self._terms.is_read_only:
            raise StoreError(f"{self} was opened read-only")


def _place_of_note(link: Link, kind: str, name: Name) -> tuple[str, bytes]:
    """Return key and field of a note: what pages have, of which there are many, has a hash of its own."""
    field = encoded(name) if isinstance(name, str) else name
    if kind == PAGE:
        return link.names["answers"], field
    return link.names["notes"], kind.encode() + b" " + field


async def _all_of(steps: Sequence[Awaitable[Any]]) -> list[Any]:
    """Take *steps* at once, and return what they come to; if one failed, raise its error after all have ended."""
    done = await asyncio.gather(*steps, return_exceptions=True)
    for answer in done:
        if isinstance(answer, BaseException):
            raise answer
    return done
