"""Link: how a store and its server meet, whether it is there, and a replica that is true. It comes back by itself."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from struct import Struct
from typing import Any

from scrapy_simhash.exceptions import StoreDamaged, StoreError, StoreMismatch, StoreUnavailable
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.redis.layout import ANEW, ID_BYTES, VERSION
from scrapy_simhash.store.redis.line import Asker
from scrapy_simhash.store.redis.replica import Compared, Replica

logger = logging.getLogger(__name__)

#: The id of a store that is not there yet, which a reader does not make.
NOWHERE = bytes(ID_BYTES)
#: Seconds between attempts to reach a server that is away: at first, and at last.
_SOON, _LATE = 0.1, 5.0
#: Heartbeats in the time for which one of them counts.
_HEARTBEATS = 4
#: Events a step when a replica is made: some milliseconds, then others have their turn.
_STEP = 2000
#: Store, events known, what the last of them ends with, how many more.
EVENTS = Struct(">8sQ4sI")
_EVENTS_REPLY = Struct(">cQQ")
_LOST = b"L"


class Link:
    """The way of one store to its server, for one event loop, and what is known of both."""

    def __init__(
        self,
        line: Asker,
        place: str,
        header: Header | None,
        token: bytes,
        started: int,
        *,
        blocks: int,
        expire: int,
        live: int,
        reset: bool,
        read_only: bool,
        shared: Compared | None = None,
    ) -> None:
        """Make the way of a store; with what is *shared* that of a shard, which has the scopes that are asked for.

        The server of a shard was met before. *token* and *started* are those of the run, the rest as for RedisStore.
        """
        #: Names the store in messages.
        self.place = place
        #: What the store must be for; what it is for once it was met.
        self.header = header
        #: Tells this run from one of the same number in a server that forgot this one.
        self.token = token
        #: The number of the run, 0 before it has one, and for a reader.
        self.run = 0
        #: Seconds after the last claim when everything is forgotten; 0 for never.
        self.expire = expire
        #: Seconds for which a run counts as live after a heartbeat; 0 for no heartbeats.
        self.live = live
        #: How often the server was found, or found again.
        self.openings = 0
        #: As of the last answer.
        self.pages = 0
        #: Why the server cannot be asked just now, or ever; None while it can, or before it was asked.
        self.absence: StoreError | None = None
        self._started = started
        self._is_reset, self._is_read_only = reset, read_only
        self._line = line
        self._blocks = blocks
        self._replica: Replica | None = None
        self._is_met, self._is_up = shared is not None, False
        self._shared = shared
        #: Scopes that are asked for and not in the replica.
        self._wanted: set[bytes] = set()
        self._taking = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._heart: asyncio.Task[None] | None = None
        self._catching_up = asyncio.Lock()

    @property
    def index_size(self) -> int:
        """How many contents can be found, as of the last answer."""
        return 0 if self._replica is None else len(self._replica)

    async def check(self) -> None:
        """Meet the server in an event loop that ends with this: no run begins. See :meth:`RedisStore.check`."""
        try:
            await self._open("read" if self._is_read_only else "try")
        except StoreUnavailable as error:
            self.absence = error
            raise
        finally:
            await self._line.hang_up()

    async def ready(self, scope: bytes | None = None) -> Replica:
        """Return a replica that was true when the server last answered; at the beginning, wait for it.

        It has *scope*, which is read from the log if it was not asked for before. Raises StoreUnavailable at once
        while the server is away, and StoreMismatch or StoreDamaged if it came back with another store.
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
        """Let go of the contents of *scope* until it is asked for again."""
        if self._replica is not None:
            self._replica.forget(scope)

    async def wait(self, seconds: float) -> None:
        """Wait until the server is there, so long at the most. Raises StoreUnavailable if it is not."""
        if not self._is_up:
            await asyncio.wait([self._work(self._come_back)], timeout=seconds)
        await self.ready()

    async def ask(self, name: str, *arguments: Any) -> Any:
        """Return the reply of ``Line.ask``. Where there is none, the server is away."""
        try:
            return await self._line.ask(name, *arguments)
        except StoreUnavailable as error:
            if self._is_up:
                self._is_up, self.absence = False, error
                self._work(self._come_back)
            raise

    async def catch_up(self, replica: Replica) -> bool:
        """Take in all that is new in the log, in steps; return False if it is not the one that *replica* knows."""
        async with self._catching_up:
            while True:
                first = replica.position
                head = EVENTS.pack(replica.store_id, first, replica.mark, _STEP)
                reply = await self.ask("events", head)
                if reply == _LOST:
                    return False
                _, self.pages, length = _EVENTS_REPLY.unpack_from(reply)
                replica.apply(reply, _EVENTS_REPLY.size, first)
                if replica.position >= length:
                    return True
                await asyncio.sleep(0)

    async def _take_in(self) -> None:
        """Read the scopes that are wanted from the log, those that were asked for meanwhile together."""
        async with self._taking:
            replica, scopes = self._replica, self._wanted
            if not scopes or replica is None or not self._is_up:
                return
            self._wanted = set()
            others = replica.of_scopes(scopes)
            while True:
                if not await self.catch_up(others):
                    self.lost(replica)
                    return
                if others.position >= replica.position:
                    break
            replica.take_over(others)

    def lost(self, replica: Replica) -> None:
        """Take it that the server does not know what *replica* knows: before the next question it is seen to."""
        if replica is self._replica:
            self._is_up = False

    async def close(self) -> None:
        """Let go of the server."""
        self._is_up, self.absence = False, StoreError(f"{self.place} was closed")
        for task in (self._heart, self._task):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        await self._line.hang_up()

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
        """Look for the server until it is there, or has another store."""
        began, delay = time.monotonic(), _SOON
        while isinstance(self.absence, StoreUnavailable):
            await asyncio.sleep(delay)
            delay = min(2 * delay, _LATE)
            try:
                await self._line.hang_up()
                await self._go_on()
            except StoreError as error:
                self.absence = _absence(error)
            else:
                self.absence = None
                level = logging.INFO if self._shared is None else logging.DEBUG
                seconds = time.monotonic() - began
                logger.log(level, "%s answers again after %.1f s", self.place, seconds)

    async def _go_on(self) -> None:
        """Open the store, and begin the run or go on with it; what the server has lost is lost here, too."""
        mode = "read" if self._is_read_only else "write"
        before, replica = self.run, self._replica
        store_id, self.run = await self._open(mode, before)
        is_new_run = replica is not None and before != self.run
        is_same_store = replica is not None and replica.store_id == store_id
        if replica is None or not is_same_store or not await self.catch_up(replica):
            is_loss = replica is not None and replica.store_id != NOWHERE
            wanted, self._wanted = self._wanted, set()
            scopes = None if self._shared is None else wanted
            assert self.header is not None
            replica = Replica(store_id, self.header.rule, self._blocks, scopes, self._shared)
            self._replica = replica
        else:
            is_loss = is_new_run
        if is_loss:
            if self.run and is_same_store and not is_new_run:
                # What this run has unsettled may be lost, too. It never ends, and settles nothing.
                _, self.run = await self._open(mode)
            logger.warning(
                "%s has lost stored pages; this crawl continues with those that are left", self.place
            )
        if not await self.catch_up(replica):
            raise StoreUnavailable(f"{self.place} changed while it was read")
        self._is_up = True
        self.openings += 1
        if self.run and self.live and self._heart is None:
            self._heart = asyncio.create_task(self._beat())

    async def _open(self, mode: str, run: int = 0) -> tuple[bytes, int]:
        """Open the store, and return its id and the number of the run, that of *run* if it goes on, 0 for a new one.

        *mode* is ``write``, or ``read``, which leaves no trace, or ``try``: the same, but a server that cannot write
        fails. Raises StoreMismatch, StoreDamaged or StoreError, and then nothing was changed.
        """
        if not self._is_met:
            await self._greet()
        accepted = json.dumps(self.header.to_dict(), sort_keys=True).encode() if self.header else b""
        header, is_reset = self.header, self._is_reset
        while True:
            status, *said = await self._line.ask(
                *(
                    "open",
                    accepted,
                    str(VERSION),
                    os.urandom(ID_BYTES),
                    str(run),
                    self.token,
                    str(self._started),
                ),
                *(mode if accepted else "read", str(int(is_reset)), str(self.expire), str(self.live)),
            )
            if status == b"foreign":
                key, kind = (part.decode("utf-8", "replace") for part in said)
                raise StoreDamaged(
                    f"{self.place} has a key {key!r} that does not belong to a store ({kind}). Nothing was"
                    " changed. Give SIMHASH_STORE another prefix, or delete that key"
                )
            if status == b"other":
                version, accepted = said
                header, is_reset = _read_header(version, accepted, self.place), False
                if self.header is not None:
                    header.check(self.header, self.place)
                # The same in other words, as by another version of Python's JSON or without what says nothing.
                continue
            if header is None:
                raise StoreError(f"no such store: {self.place.removeprefix('the store ')}")
            store_id, number, self.pages = said or (NOWHERE, 0, 0)
            # What was reset is not reset again.
            self.header, self._is_met, self._is_reset = header, True, False
            return store_id, int(number)

    async def _greet(self) -> None:
        """Find out whether there is a server that lets us in, and warn of one that throws keys away."""
        # Something short first: it is as far as one gets without the password.
        await self._line.ask("PING")
        try:
            info = await self._line.ask("INFO", "memory")
        except StoreUnavailable:
            raise
        except StoreError:
            logger.debug("%s does not answer INFO memory", self.place)
            return
        policy = str(info.get("maxmemory_policy", ""))
        if info.get("maxmemory") and policy.startswith(("allkeys", "volatile") if self.expire else "allkeys"):
            logger.warning(
                "%s may evict keys when its memory is full: set maxmemory-policy to noeviction (it is %s)",
                *(self.place, policy),
            )

    async def _beat(self) -> None:
        """Say again and again that the run goes on. Opening says so, too: also when the server was away."""
        while True:
            await asyncio.sleep(self.live / _HEARTBEATS)
            if self._is_up:
                with suppress(StoreError):
                    await self.ask("heartbeat", str(self.run), self.token)


def at_once(coroutine: Coroutine[Any, Any, None]) -> None:
    """Wait for *coroutine* where nobody can ``await``: it is run in a loop of its own, in a thread of its own.

    There may be a loop in this thread, which goes on only afterwards.
    """
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, coroutine).result()


def _read_header(version: bytes, text: bytes, place: str) -> Header:
    try:
        number = int(version)
        if number != VERSION:
            raise StoreDamaged(
                f"{place} was written by another release of scrapy-simhash: its layout has version {number}, this"
                f" release reads version {VERSION}. {ANEW}"
            )
        return Header.from_dict(json.loads(text))
    except (AttributeError, RecursionError, TypeError, ValueError) as error:
        raise StoreDamaged(f"{place} has a header that cannot be read: {error}. {ANEW}") from error


def _absence(error: StoreError) -> StoreError:
    """Return why nobody is answered: what will not pass by itself, else StoreUnavailable, which may."""
    if isinstance(error, StoreMismatch | StoreDamaged | StoreUnavailable):
        return error
    return StoreUnavailable(str(error))
