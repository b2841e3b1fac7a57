"""Shard: a store on one server, or a part of a store on a cluster, with its run, its replica and its connection."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from struct import Struct
from struct import error as StructError
from typing import Any

from scrapy_simhash.exceptions import (
    RecordDamaged,
    StoreDamaged,
    StoreError,
    StoreMismatch,
    StoreUnavailable,
)
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.redis.client import Client
from scrapy_simhash.store.redis.layout import ANEW, ID_BYTES, KEYS, NO_ID, VERSION, names_of
from scrapy_simhash.store.redis.replica import Replica, Rows

logger = logging.getLogger(__name__)

#: Seconds between attempts to reach an unavailable server: at first, and at most.
_RETRY_FIRST, _RETRY_MAX = 0.1, 5.0
#: Numbers per slice of the log while a replica is filled: some milliseconds, so that other commands are not delayed.
_SLICE = 2000
#: Rows scanned per step of retention, which blocks the server for a few milliseconds.
_KEEP_STEP = 200
#: Store, known numbers, one more than the last original, its mark, known changes.
POSITION = Struct(">8sQQ4sI")
#: The beginning of a reply: a sign, pages, the next number, changes.
HEAD = Struct(">cQQI")
_SLICE_HEAD = Struct(">cQQIQ")
#: Store, run, its token.
_IN_RUN = Struct(">8sI8s")
#: Max concurrent claims. More would be slower, since each is compared with those stored since it was sent.
_AT_ONCE = 24
#: Max retries of one command because the server lost data or other claims were stored first.
MOST_LOSSES, MOST_RACES = 5, 1000
#: Signs of replies of scripts that changed nothing: the server has lost data, the log must be read again, another
#: page was stored first, too many new events, the record of the page cannot be read.
LOST, ANEW_SIGN, RACED, BEHIND, UNREADABLE = b"L", b"O", b"R", b"B", b"D"
_RETRIED = {LOST, ANEW_SIGN, RACED, BEHIND}


@dataclass
class Terms:
    """Values shared by all shards of a store."""

    place: str
    """The name of the store in messages."""
    header: Header | None
    """The required header; after the first connection, the header of the store."""
    blocks: int
    keep: int | None
    """Seconds after which a page that was not seen again is removed at opening; None for never."""
    is_reset: bool
    is_read_only: bool
    is_cut: bool
    """Whether the store has several shards, of which a crawler loads only the scopes in use."""
    rows: Rows
    note_damage: Callable[[str], None]
    is_met: bool = False
    """Whether the server was checked."""
    token: bytes = field(default_factory=partial(os.urandom, ID_BYTES))
    """Distinguishes this run from one with the same number on a server that lost this one."""
    started: int = field(default_factory=lambda: int(time.time()))


class Shard:
    """One shard of a store, for one event loop. A single server has one shard."""

    def __init__(self, client: Client, prefix: str, terms: Terms) -> None:
        self.terms = terms
        self.names = dict(zip(KEYS, names_of(prefix), strict=True))
        self._keys = list(self.names.values())
        #: The number of the run; 0 before it begins, and for a reader.
        self.run = 0
        #: Number of pages, as of the last reply.
        self.pages = 0
        #: One more than the highest page number that this crawler has seen.
        self._numbers = 0
        #: Why the server is unavailable, temporarily or permanently; None if it is available, or before the first
        #: command.
        self.absence: StoreError | None = None
        self.turns = asyncio.Semaphore(_AT_ONCE)
        self._client = client
        self._replica: Replica | None = None
        self._is_up = self._is_closed = self._is_trimmed = False
        #: Requested scopes that are not loaded yet.
        self._wanted: set[bytes] = set()
        self._taking = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._catching_up = asyncio.Lock()

    @property
    def index_size(self) -> int:
        """Number of searchable originals, as of the last reply."""
        return 0 if self._replica is None else len(self._replica)

    async def check(self) -> None:
        """Connect to the server in a temporary event loop, without beginning a run. See :meth:`RedisStore.check`."""
        try:
            await self._open("read" if self.terms.is_read_only else "try")
        except StoreUnavailable as error:
            self.absence = error
            raise

    async def ready(self, scope: bytes | None = None) -> Replica:
        """Return the replica, up to date as of the last reply; the first call waits for it.

        It contains *scope*, which is read from the log if it is not loaded. Raises StoreUnavailable at once while the
        server is unavailable, and StoreMismatch or StoreDamaged if the server came back with another store.
        """
        while True:
            replica = self._replica
            is_wanted = scope is not None and (replica is None or scope not in replica)
            if self._is_up and replica is not None and not is_wanted:
                return replica
            if self.absence is not None:
                if isinstance(self.absence, StoreUnavailable):
                    self._work(self._come_back)
                raise type(self.absence)(str(self.absence))
            if scope is not None and is_wanted:
                self._wanted.add(scope)
            if self._is_up:
                await self._take_in()
                continue
            task = self._work(self._begin)
            await asyncio.wait([task])
            if not task.cancelled():
                task.result()

    def forget(self, scope: bytes) -> None:
        """Unload the index of *scope* until it is needed again."""
        if self._replica is not None:
            self._replica.forget(scope)

    async def script(self, name: str, *arguments: Any) -> Any:
        """Return the reply of a script. Without a reply, the server is marked as unavailable."""
        return await self._watched(self._client.run(name, self._keys, *arguments))

    async def ask(self, command: str, *arguments: Any) -> Any:
        """Return the reply of a command. Without a reply, the server is marked as unavailable."""
        return await self._watched(self._client.ask(command, *arguments))

    async def change(self, name: str, about: Callable[[Replica], tuple[Any, ...]], key: bytes = b"") -> bytes:
        """Return the reply of the script *name*; *about* returns its arguments for a replica.

        Retries if the server had lost data, another page was stored first, or there were too many new events. Raises
        StoreUnavailable after too many retries, RecordDamaged if the record of the page with *key* cannot be read.
        """
        losses = 0
        for _ in range(MOST_RACES):
            replica = await self.ready()
            reply: bytes = await self.script(name, *about(replica))
            if reply[:1] not in _RETRIED:
                self.check_reply(reply, key)
                return reply
            losses += await self.learn(reply, replica)
            if losses == MOST_LOSSES:
                break
        raise self.gives_up()

    async def learn(self, reply: bytes, replica: Replica) -> bool:
        """Handle a reply that changed nothing; return whether the server had lost data."""
        if reply[:1] == RACED:
            self.apply(replica, reply, HEAD.size)
        elif reply[:1] == BEHIND:
            await self._catch_up(replica)
        elif replica is self._replica:
            # The store is opened again before the next command.
            self._is_up = False
        return reply[:1] == LOST

    def apply(self, replica: Replica, reply: bytes, at: int) -> None:
        """Apply the head of a reply, and the events from byte *at* on."""
        _, self.pages, known, changes = HEAD.unpack_from(reply)
        try:
            replica.apply(known, changes, reply, at)
        except (IndexError, ValueError, StructError) as error:
            self.note_damage("the log")
            raise RecordDamaged(f"{self.terms.place} is damaged: its log cannot be read: {error}") from error
        self._numbers = max(self._numbers, known)

    def note_damage(self, record: str) -> None:
        """Count and log a damaged record."""
        self.terms.note_damage(record)

    def check_reply(self, reply: bytes, key: bytes) -> None:
        """Raise RecordDamaged if *reply* reports that the row of the page with *key* cannot be read."""
        if reply == UNREADABLE:
            self.note_damage(page_name(key))
            raise RecordDamaged(f"{self.terms.place} is damaged: {page_name(key)}")

    def gives_up(self) -> StoreUnavailable:
        """Return the error after too many retries."""
        return StoreUnavailable(
            f"{self.terms.place} loses stored pages, or other pages come first, again and again"
        )

    def position(self, replica: Replica) -> bytes:
        """Return the log position of *replica* as an argument of scripts."""
        return POSITION.pack(replica.store_id, replica.known, replica.last, replica.mark, replica.changes)

    def in_run(self, replica: Replica) -> bytes:
        """Return the store and the run as an argument of scripts."""
        return _IN_RUN.pack(replica.store_id, self.run, self.terms.token)

    async def is_whole(self, replica: Replica) -> bool:
        """Return whether the server still has everything in *replica*; apply new events to *replica*."""
        return await self._catch_up(replica) == b""

    async def close(self, reason: str | None) -> None:
        """End the run, unless *reason* is None, and release the shard.

        Waits for an unavailable server as long as for a reply. If it does not come back, the shard is released and
        StoreUnavailable is raised; the run then counts as killed.
        """
        is_closed, self._is_closed = self._is_closed, True
        try:
            if self.run and reason is not None and not is_closed:
                with suppress(StoreUnavailable):
                    await self._end(reason)
                    return
                if not self._is_up:
                    await asyncio.wait([self._work(self._come_back)], timeout=self._client.timeout)
                await self._end(reason)
        finally:
            self._is_up, self.absence = False, StoreError(f"{self.terms.place} was closed")
            if self._task is not None:
                self._task.cancel()
                await asyncio.wait([self._task])

    async def _end(self, reason: str) -> None:
        await self.ready()
        await self.script("end", str(self.run), self.terms.token, str(int(time.time())), reason)

    async def _watched(self, asked: Any) -> Any:
        try:
            return await asked
        except RecordDamaged:
            # The server answers.
            raise
        except StoreUnavailable as error:
            if self._is_up:
                self._is_up, self.absence = False, error
                self._work(self._come_back)
            raise

    async def _catch_up(self, replica: Replica) -> bytes:
        """Apply all new events of the log, in slices; return the sign of a log that does not fit *replica*."""
        async with self._catching_up:
            while True:
                head = self.position(replica) + _SLICE.to_bytes(4, "big")
                reply: bytes = await self.script("log", head)
                if len(reply) == 1:
                    return reply
                _, _, _, _, end = _SLICE_HEAD.unpack_from(reply)
                self.apply(replica, reply, _SLICE_HEAD.size)
                if replica.known >= end:
                    return b""
                await asyncio.sleep(0)

    async def _take_in(self) -> None:
        """Load the requested scopes from the log; scopes that are requested meanwhile are loaded together."""
        async with self._taking:
            replica, scopes = self._replica, self._wanted
            if not scopes or replica is None or not self._is_up:
                return
            self._wanted = set()
            others = replica.of_scopes(scopes)
            while others.known < replica.known or others.changes < replica.changes or not others.known:
                if sign := await self._catch_up(others):
                    await self.learn(sign, replica)
                    return
                if not replica.known:
                    break
            replica.take_over(others)

    def _work(self, what: Any) -> asyncio.Task[None]:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(what())
        return self._task

    async def _begin(self) -> None:
        try:
            await self._go_on()
        except StoreError as error:
            self.absence = _absence(error)

    async def _come_back(self) -> None:
        """Try to reach the server until it answers, or has another store."""
        began, delay = time.monotonic(), _RETRY_FIRST
        while isinstance(self.absence, StoreUnavailable):
            await asyncio.sleep(delay)
            delay = min(2 * delay, _RETRY_MAX)
            try:
                await self._go_on()
            except StoreError as error:
                self.absence = _absence(error)
            else:
                self.absence = None
                level = logging.DEBUG if self.terms.is_cut else logging.INFO
                seconds = time.monotonic() - began
                logger.log(level, "%s answers again after %.1f s", self.terms.place, seconds)

    async def _go_on(self) -> None:
        """Open the store, and begin or continue the run; pages that the server lost are also dropped here."""
        terms = self.terms
        before, replica = self.run, self._replica
        store_id, self.run, is_behind = await self._open("read" if terms.is_read_only else "write", before)
        if terms.keep is not None and self.run and not self._is_trimmed:
            await self._remove_old(terms.keep)
            self._is_trimmed = True
        is_loss = replica is not None and replica.store_id != NO_ID
        if replica is not None and replica.store_id == store_id:
            sign = await self._catch_up(replica)
            is_loss = sign == LOST or before != self.run or is_behind
            if sign:
                replica = None
        else:
            replica = None
        if is_loss:
            logger.warning(
                "%s has lost stored pages; this crawl continues with those that are left", terms.place
            )
        if replica is None:
            wanted, self._wanted = self._wanted, set()
            assert terms.header is not None
            scopes = wanted if terms.is_cut else None
            replica = Replica(store_id, terms.header.rule, terms.blocks, terms.rows, scopes)
            if await self._catch_up(replica):
                raise StoreUnavailable(f"{terms.place} changed while it was read")
            self._replica = replica
        self._is_up = True

    async def _remove_old(self, keep: int) -> None:
        """Remove the pages that were not seen for *keep* seconds."""
        cursor, removed = b"0", 0
        moment = int(time.time()) - keep
        while True:
            cursor, some = await self.script("keep", cursor, moment, _KEEP_STEP)
            removed += some
            if cursor == b"0":
                break
        if removed:
            level = logging.DEBUG if self.terms.is_cut else logging.INFO
            logger.log(level, "%s: removed %d pages that were not seen again", self.terms.place, removed)

    async def _open(self, mode: str, run: int = 0) -> tuple[bytes, int, bool]:
        """Open the store; return its id, the number of the run, and whether pages of this crawler are missing.

        The run *run* continues if the server has it; 0 begins a new one.

        *mode* is ``write``, ``read``, which changes nothing, or ``try``, which also changes nothing but fails if the
        server is read-only. Raises StoreMismatch, StoreDamaged or StoreError, and changes nothing then.
        """
        terms, place = self.terms, self.terms.place
        if not terms.is_met and not terms.is_cut:
            await self._greet()
        header, is_reset = terms.header, terms.is_reset
        accepted = json.dumps(header.to_dict(), sort_keys=True).encode() if header else b""
        while True:
            status, *said = await self._client.run(
                *("open", self._keys, accepted, str(VERSION), os.urandom(ID_BYTES), str(run), terms.token),
                *(str(terms.started), mode if accepted else "read", str(int(is_reset)), str(self._numbers)),
            )
            if status == b"foreign":
                key, kind = (part.decode("utf-8", "replace") for part in said)
                raise StoreDamaged(
                    f"{place} has a key {key!r} that does not belong to a store ({kind}). Nothing was"
                    " changed. Give SIMHASH_STORE another prefix, or delete that key"
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
                if terms.header is not None:
                    header.check(terms.header, place)
                # An equivalent header: written by another version of Python's JSON, or without default values.
                continue
            if header is None:
                raise StoreError(f"no such store: {place.removeprefix('the store ')}")
            store_id, number, self.pages, is_behind, numbers = said or (NO_ID, 0, 0, 0, 0)
            self._numbers = max(self._numbers, numbers)
            # Reset only once.
            terms.header, terms.is_met, terms.is_reset = header, True, False
            return store_id, int(number), bool(is_behind)

    async def _greet(self) -> None:
        """Check that the server grants access, and warn if it evicts keys."""
        # A short command first, which fails without the password.
        await self._client.ask("PING")
        try:
            info = await self._client.ask("INFO", "memory")
        except StoreUnavailable:
            raise
        except StoreError:
            logger.debug("%s does not answer INFO memory", self.terms.place)
            return
        policy = str(info.get("maxmemory_policy", ""))
        if info.get("maxmemory") and policy.startswith("allkeys"):
            logger.warning(
                "%s may evict keys when its memory is full: set maxmemory-policy to noeviction (it is %s)",
                *(self.terms.place, policy),
            )


@contextmanager
def readable(place: str) -> Iterator[None]:
    """Raise StoreDamaged for an unreadable header of the store at *place*."""
    try:
        yield
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise StoreDamaged(f"{place} has a header that cannot be read: {error}. {ANEW}") from error


def page_name(key: bytes) -> str:
    """Return the name of the page with *key* in messages."""
    return f"page with key {key.hex()}"


def _absence(error: StoreError) -> StoreError:
    """Return why the store is unavailable: a permanent error first, else StoreUnavailable."""
    if isinstance(error, StoreMismatch | StoreDamaged | StoreUnavailable):
        return error
    return StoreUnavailable(str(error))
