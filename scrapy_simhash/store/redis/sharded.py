"""ShardedStore: a store cut into shards by scope, on a Redis Cluster. Each shard is a RedisStore."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from scrapy_simhash.exceptions import SettingError, StoreDamaged, StoreError, StoreMismatch, StoreUnavailable
from scrapy_simhash.notes import RULES, SITE, TRUST, Name, Note
from scrapy_simhash.page.fingerprint import digest
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import scope_of
from scrapy_simhash.store.base import Claim, Page, Posting, Run, Store
from scrapy_simhash.store.candidates import BLOCKS, FINGERPRINTS
from scrapy_simhash.store.damage import Damage
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.redis import layout
from scrapy_simhash.store.redis.connection import Servers
from scrapy_simhash.store.redis.line import meaning
from scrapy_simhash.store.redis.link import at_once
from scrapy_simhash.store.redis.nodes import Nodes, Shard, ShardLine
from scrapy_simhash.store.redis.replica import Compared
from scrapy_simhash.store.redis.store import TIMEOUT, RedisStore

#: How many shards a store has if nobody says so.
SHARDS = 1024
#: Seconds for which a text is known elsewhere if the store is kept for ever: 30 days.
KEPT = 30 * 24 * 3600
#: Seconds for which nobody asks after texts when a server did not answer: else pages would wait again and again.
_SILENT_TEXTS = 5.0
#: How many scopes a crawler keeps in memory if nobody says so.
SCOPES = 1000
#: Pages of which it is kept in which shard they are. Of others all shards are asked.
_PAGES = 100_000
#: Seconds for which nobody asks again whether the store is there.
_SILENT = 1.0


def shard_of(scope: str, shards: int) -> int:
    """Return the number of the shard of *scope*: the same everywhere and for ever.

    >>> shard_of("example.com", 1024)
    883
    """
    return int.from_bytes(digest(scope), "big") % shards


class ShardedStore(Store):
    """A :class:`~scrapy_simhash.store.base.Store` on the nodes of a Redis Cluster.

    Pages are compared within their scope, so a scope is in one shard, and a shard on one node. Of each shard the
    scopes that were asked for last are in memory. Where a server is away, its shards only are.
    """

    is_remote = True
    #: Not those of pages: where a page is that was not met before, all shards would be asked.
    note_kinds = (SITE, RULES, TRUST)

    def __init__(
        self,
        servers: Servers,
        prefix: str,
        header: Header | None,
        *,
        shards: int | None = None,
        scopes: int = SCOPES,
        across: bool = False,
        blocks: int = BLOCKS,
        expire: int = 0,
        live: int = 0,
        reset: bool = False,
        read_only: bool = False,
        timeout: float = TIMEOUT,
    ) -> None:
        """Make a store of the keys that begin with *prefix* and the number of a shard, in braces.

        *shards* None takes what is there, else ``SHARDS``. *scopes* are in memory at most. With *across* claims also
        say which page had their text first in any scope. The rest is as for `RedisStore`.

        Raises SettingError for a scope of pages that cannot be cut.
        """
        if header is not None and header.scope == "crawl" and (shards or SHARDS) > 1:
            raise SettingError(
                "SIMHASH_STORE names a cluster, whose nodes hold the shards of a store, and the shard of a page"
                " follows from its scope: with SIMHASH_SCOPE = 'crawl' all pages have the same. Set SIMHASH_SCOPE to"
                " domain or host, or add shards=1 to SIMHASH_STORE, which keeps all pages on one of the nodes"
            )
        if "{" in prefix:
            raise SettingError(f"SIMHASH_STORE: the prefix must not contain {{ on a cluster, got {prefix!r}")
        super().__init__(header)
        self._servers, self._prefix = servers, prefix
        self._wanted_shards, self._shards, self._scopes = shards, shards or SHARDS, scopes
        self._is_reset, self._is_read_only, self._across = reset, read_only, across
        self._options: dict[str, Any] = {
            "blocks": blocks,
            "expire": expire,
            "live": live,
            "read_only": read_only,
            "timeout": timeout,
        }
        self._nodes = Nodes(servers, self._tag, timeout)
        # Of all shards.
        self.damage: Damage = Damage(str(self))
        self._compared: Compared = Recent(FINGERPRINTS)
        self._token, self._started = os.urandom(layout.ID_BYTES), int(time.time())
        self._stores: dict[int, RedisStore] = {}
        # Pages by shard as of the beginning, and where a page is.
        self._pages: dict[int, int] = {}
        self._homes: Recent[bytes, int] = Recent(_PAGES)
        # Scopes in memory, those that were asked for last at the end.
        self._recent: OrderedDict[str, int] = OrderedDict()
        # Of the store until it is reset; by it what was kept of texts before is not found.
        self._store_id = ""
        self._texts_silent_until = 0.0
        self._is_met = False
        self._meeting = asyncio.Lock()
        self._absence: StoreError | None = None
        self._asked = 0.0

    def __str__(self) -> str:
        """Return where it is."""
        return f"the store {self._prefix!r} at {self._servers}"

    @property
    def index_size(self) -> int:
        """How many fingerprints can be found in the shards that were met, in memory or not."""
        return sum(store.index_size for store in self._stores.values())

    @property
    def absence(self) -> StoreError | None:
        """Why one of the servers cannot be asked, as of the last attempt; None while all can."""
        return self._absence or next((s.absence for s in self._stores.values() if s.absence), None)

    def __len__(self) -> int:
        """Return how many pages are known, as of the last answers."""
        return sum((self._pages | {shard: len(store) for shard, store in self._stores.items()}).values())

    def check(self) -> None:
        """Meet the servers now, waiting for them, where nobody can ``await``. See :meth:`RedisStore.check`.

        Raises StoreUnavailable also if one of them only is away.
        """
        at_once(self._check())

    async def claim(self, posting: Posting) -> Claim:
        """See :meth:`RedisStore.claim`."""
        self._check_writable()
        return await self._decide(posting, is_look=False)

    async def look(self, posting: Posting) -> Claim:
        """See :meth:`RedisStore.look`."""
        return await self._decide(posting, is_look=True)

    async def unsettle(self, keys: Collection[bytes]) -> None:
        """See :meth:`RedisStore.unsettle`. One trip a shard, of all that were met if a page is from long ago."""
        self._check_writable()
        by_shard: defaultdict[int, list[bytes]] = defaultdict(list)
        for key in keys:
            home = self._homes.get(key)
            for shard in self._stores if home is None else [home]:
                by_shard[shard].append(key)
        _first_error(await _gathered([self._stores[s].unsettle(its) for s, its in by_shard.items()]))

    async def get(self, key: bytes) -> Page | None:
        """See :meth:`RedisStore.get`. One trip, but all shards are asked for a page that was not met before."""
        for shard in await self._homes_of(key):
            page = await self._store(shard).get(key)
            if page is not None:
                self._homes[key] = shard
                numbers = self._numbers(shard, page.number, page.content, page.cluster)
                return page._replace(number=numbers[0], content=numbers[1], cluster=numbers[2])
        return None

    async def remove(self, key: bytes) -> bool:
        """See :meth:`RedisStore.remove`."""
        self._check_writable()
        return any([await self._store(shard).remove(key) for shard in await self._homes_of(key)])

    async def __aiter__(self) -> AsyncIterator[Posting]:
        """See :meth:`RedisStore.__aiter__`: one shard after the other."""
        for shard in await self._used():
            async for posting in self._store(shard):
                self._homes[posting.key] = shard
                yield posting

    async def audit(self, tell: Callable[[int], None]) -> list[str]:
        """Return the damaged records, as messages name them; *tell* hears how many postings were read so far."""
        found: list[str] = []
        read = last = 0

        def told(number: int) -> None:
            nonlocal last
            last = number
            tell(read + number)

        for shard in await self._used():
            last = 0
            found += [f"shard {shard}: {record}" for record in await self._store(shard).audit(told)]
            read += last
        return found

    async def note(self, kind: str, name: Name) -> tuple[int, bytes | None]:
        """See :meth:`Notes.note <scrapy_simhash.notes.Notes.note>`."""
        return await (await self._store_of_note(name)).note(kind, name)

    async def notes(self, kind: str) -> AsyncIterator[tuple[Name, bytes]]:
        """See :meth:`Notes.notes <scrapy_simhash.notes.Notes.notes>`: one shard after the other."""
        for shard in await self._used():
            async for note in self._store(shard).notes(kind):
                yield note

    async def replace_notes(self, kind: str, notes: Sequence[Note]) -> list[int | None]:
        """See :meth:`Notes.replace_notes <scrapy_simhash.notes.Notes.replace_notes>`: all at once."""
        stores = [await self._store_of_note(note.name) for note in notes]
        asked = [store.replace_notes(kind, [note]) for store, note in zip(stores, notes, strict=True)]
        return [version for versions in await asyncio.gather(*asked) for version in versions]

    async def runs(self) -> list[Run]:
        """See :meth:`Store.runs <scrapy_simhash.store.base.Store.runs>`. A crawl is one run, whatever its shards."""
        await self._ready()
        if not self._is_read_only:
            # This crawl is one, too, whatever its pages.
            await self._store(0).runs()
        keys = [(shard, ("HVALS", f"{self._tag(shard)}:runs")) for shard in range(self._shards)]
        found: defaultdict[bytes, list[Run]] = defaultdict(list)
        for records in await self._nodes.replies(keys):
            for record in _said(records, str(self), "HVALS"):
                with suppress(ValueError):
                    found[record[: layout.ID_BYTES]].append(layout.read_run(0, record))
        joined = []
        for runs in found.values():
            ends = [run.ended for run in runs if run.ended is not None]
            ended = max(ends) if len(ends) == len(runs) else None
            reason = None if ended is None else next(run.reason for run in runs)
            joined.append(Run(0, min(run.started for run in runs), ended, reason))
        joined.sort(key=lambda run: run.started)
        return [run._replace(number=number) for number, run in enumerate(joined, 1)]

    async def close(self, reason: str = "finished") -> None:
        """See :meth:`RedisStore.close`: the run ends in every shard that was met."""
        errors = await _gathered([store.close(reason) for store in self._stores.values()])
        await self._nodes.hang_up()
        _first_error(errors)

    async def abandon(self) -> None:
        """See :meth:`Store.abandon <scrapy_simhash.store.base.Store.abandon>`."""
        await _gathered([store.abandon() for store in self._stores.values()])
        await self._nodes.hang_up()

    async def _decide(self, posting: Posting, is_look: bool) -> Claim:
        await self._ready()
        shard = shard_of(posting.scope, self._shards)
        store = self._store(shard)
        self._touch(posting.scope, shard)
        self._homes[posting.key] = shard
        asked = (store.look if is_look else store.claim)(posting)
        if self._across:
            claim, first = await asyncio.gather(asked, self._first_elsewhere(posting, is_look))
            claim = claim._replace(elsewhere=first)
        else:
            claim = await asked
        former = claim.former
        if former is not None:
            former = former._replace(content=self._numbers(shard, former.content)[0])
        content, cluster = self._numbers(shard, claim.content, claim.cluster)
        return claim._replace(former=former, content=content, cluster=cluster)

    async def _first_elsewhere(self, posting: Posting, is_look: bool) -> str | None:
        """Return the URL that came first with the text of *posting*; None if it is this one, or nobody knows.

        A text is a small key in the shard that follows from its hash, whatever that of its page.
        """
        text_hash = posting.text_hash
        if text_hash is None or posting.is_short or time.monotonic() < self._texts_silent_until:
            return None
        shard = text_hash % self._shards
        key = f"{self._tag(shard)}:text:{self._store_id}:{text_hash:016x}"
        seconds = 0 if is_look else self._options["expire"] or KEPT
        try:
            line = ShardLine(self._nodes, shard, str(self), [key])
            kept = await line.ask("elsewhere", layout.encoded(posting.url), str(seconds))
        except StoreError:
            # It is no reason to lose a verdict.
            self._texts_silent_until = time.monotonic() + _SILENT_TEXTS
            return None
        return layout.decoded(kept) if kept else None

    def _numbers(self, shard: int, *numbers: int) -> list[int]:
        """Return the numbers that a shard has given, made different from those of all other shards."""
        return [number * self._shards + shard for number in numbers]

    def _store(self, shard: int) -> RedisStore:
        store = self._stores.get(shard)
        if store is None:
            line = partial(ShardLine, self._nodes, shard)
            part = Shard(line, self._compared, self.damage, self._token, self._started)
            store = RedisStore(self._servers, self._tag(shard), self._header, shard=part, **self._options)
            self._stores[shard] = store
        store.explains = self.explains
        return store

    def _touch(self, scope: str, shard: int) -> None:
        """Note that *scope* is in use, and let go of the one that was not for the longest time."""
        self._recent[scope] = shard
        self._recent.move_to_end(scope)
        if len(self._recent) > self._scopes:
            idle, its_shard = self._recent.popitem(last=False)
            self._stores[its_shard].forget(idle)

    async def _used(self) -> list[int]:
        """Return the shards that there is something in."""
        await self._ready()
        names = [(shard, ("EXISTS", *layout.names_of(self._tag(shard)))) for shard in range(self._shards)]
        replies = await self._nodes.replies(names)
        return [shard for shard, reply in enumerate(replies) if _said(reply, str(self), "EXISTS")]

    async def _homes_of(self, key: bytes) -> Collection[int]:
        await self._ready()
        home = self._homes.get(key)
        if home is not None:
            return [home]
        pages = [(shard, ("HEXISTS", f"{self._tag(shard)}:pages", key)) for shard in range(self._shards)]
        replies = await self._nodes.replies(pages)
        return [shard for shard, reply in enumerate(replies) if _said(reply, str(self), "HEXISTS")]

    async def _check(self) -> None:
        try:
            await self._meet()
        except StoreUnavailable as error:
            self._absence = error
            raise
        finally:
            # They belong to an event loop that ends with this.
            await self._nodes.hang_up()

    async def _ready(self) -> None:
        """Meet the servers if ``check`` did not. Raises StoreUnavailable, at once if it did not help just now."""
        if self._is_met:
            self._absence = None
            return
        async with self._meeting:
            if self._is_met:
                return
            if self._absence is not None and time.monotonic() - self._asked < _SILENT:
                raise type(self._absence)(str(self._absence))
            try:
                await self._meet()
            except StoreError as error:
                self._absence = error
                self._asked = time.monotonic()
                await self._nodes.refresh()
                raise
            self._absence = None

    async def _meet(self) -> None:
        """Agree with all other crawlers on what the store is for and how many shards it has, and count its pages.

        Raises StoreMismatch, StoreDamaged or StoreError, and then nothing was changed.
        """
        place, key = str(self), f"{self._tag(0)}:shards"

        async def ask(*command: Any) -> Any:
            return _said(await self._nodes.reply(0, *command), place, command[0])

        kept = await ask("GET", key)
        if kept and self._is_reset:
            # Of an earlier release only the number of shards must be readable.
            with _readable(place):
                shards = int(json.loads(kept)["shards"])
            unlink = [(n, ("UNLINK", *layout.names_of(self._tag(n)))) for n in range(shards)]
            for reply in await self._nodes.replies(unlink):
                _said(reply, place, "UNLINK")
            await ask("DEL", key)
            kept = None
        if kept is None:
            if self._header is None:
                raise StoreError(f"no such store: {place.removeprefix('the store ')}")
            about = {"header": self._header.to_dict(), "shards": self._shards, "id": os.urandom(4).hex()}
            kept = json.dumps(about, sort_keys=True).encode()
            if not self._is_read_only:
                # Who comes first decides, and all others find that.
                await ask("SET", key, kept, "NX")
                kept = await ask("GET", key) or kept
        with _readable(place):
            about = json.loads(kept)
            header, shards, store_id = (
                Header.from_dict(about["header"]),
                int(about["shards"]),
                str(about["id"]),
            )
        if self._header is not None:
            header.check(self._header, place)
        if self._wanted_shards not in (None, shards):
            raise StoreMismatch(
                f"{place} has {shards:,} shards, not {self._wanted_shards:,}. Nothing was changed. Set SIMHASH_STORE"
                f" to it with shards={shards}, or export the store and import it into another one"
            )
        self._header, self._shards, self._store_id = header, shards, store_id
        self._is_met, self._is_reset = True, False
        counts = await self._nodes.replies([(n, ("HLEN", f"{self._tag(n)}:pages")) for n in range(shards)])
        self._pages = {shard: count for shard, count in enumerate(counts) if isinstance(count, int)}
        _said(next((count for count in counts if isinstance(count, Exception)), None), place, "HLEN")

    def _tag(self, shard: int) -> str:
        return f"{{{self._prefix}:{shard}}}"

    async def _store_of_note(self, name: Name) -> RedisStore:
        """Return the shard of what is known of a host: that of its pages, if their scope says so by its name."""
        await self._ready()
        scope = self.header.scope if self.header.scope in ("crawl", "host") else "domain"
        return self._store(shard_of(scope_of(f"http://{name!s}/", scope), self._shards))

    def _check_writable(self) -> None:
        if self._is_read_only:
            raise StoreError(f"{self} was opened read-only")


async def _gathered(steps: Sequence[Awaitable[None]]) -> list[BaseException]:
    """Take *steps* at once, and return what went wrong."""
    done = await asyncio.gather(*steps, return_exceptions=True)
    return [error for error in done if error is not None]


def _first_error(errors: Sequence[BaseException]) -> None:
    if errors:
        raise errors[0]


def _said(reply: Any, place: str, command: str) -> Any:
    """Return *reply*; raise the StoreError of an exception in place of it."""
    if isinstance(reply, Exception):
        raise meaning(reply, place, command) from reply
    return reply


@contextmanager
def _readable(place: str) -> Iterator[None]:
    """Raise StoreDamaged for a record about the store at *place* that is none."""
    try:
        yield
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise StoreDamaged(f"{place} has a header that cannot be read: {error}. {layout.ANEW}") from error
