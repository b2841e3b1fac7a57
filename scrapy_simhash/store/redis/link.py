"""Link: how a shard and its server meet, whether it is there, and a replica that is true. It comes back by itself."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from struct import Struct
from typing import Any

from scrapy_simhash.exceptions import StoreDamaged, StoreError, StoreMismatch, StoreUnavailable
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.redis.damage import Damage
from scrapy_simhash.store.redis.layout import ANEW, ID_BYTES, KEYS, VERSION, names_of, packed_hash
from scrapy_simhash.store.redis.nodes import Nodes
from scrapy_simhash.store.redis.replica import Compared, Replica

logger = logging.getLogger(__name__)

#: The id of a store that is not there yet, which a reader does not make.
NOWHERE = bytes(ID_BYTES)
#: Seconds between attempts to reach a server that is away: at first, and at last.
_SOON, _LATE = 0.1, 5.0
#: Events a step when a replica is made: some milliseconds, then others have their turn.
_STEP = 2000
#: Store, events known, what the last of them ends with, how many more.
EVENTS = Struct(">8sQ4sI")
_EVENTS_REPLY = Struct(">cQQ")
#: Store, run, its token.
_IN_RUN = Struct(">8sI8s")
#: Claims under way. More would be slower: each is compared with those that came since it was sent, one by one.
_AT_ONCE = 24
#: How often a server may lose what it knew while it is asked or told one thing.
LOSSES = 5
#: What a script begins its reply with that has stored nothing: the server has lost something, another page came
#: first that is near, or too much is new.
_LOST, _RACED, _BEHIND = b"L", b"R", b"B"


@dataclass
class Terms:
    """What all shards of a store have in common."""

    place: str
    """Names the store in messages."""
    header: Header | None
    """What the store must be for; what it is for once it was met."""
    blocks: int
    expire: int
    """Seconds after the last claim when everything is forgotten; 0 for never."""
    is_reset: bool
    is_read_only: bool
    timeout: float
    """Seconds that an answer may take."""
    is_cut: bool
    """Whether it is one of many shards, of which a crawler keeps the scopes that are asked for."""
    damage: Damage
    compared: Compared
    is_met: bool = False
    """Whether the server is known to be fit."""
    token: bytes = field(default_factory=partial(os.urandom, ID_BYTES))
    """Tells this run from one of the same number in a server that forgot this one."""
    started: int = field(default_factory=lambda: int(time.time()))


class Link:
    """The way to one shard of a store, for one event loop, and what is known of it. One server has one shard."""

    def __init__(self, nodes: Nodes, shard: int, terms: Terms) -> None:
        self.terms = terms
        #: Of its keys.
        self.names = dict(zip(KEYS, names_of(nodes.tag_of(shard)), strict=True))
        self._keys = [name.encode() for name in self.names.values()]
        #: The number of the run, 0 before it has one, and for a reader.
        self.run = 0
        #: As of the last answer.
        self.pages = 0
        #: One more than the highest number of a page that this crawler has seen.
        self.numbers = 0
        #: When the last claim was stored.
        self._claimed: float | None = None
        #: Why the server cannot be asked just now, or ever; None while it can, or before it was asked.
        self.absence: StoreError | None = None
        self.turns = asyncio.Semaphore(_AT_ONCE)
        self._nodes, self._shard = nodes, shard
        self._replica: Replica | None = None
        self._is_up = self._is_closed = False
        #: Scopes that are asked for and not in the replica.
        self._wanted: set[bytes] = set()
        self._taking = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._catching_up = asyncio.Lock()

    @property
    def index_size(self) -> int:
        """How many contents can be found, as of the last answer."""
        return 0 if self._replica is None else len(self._replica)

    async def check(self) -> None:
        """Meet the server in an event loop that ends with this: no run begins. See :meth:`RedisStore.check`."""
        try:
            await self._open("read" if self.terms.is_read_only else "try")
        except StoreUnavailable as error:
            self.absence = error
            raise

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

    def note_claim(self, number: int) -> None:
        """Note that a claim was stored, of the page with *number*."""
        self.numbers = max(self.numbers, number + 1)
        self._claimed = time.monotonic()

    def forget(self, scope: bytes) -> None:
        """Let go of the contents of *scope* until it is asked for again."""
        if self._replica is not None:
            self._replica.forget(scope)

    async def ask(self, name: str, *arguments: Any) -> Any:
        """Return the reply of ``Nodes.ask``; scripts get the keys. Where there is none, the server is away."""
        try:
            return await self._asked(name, *arguments)
        except StoreUnavailable as error:
            if self._is_up:
                self._is_up, self.absence = False, error
                self._work(self._come_back)
            raise

    async def change(
        self, name: str, about: Callable[[Replica], tuple[bytes | str, ...]]
    ) -> tuple[bytes, Replica, int]:
        """Return the reply of the script *name* to what *about* makes of the replica, this, and where its news begin.

        It is asked again if the server had lost something, or too much was new.
        """
        for _ in range(LOSSES):
            replica = await self.ready()
            first = replica.position
            reply = await self.ask(name, *about(replica))
            if reply[:1] not in (_LOST, _BEHIND):
                return reply, replica, first
            await self.learn(reply, replica, first)
        raise self.loses()

    async def learn(self, reply: bytes, replica: Replica, first: int) -> bool:
        """Learn why nothing was stored; return whether the server had lost something."""
        if reply[:1] == _RACED:
            replica.apply(reply, 1, first)
        elif reply[:1] == _BEHIND:
            await self.catch_up(replica)
        elif replica is self._replica:
            # Before the next question it is seen to.
            self._is_up = False
        return reply[:1] not in (_RACED, _BEHIND)

    def loses(self) -> StoreUnavailable:
        """Return the error of a server that lost what it knew too often while it was asked one thing."""
        return StoreUnavailable(f"{self.terms.place} loses stored pages again and again")

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
                    await self.learn(_LOST, replica, 0)
                    return
                if others.position >= replica.position:
                    break
            replica.take_over(others)

    async def deliver(self, pages: Mapping[bytes, int | None]) -> None:
        """Store that *pages*, keys with text hashes, were delivered in this run."""
        packed = [part for key, page_hash in pages.items() for part in (key, packed_hash(page_hash))]

        def about(replica: Replica) -> tuple[bytes, ...]:
            return _IN_RUN.pack(replica.store_id, self.run, self.terms.token), *packed

        await self.change("deliver", about)

    async def close(self, reason: str | None) -> None:
        """End the run, unless *reason* is None, and let go of the shard.

        A server that is away is waited for a while, as long as for an answer. Raises StoreUnavailable, after it has
        let go, if it does not come back: then the run never ended in order.
        """
        is_closed, self._is_closed = self._is_closed, True
        try:
            if self.run and reason is not None and not is_closed:
                # It is the same if it is said twice.
                with suppress(StoreUnavailable):
                    await self._end(reason)
                    return
                if not self._is_up:
                    await asyncio.wait([self._work(self._come_back)], timeout=self.terms.timeout)
                await self._end(reason)
        finally:
            self._is_up, self.absence = False, StoreError(f"{self.terms.place} was closed")
            if self._task is not None:
                self._task.cancel()
                await asyncio.wait([self._task])

    async def _end(self, reason: str) -> None:
        await self.ready()
        end = str(int(time.time())), reason, str(self.terms.expire)
        await self.ask("run", str(self.run), self.terms.token, *end)

    def _asked(self, name: str, *arguments: Any) -> Coroutine[Any, Any, Any]:
        return self._nodes.ask(self._shard, name, *(self._keys if name.islower() else ()), *arguments)

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
                await self._nodes.renew()
                await self._go_on()
            except StoreError as error:
                self.absence = _absence(error)
            else:
                self.absence = None
                level = logging.DEBUG if self.terms.is_cut else logging.INFO
                seconds = time.monotonic() - began
                logger.log(level, "%s answers again after %.1f s", self.terms.place, seconds)

    async def _go_on(self) -> None:
        """Open the store, and begin the run or go on with it; what the server has lost is lost here, too."""
        terms = self.terms
        mode = "read" if terms.is_read_only else "write"
        before, replica = self.run, self._replica
        store_id, self.run, is_behind = await self._open(mode, before)
        is_new_run = replica is not None and before != self.run
        is_same_store = replica is not None and replica.store_id == store_id
        if replica is None or not is_same_store or not await self.catch_up(replica):
            is_loss = replica is not None and replica.store_id != NOWHERE
            wanted, self._wanted = self._wanted, set()
            assert terms.header is not None
            scopes = wanted if terms.is_cut else None
            replica = Replica(store_id, terms.header.rule, terms.blocks, terms.compared, scopes)
            self._replica = replica
        else:
            is_loss = is_new_run or is_behind
        if is_loss and not is_same_store and self._may_have_expired:
            level = logging.DEBUG if terms.is_cut else logging.INFO
            logger.log(level, "%s has expired; this crawl continues with an empty store", terms.place)
        elif is_loss:
            logger.warning(
                "%s has lost stored pages; this crawl continues with those that are left", terms.place
            )
        if not await self.catch_up(replica):
            raise StoreUnavailable(f"{terms.place} changed while it was read")
        self._is_up = True

    @property
    def _may_have_expired(self) -> bool:
        """Whether so much time has passed since the last claim that the store may have expired."""
        expire = self.terms.expire
        if not expire or self._claimed is None:
            return False
        # Claims set the time of expiry now and then only, and in whole seconds: see claim.lua.
        return time.monotonic() - self._claimed >= expire - min(60, expire / 10) - 1

    async def _open(self, mode: str, run: int = 0) -> tuple[bytes, int, bool]:
        """Open the store. Return its id, the number of the run, and whether pages of this crawler are missing.

        The run *run* goes on if the server has it; 0 begins a new one.

        *mode* is ``write``, or ``read``, which leaves no trace, or ``try``: the same, but a server that cannot write
        fails. Raises StoreMismatch, StoreDamaged or StoreError, and then nothing was changed.
        """
        terms, place = self.terms, self.terms.place
        if not terms.is_met:
            await self._greet()
        header, is_reset = terms.header, terms.is_reset
        accepted = json.dumps(header.to_dict(), sort_keys=True).encode() if header else b""
        while True:
            status, *said = await self._asked(
                *(
                    "open",
                    accepted,
                    str(VERSION),
                    os.urandom(ID_BYTES),
                    str(run),
                    terms.token,
                    str(terms.started),
                ),
                *(mode if accepted else "read", str(int(is_reset)), str(terms.expire), str(self.numbers)),
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
                # The same in other words, as by another version of Python's JSON or without what says nothing.
                continue
            if header is None:
                raise StoreError(f"no such store: {place.removeprefix('the store ')}")
            store_id, number, self.pages, is_behind, numbers = said or (NOWHERE, 0, 0, 0, 0)
            if mode == "write":
                self.numbers = max(self.numbers, numbers)
            # What was reset is not reset again.
            terms.header, terms.is_met, terms.is_reset = header, True, False
            return store_id, int(number), bool(is_behind)

    async def _greet(self) -> None:
        """Find out whether there is a server that lets us in, and warn of one that throws keys away."""
        # Something short first: it is as far as one gets without the password.
        await self._asked("PING")
        try:
            info = await self._asked("INFO", "memory")
        except StoreUnavailable:
            raise
        except StoreError:
            logger.debug("%s does not answer INFO memory", self.terms.place)
            return
        policy = str(info.get("maxmemory_policy", ""))
        if info.get("maxmemory") and policy.startswith(
            ("allkeys", "volatile") if self.terms.expire else "allkeys"
        ):
            logger.warning(
                "%s may evict keys when its memory is full: set maxmemory-policy to noeviction (it is %s)",
                *(self.terms.place, policy),
            )


@contextmanager
def readable(place: str) -> Iterator[None]:
    """Raise StoreDamaged for a header of the store at *place* that is none."""
    try:
        yield
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise StoreDamaged(f"{place} has a header that cannot be read: {error}. {ANEW}") from error


def _absence(error: StoreError) -> StoreError:
    """Return why nobody is answered: what will not pass by itself, else StoreUnavailable, which may."""
    if isinstance(error, StoreMismatch | StoreDamaged | StoreUnavailable):
        return error
    return StoreUnavailable(str(error))
