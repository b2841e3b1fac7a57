"""Shard: the keys of a store on one server, and the replica in the crawler."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from struct import Struct
from typing import Any

from scrapy_simhash.exceptions import RecordDamaged, StoreDamaged, StoreError, StoreMismatch, StoreUnavailable
from scrapy_simhash.store.base import Row
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.redis.client import Client
from scrapy_simhash.store.redis.layout import (
    ANEW,
    FAULTS,
    ID_BYTES,
    KEYS,
    NO_ID,
    VERSION,
    names_of,
    read_row,
    read_run,
    readable,
)
from scrapy_simhash.store.redis.replica import Replica, Rows

logger = logging.getLogger(__name__)

#: Seconds between attempts to reach an unavailable server: initial and maximum.
_RETRY_FIRST, _RETRY_MAX = 0.1, 5.0
#: Max concurrent claims. More would be slower, because each claim is compared with those stored since it was sent.
_AT_ONCE = 24
#: Events per slice of the log while a replica is filled. A slice takes only a few milliseconds, so that other
#: commands can run.
_SLICE = 2000
#: Rows scanned per step of retention, which blocks the server for a few milliseconds.
_KEEP_STEP = 200
#: If an opened store has more than MAX_DEAD events of removed originals, they are deleted, _TRIM_STEP at a time.
MAX_DEAD, _TRIM_STEP = 20_000, 1000
#: The beginning of a reply: a sign, number of pages, next number, and number of times that the log was shortened.
HEAD = Struct(">cQQI")
#: Max retries of one command because the server lost data or other claims were stored first.
MAX_LOSSES, MAX_RACES = 5, 100
#: Signs of replies of scripts: done, the server has lost data, the log must be read again, too many new events, a
#: record cannot be read.
DONE, LOST, REREAD, BEHIND, UNREADABLE = b"S", b"L", b"O", b"B", b"D"


@dataclass
class Session:
    """The state that the shards of an open store share."""

    client: Client
    place: str
    """The name of the store in messages."""
    header: Header | None
    """The required header; after the first connection, the header of the store."""
    blocks: int
    keep: int | None
    """Seconds after which a page that was not seen again is removed at opening; None to keep all pages."""
    is_reset: bool
    is_read_only: bool
    rows: Rows
    note_damage: Callable[[str], None]
    connect: Callable[[], Awaitable[None]]
    """Connects to the server or cluster, before the first shard is opened."""
    is_connected: bool = False
    """Whether the server was checked."""
    run: int = 0
    """Number of the run; 0 before the run begins, and for a reader."""
    token: bytes = field(default_factory=partial(os.urandom, ID_BYTES))
    """A random id of the run, because a server that has lost the run may reuse the number."""
    started: int = field(default_factory=lambda: int(time.time()))
    former_run: int | None = None
    """The latest end of another run, or the start of a run without an end; None without such a run. Set only with
    *keep*."""

    @property
    def packed_run(self) -> bytes:
        """The number of the run, as an argument of scripts."""
        return self.run.to_bytes(4, "big")


class Shard:
    """One shard of a store, for one event loop. A single server has one shard."""

    def __init__(self, session: Session, prefix: str, has_runs: bool = True) -> None:
        """Create a shard of the keys that begin with *prefix*; *has_runs* if it has the runs of the store."""
        self.session = session
        self.names = dict(zip(KEYS, names_of(prefix), strict=True))
        self._keys = list(self.names.values())
        #: Number of pages, and of searchable originals, at the last reply.
        self.pages = self.index_size = 0
        #: The error that makes the server unavailable, perhaps permanently; None if it is available or not used yet.
        self.absence: StoreError | None = None
        self.turns = asyncio.Semaphore(_AT_ONCE)
        self._has_runs = has_runs
        #: One more than the highest page number that this crawler has seen.
        self._numbers = 0
        self._replica: Replica | None = None
        self._is_open = self._is_closed = self._is_kept = False
        self._opening: asyncio.Task[None] | None = None
        self._absent_since = self._retry_at = self._pause = 0.0
        self._catching_up = asyncio.Lock()

    async def check(self) -> None:
        """Connect to the server in a temporary event loop, without beginning a run. See :meth:`RedisStore.check`."""
        try:
            await self._connect("read" if self.session.is_read_only else "try")
        except StoreUnavailable as error:
            self._leave(error)
            raise

    async def ready(self) -> Replica:
        """Return the replica, which is up to date as of the last reply. The first call waits until the store is open.

        While the server is unavailable, raises StoreUnavailable immediately, and connects again in the background if
        the last attempt was long enough ago. Raises StoreMismatch or StoreDamaged if the server has a different store
        after an outage.
        """
        while not (self._is_open and self._replica is not None):
            is_due = isinstance(self.absence, StoreUnavailable) and time.monotonic() >= self._retry_at
            if (self.absence is None or is_due) and (self._opening is None or self._opening.done()):
                self._opening = asyncio.create_task(self._try_to_open())
            if self.absence is not None:
                raise type(self.absence)(str(self.absence))
            assert self._opening is not None
            await asyncio.wait([self._opening])
            if not self._opening.cancelled():
                self._opening.result()
        return self._replica

    def unload(self) -> None:
        """Free the memory of the replica until it is needed again."""
        self._is_open, self._replica = False, None

    async def script(self, name: str, *arguments: Any) -> Any:
        """Return the reply of a script. Without a reply, the server is marked as unavailable."""
        return await self._watched(self.session.client.run(name, self._keys, *arguments))

    async def ask(self, command: str, *arguments: Any) -> Any:
        """Return the reply of a command. Without a reply, the server is marked as unavailable."""
        return await self._watched(self.session.client.ask(command, *arguments))

    async def change(self, name: str, about: Callable[[bytes], tuple[Any, ...]]) -> bytes:
        """Return the reply of the script *name*. *about* gets the id of the store and returns the arguments.

        Retries if the server had lost data. Raises StoreUnavailable after too many retries.
        """
        for _ in range(MAX_LOSSES):
            replica = await self.ready()
            reply: bytes = await self.script(name, *about(replica.store_id))
            if reply != LOST:
                return reply
            await self.learn(reply, replica)
        raise self.too_many_retries()

    async def learn(self, reply: bytes, replica: Replica) -> None:
        """Handle a reply of a script that changed nothing, because *replica* is not up to date or data was lost."""
        if reply == BEHIND:
            await self.catch_up(replica)
        elif replica is self._replica:
            # The store is opened again before the next command.
            self._is_open = False
            if reply == REREAD:
                self._replica = None

    def apply(self, replica: Replica, reply: bytes, at: int) -> None:
        """Apply the head of a reply, and the events from byte *at* on."""
        _, pages, known, trims = HEAD.unpack_from(reply)
        # Replies to concurrent commands may arrive in a different order.
        if known >= replica.known:
            self.pages = pages
        try:
            replica.apply(known, trims, reply, at)
        except FAULTS as error:
            self.session.note_damage("the log")
            raise RecordDamaged(
                f"{self.session.place} is damaged: its log cannot be read: {error}. Restore a backup of the server,"
                " or set SIMHASH_RESET = True to delete the store"
            ) from error
        self._numbers, self.index_size = max(self._numbers, known), len(replica)

    def read_row(self, key: bytes, record: bytes, original: bytes = b"") -> Row:
        """Return the row in the record of a page, with the URL in that of its *original*. Raises RecordDamaged."""
        url = None
        with suppress(*FAULTS):
            if original:
                url = read_row(b"", original).posting.url
        with suppress(*FAULTS):
            return read_row(key, record, url)
        raise self._damaged(key)

    def check_readable(self, reply: bytes, key: bytes) -> None:
        """Raise RecordDamaged if *reply* reports that the row of the page with *key* cannot be read."""
        if reply == UNREADABLE:
            raise self._damaged(key)

    def _damaged(self, key: bytes) -> RecordDamaged:
        name = f"page with key {key.hex()}"
        self.session.note_damage(name)
        return RecordDamaged(f"{self.session.place} is damaged: {name}")

    def too_many_retries(self) -> StoreUnavailable:
        """Return the error for too many retries."""
        return StoreUnavailable(
            f"{self.session.place} repeatedly lost stored pages, or other crawlers repeatedly stored pages first"
        )

    async def catch_up(self, replica: Replica) -> bytes:
        """Apply all new events of the log, in slices; return an error's sign if the log does not match *replica*."""
        async with self._catching_up:
            while True:
                reply: bytes = await self.script("log", replica.position + _SLICE.to_bytes(4, "big"))
                if len(reply) == 1:
                    return reply
                self.apply(replica, reply, HEAD.size)
                if reply[:1] == DONE:
                    return b""
                await asyncio.sleep(0)

    async def close(self, reason: str) -> None:
        """End the run, and release the shard.

        Waits for an unavailable server no longer than for a reply. If the server does not come back, the shard is
        released and StoreUnavailable is raised; the run then counts as killed.
        """
        is_closed, self._is_closed = self._is_closed, True
        try:
            if self._has_runs and self.session.run and not is_closed:
                await self._end(reason)
        finally:
            self._is_open, self.absence = False, StoreError(f"{self.session.place} was closed")
            if self._opening is not None:
                self._opening.cancel()
                await asyncio.wait([self._opening])

    async def _end(self, reason: str) -> None:
        deadline, session = time.monotonic() + self.session.client.timeout, self.session
        while True:
            try:
                await self.ready()
                await self.script("end", str(session.run), session.token, str(int(time.time())), reason)
                return
            except StoreUnavailable:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(_RETRY_FIRST)

    async def _watched(self, asked: Any) -> Any:
        try:
            return await asked
        except RecordDamaged:
            # The server answers.
            raise
        except StoreUnavailable as error:
            if self._is_open:
                self._is_open = False
                self._leave(error)
            raise

    def _leave(self, error: StoreError) -> None:
        """Record that the server is unavailable."""
        now = time.monotonic()
        if self.absence is None:
            self._absent_since, self._pause = now, _RETRY_FIRST
        # Any other error, such as denied access, counts as temporary, because it may be corrected during the crawl.
        is_known = isinstance(error, StoreMismatch | StoreDamaged | StoreUnavailable)
        self.absence = error if is_known else StoreUnavailable(str(error))
        self._retry_at = now + self._pause
        self._pause = min(2 * self._pause, _RETRY_MAX)

    async def _try_to_open(self) -> None:
        try:
            await self._open()
        except StoreError as error:
            self._leave(error)
            return
        if self.absence is not None:
            self.absence = None
            seconds = time.monotonic() - self._absent_since
            level = logging.INFO if self._has_runs else logging.DEBUG
            logger.log(level, "%s answers again after %.1f s", self.session.place, seconds)

    async def _open(self) -> None:
        """Open the store, and begin or continue the run; also drop the pages that the server has lost."""
        session, replica, before = self.session, self._replica, self.session.run
        store_id, is_behind = await self._connect("read" if session.is_read_only else "write")
        if session.keep is not None and not (session.is_read_only or self._is_kept):
            await self._remove_old(session.keep)
            self._is_kept = True
        is_loss = replica is not None and replica.store_id != NO_ID
        if replica is not None and replica.store_id == store_id:
            sign = await self.catch_up(replica)
            is_loss = sign == LOST or before != session.run or is_behind
            replica = None if sign else replica
        else:
            replica = None
        if is_loss:
            logger.warning(
                "%s has lost stored pages; this crawl continues with the remaining ones", session.place
            )
        while replica is None:
            assert session.header is not None
            replica = Replica(store_id, session.header.rule, session.blocks, session.rows)
            if await self.catch_up(replica):
                raise StoreUnavailable(f"{session.place} changed while it was read")
            if len(replica.dead) > MAX_DEAD and not session.is_read_only:
                ids = [f"{first}-{second}" for first, second in replica.dead]
                for start in range(0, len(ids), _TRIM_STEP):
                    await self.script("trim", store_id, *ids[start : start + _TRIM_STEP])
                replica = None
        self._replica, self._is_open = replica, True

    async def _remove_old(self, keep: int) -> None:
        """Remove the pages that were not seen for *keep* seconds before the latest other run.

        The time is counted from that run and not from now, so that a wrong clock or a long pause between crawls
        removes nothing.
        """
        session = self.session
        if self._has_runs:
            times = []
            for number, record in (await self.ask("HGETALL", self.names["runs"])).items():
                with suppress(*FAULTS):
                    run = read_run(number, record)
                    if run.number != session.run:
                        times.append(run.ended or run.started)
            session.former_run = max(times, default=None)
        if session.former_run is None:
            return
        moment = min(session.former_run, int(time.time())) - keep
        cursor, removed = b"0", 0
        while True:
            cursor, some = await self.script("keep", cursor, moment, _KEEP_STEP)
            removed += some
            if cursor == b"0":
                break
        if removed:
            level = logging.INFO if self._has_runs else logging.DEBUG
            logger.log(level, "%s: removed %d pages that were not seen again", session.place, removed)

    async def _connect(self, mode: str) -> tuple[bytes, bool]:
        """Open the store; return its id, and whether pages of this crawler are missing. The run begins or continues.

        *mode* is ``write``, ``read``, which changes nothing, or ``try``, which also changes nothing but fails if the
        server is read-only. Raises StoreMismatch, StoreDamaged or StoreError, and then changes nothing.
        """
        session, place = self.session, self.session.place
        if not session.is_connected:
            await session.connect()
        header, is_reset = session.header, session.is_reset
        accepted = json.dumps(header.to_dict(), sort_keys=True).encode() if header else b""
        while True:
            status, *said = await session.client.run(
                *("open", self._keys, accepted, str(VERSION), os.urandom(ID_BYTES), str(session.run)),
                *(session.token if self._has_runs else b"", str(session.started)),
                *(mode if accepted else "read", str(int(is_reset)), str(self._numbers)),
            )
            if status == b"foreign":
                raise StoreDamaged(
                    f"{place} has no header, but contains the key {said[0].decode()!r}. Nothing was changed. Set"
                    " a different prefix in SIMHASH_STORE, or delete that key"
                )
            if status == b"other":
                version, accepted = said
                with readable(place):
                    if int(version) != VERSION:
                        raise StoreDamaged(
                            f"{place} was written by another release of scrapy-simhash: its layout has version"
                            f" {int(version)}, this release reads version {VERSION}. {ANEW}"
                        )
                    header, is_reset = Header.from_dict(json.loads(accepted)), False
                if session.header is not None:
                    header.check(session.header, place)
                # The header is equivalent: it was written by a different version of Python's JSON, or without default
                # values.
                continue
            if header is None:
                raise StoreError(f"no such store: {place.removeprefix('the store ')}")
            store_id, number, self.pages, is_behind, numbers = said or (NO_ID, 0, 0, 0, 0)
            self._numbers = max(self._numbers, numbers)
            if self._has_runs:
                session.run = int(number)
            # Reset only once.
            session.header, session.is_connected, session.is_reset = header, True, False
            return store_id, bool(is_behind)
