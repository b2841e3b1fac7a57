"""RedisStore: who was seen, for all crawlers that share a server."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import suppress
from struct import Struct

from scrapy_simhash.exceptions import StoreError, StoreUnavailable
from scrapy_simhash.index import Match
from scrapy_simhash.notes import KINDS, PAGE, Name, Note
from scrapy_simhash.store import candidates
from scrapy_simhash.store.base import Claim, Page, Posting, Run, Store
from scrapy_simhash.store.candidates import BLOCKS
from scrapy_simhash.store.damage import Damage
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.redis import layout
from scrapy_simhash.store.redis.comparison import Comparison, explained
from scrapy_simhash.store.redis.connection import Server, Servers
from scrapy_simhash.store.redis.layout import VERSION_BYTES, decoded, encoded
from scrapy_simhash.store.redis.line import Asker, Line
from scrapy_simhash.store.redis.link import EVENTS, Link, at_once
from scrapy_simhash.store.redis.nodes import Shard
from scrapy_simhash.store.redis.records import Records
from scrapy_simhash.store.redis.replica import Replica

#: Seconds that an answer may take.
TIMEOUT = 5.0
#: Claims under way. More would be slower: each is compared with those that came since it was sent, one by one.
_AT_ONCE = 24
#: How often a server may lose what it knew while it is asked or told one thing.
_LOSSES = 5
#: Seconds that a server may lose when it dies: with ``appendfsync everysec`` two, and more where its disk is busy.
_FORGOTTEN = 10
#: Events that a removal may be behind.
_NEWS = 1000

#: Store, events known, what the last of them ends with, run, its token, seconds until all is forgotten, reach;
#: whether it is a look only, short, delivered; seconds for which another run is live after a heartbeat; how it is
#: found if it is new, and its values.
_CLAIM = Struct(">8sQ4sI8sIB???I25s")
#: Pages, number of the page, content, page that had it first, place among the kin (0: none), rank, whether it is the
#: same text, the former visit, lengths of the original's key and URL and of the keys of damaged pages, which follow.
_CLAIMED = Struct(">cQQQQII?BBQ24sHII")
_REMOVED = Struct(">cQ?")
#: Store, run, its token.
_UNSETTLE = Struct(">8sI8s")
#: Store, seconds until all is forgotten, how many notes at most (0: all), whether it replaces any version.
_REPLACE_NOTE = Struct(">8sII?")
#: Notes about hosts that are kept: at most 640 MB.
MOST_NOTES = 10_000
#: Notes that are fetched together.
_NOTES = 50
_STORED, _LOST, _RACED, _BEHIND = b"S", b"L", b"R", b"B"


class RedisStore(Store):
    """A :class:`~scrapy_simhash.store.base.Store` in Redis 6 or later, or Valkey, whose methods are coroutines.

    The contents are in the server, in the order in which they came, and an index of them is in every crawler. A claim
    is looked up there and decided by the server in one step, in one trip unless another crawler came first. What is
    asked at the same time travels together.
    """

    is_remote = True
    note_kinds = KINDS

    def __init__(
        self,
        server: Server | Servers | str,
        prefix: str,
        header: Header | None,
        *,
        blocks: int = BLOCKS,
        expire: int = 0,
        live: int = 0,
        reset: bool = False,
        read_only: bool = False,
        timeout: float = TIMEOUT,
        shard: Shard | None = None,
    ) -> None:
        """Make a store of the keys that begin with *prefix* and a colon. Connects at the first question.

        *server* is a URL or more. *header* is what the store must be for; None takes what is there. *expire* seconds
        after the last claim everything is forgotten, 0 for never. *live* is for how many seconds after a heartbeat
        another run counts as live, see Visit; this one gives four in that time, and one with the first claim of each
        second. 0: no heartbeats, and no run is live.
        With *reset* it begins empty. A *read_only* one leaves no trace, and refuses to claim or remove. *timeout* is
        for every answer, in seconds. *shard* is given by a ShardedStore, which this one is a part of.

        Raises SettingError for a URL or options that are none, StoreError if redis-py is missing.
        """
        super().__init__(header)
        server = Server(server) if isinstance(server, str) else server
        self._timeout = timeout
        self._is_read_only = read_only
        self._is_closed = False
        place = f"the store {prefix!r} at {server}"
        self._names = dict(zip(layout.KEYS, layout.names_of(prefix), strict=True))
        names = list(self._names.values())
        if isinstance(server, Server):
            line: Asker = Line(server, place, names, timeout)
        elif shard is not None:
            line = shard.line(place, names)
        else:
            raise TypeError("a RedisStore is in one server: several make a ShardedStore")
        self._link = Link(
            *(line, place, header),
            shard.token if shard else os.urandom(layout.ID_BYTES),
            shard.started if shard else int(time.time()),
            blocks=blocks,
            expire=expire,
            live=live,
            reset=reset,
            read_only=read_only,
            shared=shard and shard.compared,
        )
        self.damage: Damage = shard.damage if shard else Damage(place)
        self._records = Records(self._link, self._names, self.damage)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        # What the server was told of late of pages that are not settled, each with its moment; and how often the
        # server had been found by then.
        self._told: deque[tuple[float, Collection[bytes]]] = deque()
        self._openings = 0

    @property
    def header(self) -> Header:
        """See :attr:`Store.header <scrapy_simhash.store.base.Store.header>`."""
        self._header = self._link.header
        return super().header

    @property
    def index_size(self) -> int:
        """How many fingerprints can be found, as of the last answer."""
        return self._link.index_size

    @property
    def absence(self) -> StoreError | None:
        """Why the server cannot be asked, as of the last attempt; None while it can, or before the first one."""
        return self._link.absence

    def __str__(self) -> str:
        """Return where it is."""
        return self._link.place

    def __len__(self) -> int:
        """Return how many pages are known, as of the last answer."""
        return self._link.pages

    def check(self) -> None:
        """Meet the server now, waiting for it, where nobody can ``await``: before a crawl begins.

        Raises StoreMismatch, StoreDamaged, or StoreError for a server that refuses us or is a Redis Cluster.
        Raises StoreUnavailable if it is not there, or cannot be written to by a store that writes; then the store is
        away, and looks for it at the first question.
        """
        at_once(self._link.check())

    def forget(self, scope: str) -> None:
        """Let go of what a shard has in memory of *scope*, until a page of it comes."""
        self._link.forget(layout.encoded(scope))

    async def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`. One trip, rarely two or more.

        When a server does not answer in time, StoreUnavailable is all that is known: it may have stored the claim.
        """
        self._check_writable()
        return await self._decide(posting, is_look=False)

    async def look(self, posting: Posting) -> Claim:
        """See :meth:`Store.look <scrapy_simhash.store.base.Store.look>`. One trip, rarely two or more."""
        return await self._decide(posting, is_look=True)

    async def unsettle(self, keys: Collection[bytes]) -> None:
        """See :meth:`Store.unsettle <scrapy_simhash.store.base.Store.unsettle>`. One trip."""
        self._check_writable()
        await self._unsettle(keys)

    async def get(self, key: bytes) -> Page | None:
        """See :meth:`Store.get <scrapy_simhash.store.base.Store.get>`. One trip."""
        await self._link.ready()
        return await self._records.page(key)

    async def remove(self, key: bytes) -> bool:
        """See :meth:`Store.remove <scrapy_simhash.store.base.Store.remove>`. One trip, rarely two or more."""
        self._check_writable()

        def about(replica: Replica) -> tuple[bytes, ...]:
            return EVENTS.pack(replica.store_id, replica.position, replica.mark, _NEWS), key

        reply, replica, first = await self._changed("remove", about)
        self._records.check(reply, key)
        _, self._link.pages, was_known = _REMOVED.unpack_from(reply)
        replica.apply(reply, _REMOVED.size, first)
        return bool(was_known)

    async def __aiter__(self) -> AsyncIterator[Posting]:
        """See :meth:`Store.__iter__ <scrapy_simhash.store.base.Store.__iter__>`.

        O(n), and some 200 bytes of memory a page, for the order.
        """
        replica = await self._link.ready()
        async for posting in self._records.postings():
            yield posting
        # Pages that another crawler removed meanwhile are missing rightly, those of a server that lost them are not.
        if not await self._link.catch_up(replica):
            raise StoreUnavailable(f"{self._link.place} lost stored pages while it was read")

    async def audit(self, tell: Callable[[int], None]) -> list[str]:
        """Return the damaged records, as messages name them; *tell* hears how many postings were read so far."""
        await self._link.ready()
        damage = Damage(str(self))
        await Records(self._link, self._names, damage).audit(tell)
        return damage.named

    async def touch(self, visits: Collection[tuple[bytes, int]]) -> None:
        """See :meth:`Store.touch <scrapy_simhash.store.base.Store.touch>`. One trip."""
        self._check_writable()
        replica = await self._link.ready()
        stamped = [part for key, seen in visits for part in (key, layout.packed_time(seen))]
        await self._link.ask("touch", replica.store_id, *stamped)

    async def note(self, kind: str, name: Name) -> tuple[int, bytes | None]:
        """See :meth:`Notes.note <scrapy_simhash.notes.Notes.note>`. One trip."""
        await self._link.ready()
        kept = await self._link.ask("HGET", *self._place_of_note(kind, name))
        return layout.read_note(kept) if kept else (0, None)

    async def notes(self, kind: str) -> AsyncIterator[tuple[Name, bytes]]:
        """See :meth:`Notes.notes <scrapy_simhash.notes.Notes.notes>`. Fifty a trip."""
        await self._link.ready()
        key, before = self._place_of_note(kind, b"")
        fields = sorted(field for field in await self._link.ask("HKEYS", key) if field.startswith(before))
        for start in range(0, len(fields), _NOTES):
            some = fields[start : start + _NOTES]
            for field, kept in zip(some, await self._link.ask("HMGET", key, *some), strict=True):
                name = field.removeprefix(before)
                # What no crawler asks for: nobody calls a host so.
                with suppress(UnicodeDecodeError):
                    if kept:
                        yield name if kind == PAGE else decoded(name), kept[VERSION_BYTES:]

    async def replace_notes(self, kind: str, notes: Sequence[Note]) -> list[int | None]:
        """See :meth:`Notes.replace_notes <scrapy_simhash.notes.Notes.replace_notes>`. All in one trip."""
        self._check_writable()
        return await asyncio.gather(*(self._replaced(kind, note) for note in notes))

    async def _replaced(self, kind: str, note: Note) -> int | None:
        key, field = self._place_of_note(kind, note.name)
        most, version = 0 if kind == PAGE else MOST_NOTES, layout.new_version()
        versions = layout.packed_version(note.version or 0), layout.packed_version(version)

        def about(replica: Replica) -> tuple[bytes | str, ...]:
            head = _REPLACE_NOTE.pack(replica.store_id, self._link.expire, most, note.version is None)
            return head, key, field, *versions, note.data

        reply, _, _ = await self._changed("replace_note", about)
        return version if reply == _STORED else None

    def _place_of_note(self, kind: str, name: Name) -> tuple[str, bytes]:
        """Return key and field of a note: what pages have, of which there are many, has a hash of its own."""
        field = encoded(name) if isinstance(name, str) else name
        if kind == PAGE:
            return self._names["answers"], field
        return self._names["notes"], kind.encode() + b" " + field

    async def runs(self) -> list[Run]:
        """See :meth:`Store.runs <scrapy_simhash.store.base.Store.runs>`. One trip."""
        await self._link.ready()
        return await self._records.runs()

    async def close(self, reason: str = "finished") -> None:
        """See :meth:`Store.close <scrapy_simhash.store.base.Store.close>`.

        A server that is away is waited for a while, as long as for an answer. Raises StoreUnavailable, after it has
        let go, if it does not come back: then the run never ended in order.
        """
        is_closed, self._is_closed = self._is_closed, True
        try:
            if self._link.run and not is_closed:
                # It is the same if it is said twice.
                with suppress(StoreUnavailable):
                    await self._end(reason)
                    return
                await self._link.wait(self._timeout)
                await self._end(reason)
        finally:
            await self._link.close()

    async def abandon(self) -> None:
        """See :meth:`Store.abandon <scrapy_simhash.store.base.Store.abandon>`."""
        self._is_closed = True
        await self._link.close()

    async def _end(self, reason: str) -> None:
        link = self._link
        await link.ready()
        if self._told and link.openings != self._openings:
            await self._unsettle()
        await link.ask("end", str(link.run), link.token, str(int(time.time())), reason, str(link.expire))

    async def _unsettle(self, keys: Collection[bytes] = ()) -> None:
        """Tell the server of *keys*; if it died since it was told of others, of those that it may have lost, too.

        Raises StoreUnavailable; then the others are told with the next call that works.
        """
        named, openings = {*keys}, 0

        def about(replica: Replica) -> tuple[bytes, ...]:
            nonlocal openings
            openings = self._link.openings
            if openings != self._openings:
                named.update(key for _, told in self._told for key in told)
            return _UNSETTLE.pack(replica.store_id, self._link.run, self._link.token), *named

        await self._changed("unsettle", about)
        self._openings, now = openings, time.monotonic()
        self._told.append((now, named))
        while self._told[0][0] < now - _FORGOTTEN:
            self._told.popleft()

    async def _changed(
        self, name: str, about: Callable[[Replica], tuple[bytes | str, ...]]
    ) -> tuple[bytes, Replica, int]:
        """Return the reply of the script *name* to what *about* makes of the replica, this, and where its news begin.

        It is asked again if the server had lost something, or too much was new.
        """
        for _ in range(_LOSSES):
            replica = await self._link.ready()
            first = replica.position
            reply = await self._link.ask(name, *about(replica))
            if reply[:1] not in (_LOST, _BEHIND):
                return reply, replica, first
            await self._begin_again(reply, replica, first)
        raise StoreUnavailable(f"{self._link.place} loses stored pages again and again")

    async def _decide(self, posting: Posting, is_look: bool) -> Claim:
        async with self._turns:
            return await self._decided(posting, is_look)

    async def _decided(self, posting: Posting, is_look: bool) -> Claim:
        fingerprint = posting.fingerprint
        key = layout.checked("key", posting.key)
        scope = layout.checked("scope", layout.encoded(posting.scope))
        stamp, url = layout.stamp_of(posting), layout.encoded(posting.url)
        losses = 0
        latest: Replica | None = None
        while losses < _LOSSES:
            replica = await self._link.ready(scope)
            if replica is not latest:
                # The same numbers may be other contents.
                contents = self._names["contents"]
                latest = replica
                comparison = Comparison(self._link, contents, replica, posting, self.damage)
            link, rule = self._link, self.header.rule
            # Without waiting: what is found is what the first so many events say.
            first, mark = replica.position, replica.mark
            matches, found_by, _, is_cut = (
                candidates.NOTHING if posting.is_short else replica.find(posting.scope, fingerprint)
            )
            if is_cut:
                content = await self._records.content_of(key)
                if content is not None:
                    matches = await comparison.with_latest(matches, content)
            kin = await comparison.kin(matches, rule) if matches else []
            head = _CLAIM.pack(
                *(replica.store_id, first, mark, link.run, link.token, link.expire, rule.reach),
                *(is_look, posting.is_short, posting.is_delivered, link.live),
                layout.packed_values(fingerprint, found_by),
            )
            known = b"".join([match.key.to_bytes(8, "big") for match, _ in kin])
            about = key, stamp, scope, fingerprint.sketch, fingerprint.own, url, known
            reply = await self._link.ask("claim", head, *about)
            if reply[:1] == _STORED:
                claim, is_new = self._claimed(reply, posting, replica, first, kin)
                claim = claim._replace(is_by_learning=comparison.agrees_by_text(matches) != bool(kin))
                if self.explains and matches:
                    claim = await explained(claim, comparison, matches, rule, self._records)
                if is_new and not is_look and found_by & candidates.BY_TEXT:
                    replica.keep_compared(claim.content, fingerprint.compared_bytes())
                elif is_new and not is_look:
                    replica.note_crowd(posting.scope)
                return claim
            self._records.check(reply, key)
            losses += await self._begin_again(reply, replica, first)
        raise StoreUnavailable(f"{self._link.place} loses stored pages again and again")

    def _claimed(
        self, reply: bytes, posting: Posting, replica: Replica, first: int, kin: list[tuple[Match, float]]
    ) -> tuple[Claim, bool]:
        """Return the claim that *reply* tells, and whether its content can be found from now on."""
        fields = _CLAIMED.unpack_from(reply)
        _, self._link.pages, number, content, owner, place, rank, is_same_text = fields[:8]
        *visit, key_length, length, told = fields[8:]
        key_end = _CLAIMED.size + key_length
        end = key_end + length
        self._records.tell_of_pages(reply[end : end + told])
        replica.apply(reply, end + told, first)
        former = layout.read_visit(*visit)
        if owner == number:
            is_new = not place and not posting.is_short
            return Claim(former, content, number, None, None, None, rank=rank), is_new
        key, original = reply[_CLAIMED.size : key_end], layout.told(reply[key_end:end])
        distance, similarity = 0, 1.0
        if not posting.is_short:
            match, similarity = kin[place - 1]
            distance = match.distance
        return Claim(former, content, owner, original, distance, similarity, is_same_text, rank, key), False

    async def _begin_again(self, reply: bytes, replica: Replica, first: int) -> int:
        """Learn why nothing was stored; return 1 if the server had lost something, else 0."""
        if reply[:1] == _RACED:
            replica.apply(reply, 1, first)
        elif reply[:1] == _BEHIND:
            await self._link.catch_up(replica)
        else:
            self._link.lost(replica)
            return 1
        return 0

    def _check_writable(self) -> None:
        if self._is_read_only:
            raise StoreError(f"{self._link.place} was opened read-only")
