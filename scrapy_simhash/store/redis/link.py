"""Link: how a store and its server meet, whether it is there, and a replica that is true. It comes back by itself."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from struct import Struct
from typing import Any, NamedTuple, TypeVar

from scrapy_simhash.exceptions import StoreDamaged, StoreError, StoreMismatch, StoreUnavailable
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.redis.layout import ANEW, ID_BYTES, VERSION
from scrapy_simhash.store.redis.line import NO_CLUSTER, Asker
from scrapy_simhash.store.redis.replica import Compared, Replica

logger = logging.getLogger(__name__)

#: The id of a store that is not there.
NOWHERE = bytes(ID_BYTES)
Answer = TypeVar("Answer")
#: Takes the name of a script or of a command, and its arguments; returns the reply, or raises StoreError.
Ask = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class OpenRequest:
    """How a store is to be opened."""

    place: str
    """Names the store in messages."""
    header: Header | None
    """What the store must be for; None takes it as it is."""
    expire: int = 0
    """Seconds after the last claim when everything is forgotten; 0 for never."""
    is_reset: bool = False
    mode: str = "write"
    """``write``, or ``read``, which leaves no trace, or ``try``: the same, but a server that cannot write fails."""
    run: int = 0
    """The number of the run that is to go on, 0 for a new one."""
    token: bytes = b""
    """Tells this run from one of the same number in a server that forgot this one."""
    started: int = 0
    live: int = 0
    """Seconds for which a run counts as live after a heartbeat; 0 for no heartbeats."""


class Opened(NamedTuple):
    """A store that was opened."""

    header: Header
    store_id: bytes
    """NOWHERE for a store that is not there yet, which a reader does not make."""
    run: int
    pages: int


async def meet(request: OpenRequest, ask: Ask) -> Opened:
    """Open a store. Raises StoreMismatch, StoreDamaged or StoreError, and then nothing was changed."""
    # Something short first: it is as far as one gets without the password.
    await ask("PING")
    info: dict[str, Any] = {}
    for section in ("cluster", "memory"):
        try:
            info |= await ask("INFO", section)
        except StoreUnavailable:
            raise
        except StoreError:
            logger.debug("%s does not answer INFO %s", request.place, section)
    if info.get("cluster_enabled"):
        raise StoreError(f"{request.place} {NO_CLUSTER}")
    policy = str(info.get("maxmemory_policy", ""))
    if info.get("maxmemory") and (
        policy.startswith("allkeys") or (request.expire and policy.startswith("volatile"))
    ):
        logger.warning(
            "%s may evict keys when its memory is full: set maxmemory-policy to noeviction (it is %s)",
            request.place,
            policy,
        )
    return await reopen(request, ask)


async def reopen(request: OpenRequest, ask: Ask) -> Opened:
    """Open a store at a server that is known already."""
    accepted = _written(request.header) if request.header else ""
    header = request.header
    while True:
        run, started = str(request.run), str(request.started)
        status, *said = await ask(
            *("open", accepted, str(VERSION), os.urandom(ID_BYTES), run, request.token, started),
            *(request.mode if accepted else "read", "1" if request.is_reset else "0", str(request.expire)),
            str(request.live),
        )
        if status == b"open" and header:
            store_id, number, pages = said
            return Opened(header, store_id, int(number), pages)
        if status == b"none":
            if header is None:
                raise StoreError(f"no such store: {request.place.removeprefix('the store ')}")
            return Opened(header, NOWHERE, 0, 0)
        if status == b"foreign":
            key, kind = (part.decode("utf-8", "replace") for part in said)
            raise StoreDamaged(
                f"{request.place} has a key {key!r} that does not belong to a store ({kind}). Nothing was"
                " changed. Give SIMHASH_STORE another prefix, or delete that key"
            )
        version, text = said
        header = _read_header(version, text, request.place)
        if request.header:
            header.check(request.header, request.place)
        # The same in other words, as by another version of Python's JSON or without what says nothing.
        accepted = text
        request = replace(request, is_reset=False)


def at_once(meeting: Coroutine[Any, Any, Answer]) -> Answer:
    """Return what *meeting* comes to where nobody can ``await``: run in a loop of its own, in a thread of its own.

    There may be a loop in this thread, which goes on only afterwards.
    """
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, meeting).result()


def _written(header: Header) -> str:
    return json.dumps(header.to_dict(), sort_keys=True)


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


logger = logging.getLogger(__name__)

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
    """The way of one store to its server, for one event loop."""

    def __init__(
        self, line: Asker, request: OpenRequest, blocks: int, shared: Compared | None = None
    ) -> None:
        """Make the way of a store; with what is *shared* that of a shard, which has the scopes that are asked for.

        The server of a shard was met before.
        """
        self.request = request
        self.opened: Opened | None = None
        #: How often the server was found, or found again.
        self.openings = 0
        #: As of the last answer.
        self.pages = 0
        self._line = line
        self._blocks = blocks
        self._replica: Replica | None = None
        self._is_met, self._is_up = shared is not None, False
        self._shared = shared
        #: Scopes that are asked for and not in the replica.
        self._wanted: set[bytes] = set()
        self._taking = asyncio.Lock()
        #: Why the server cannot be asked just now, or ever; None while it can, or before it was asked.
        self.absence: StoreError | None = None
        self._task: asyncio.Task[None] | None = None
        self._heart: asyncio.Task[None] | None = None
        self._catching_up = asyncio.Lock()

    @property
    def index_size(self) -> int:
        """How many contents can be found, as of the last answer."""
        return 0 if self._replica is None else len(self._replica)

    def met(self, opened: Opened) -> None:
        """Take it that the server is fit, and has the store that is wanted: what was reset is not reset again."""
        self._is_met = True
        self.pages = opened.pages
        self.request = replace(self.request, is_reset=False, header=opened.header)

    def away(self, error: StoreError) -> None:
        """Take it that the server is away. From the next question on it is looked for."""
        self._is_up = False
        self.absence = error

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
                self.away(error)
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
        self.away(StoreError(f"{self.request.place} was closed"))
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
            await self._open()
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
                await self._open()
            except StoreError as error:
                self.absence = _absence(error)
            else:
                self.absence = None
                level = logging.INFO if self._shared is None else logging.DEBUG
                seconds = time.monotonic() - began
                logger.log(level, "%s answers again after %.1f s", self.request.place, seconds)

    async def _open(self) -> None:
        before, replica = self.opened, self._replica
        run = before.run if before else 0
        opened = await (reopen if self._is_met else meet)(replace(self.request, run=run), self._line.ask)
        is_new_run = before is not None and before.run != opened.run
        self.met(opened)
        self.opened = opened
        is_same_store = replica is not None and replica.store_id == opened.store_id
        if replica is None or not is_same_store or not await self.catch_up(replica):
            is_loss = replica is not None and replica.store_id != NOWHERE
            wanted, self._wanted = self._wanted, set()
            scopes = None if self._shared is None else wanted
            replica = Replica(opened.store_id, opened.header.rule, self._blocks, scopes, self._shared)
            self._replica = replica
        else:
            is_loss = is_new_run
        if is_loss:
            if opened.run and is_same_store and not is_new_run:
                # What this run has unsettled may be lost, too. It never ends, and settles nothing.
                opened = await reopen(replace(self.request, run=0), self._line.ask)
                self.opened = opened
            logger.warning(
                "%s has lost stored pages; this crawl continues with those that are left", self.request.place
            )
        if not await self.catch_up(replica):
            raise StoreUnavailable(f"{self.request.place} changed while it was read")
        self._is_up = True
        self.openings += 1
        if opened.run and self.request.live and self._heart is None:
            self._heart = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        """Say again and again that the run goes on. Opening says so, too: also when the server was away."""
        while True:
            await asyncio.sleep(self.request.live / _HEARTBEATS)
            if self._is_up and self.opened is not None:
                with suppress(StoreError):
                    await self.ask("heartbeat", str(self.opened.run), self.request.token)


def _absence(error: StoreError) -> StoreError:
    """Return why nobody is answered: what will not pass by itself, else StoreUnavailable, which may."""
    if isinstance(error, StoreMismatch | StoreDamaged | StoreUnavailable):
        return error
    return StoreUnavailable(str(error))
