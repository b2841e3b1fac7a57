"""A crawler of ``chaos``: claims pages whose cluster is known, and tells over a pipe what it asked and what it heard.

What went into the pipe outlives the crawler, however that ends. Nothing but StoreUnavailable, and StoreLocked while
another crawler has the file, may come out of a store; anything else ends the crawler, which tells of it.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable
from functools import partial
from inspect import isawaitable
from multiprocessing.connection import Connection
from random import Random
from typing import TypeVar

from scrapy_simhash import Fingerprint
from scrapy_simhash.exceptions import RecordDamaged, StoreLocked, StoreUnavailable
from scrapy_simhash.page.fingerprint import FACTS_AT
from scrapy_simhash.page.fingerprint.facts import NONE
from scrapy_simhash.store import Header, Posting, Store
from scrapy_simhash.store.redis import RedisStore
from scrapy_simhash.store.sqlite import SqliteStore, checkpoints

#: Prefix of the keys in Redis.
PREFIX = "chaos"
#: Redis: seconds that an answer may take, and claims under way.
TIMEOUT, AT_ONCE = 0.3, 8
#: Claims between two closings of the store.
LIFE = 400
#: Pages that each crawler has of a cluster before it goes on to the next one.
PER_CLUSTER = 3
#: Shares: pages that all crawlers claim, claims of pages that were claimed before, claimed pages that are delivered.
SHARED, AGAIN, DELIVERED = 0.2, 0.3, 0.1
#: Seconds until a store that was not there is asked again; for which the file is left to others after a closing.
SOON, LEFT = 0.02, 0.05

_T = TypeVar("_T")


def page_of(crawler: int, number: int) -> str:
    """Return the key of a crawler's page; some are the same for all crawlers."""
    return f"{'all' if Random(number).random() < SHARED else crawler}-{number}"


def cluster_of(key: str) -> int:
    """Return which cluster a page is of."""
    return number_of(key) // PER_CLUSTER


def number_of(key: str) -> int:
    """Return the number of a page, which a crawler counts up.

    >>> number_of(page_of(2, 17))
    17
    """
    return int(key.rpartition("-")[2])


def posting_of(key: str, seen: int) -> Posting:
    """Return what is claimed for a page: *seen* tells one claim from all others.

    Pages of a cluster differ in two bits at the most, pages of two clusters in about half of them.
    """
    draw = Random(f"cluster {cluster_of(key)}")
    value, sketch = draw.getrandbits(64), draw.randbytes(FACTS_AT) + NONE
    bit = Random(key).randrange(64)
    # Pages with the same text have the same fingerprint.
    page_hash = value ^ 1 << bit
    fingerprint = Fingerprint(page_hash, sketch=sketch)
    return Posting(key.encode(), url_of(key), "", fingerprint, False, page_hash, seen)


def url_of(key: str) -> str:
    """Return the URL of a page.

    >>> key_of(url_of("2-17"))
    '2-17'
    """
    return f"https://chaos.example/{key}"


def key_of(url: str) -> str:
    """Return the key of the page at a URL."""
    return url.rpartition("/")[2]


def crawl(place: str, crawler: int, seed: int, number: int, seen: int, pipe: Connection) -> None:
    """Claim pages, until the pipe says to stop. For a process of its own.

    *place* is a file, or a redis:// URL; *number* and *seen* are those of the latest page and claim that a former
    process of this crawler told of. What it tells, beside ``("failed", traceback)``:

    * ``("tried", key, seen, time)`` before a claim, ``("heard", seen, time, claim)`` or ``("refused", seen, why)``
      after it; times are in nanoseconds, the same clock for all processes;
    * ``("delivering", key)`` before that is stored;
    * ``("closing",)`` and ``("closed",)``, around the end of the store's run, whether it is noted or not.
    """
    # A hundred times as often as else.
    checkpoints.EVERY, checkpoints.LONG = 10, 100
    try:
        asyncio.run(_Crawler(place, crawler, seed, number, seen, pipe).live())
    except BaseException:
        pipe.send(("failed", traceback.format_exc()))
        raise


class _Crawler:
    def __init__(self, place: str, crawler: int, seed: int, number: int, seen: int, pipe: Connection) -> None:
        self._place = place
        self._crawler = crawler
        self._draw = Random(f"{seed} {crawler} {seen}")
        self._number = number
        self._seen = seen
        self._pipe = pipe
        self._under_way: set[str] = set()
        self._left = 0

    async def live(self) -> None:
        """Open the store, claim, close it, until there is a word to stop."""
        while not self._pipe.poll():
            try:
                store = self._open()
            except (StoreLocked, StoreUnavailable):
                await asyncio.sleep(self._draw.uniform(0, SOON))
                continue
            self._left = LIFE
            claimers = AT_ONCE if store.is_remote else 1
            await asyncio.gather(*[self._claim_on(store) for _ in range(claimers)])
            self._pipe.send(("closing",))
            await self._is_done(store.close)
            self._pipe.send(("closed",))
            await asyncio.sleep(LEFT)

    def _open(self) -> Store:
        if self._place.startswith("redis:"):
            return RedisStore(self._place, PREFIX, Header(), timeout=TIMEOUT)
        return SqliteStore(self._place)

    async def _claim_on(self, store: Store) -> None:
        while self._left > 0:
            self._left -= 1
            key = self._next()
            self._under_way.add(key)
            while not await self._is_claimed(store, key):
                if self._pipe.poll():
                    return
                await asyncio.sleep(SOON)
            if self._draw.random() < DELIVERED:
                self._pipe.send(("delivering", key))
                await self._is_done(partial(store.deliver, {key.encode(): posting_of(key, 0).own_page_hash}))
            self._under_way.discard(key)
            if self._pipe.poll():
                return

    def _next(self) -> str:
        if self._draw.random() < AGAIN:
            key = page_of(self._crawler, self._draw.randrange(self._number + 1))
            # What one crawler tells of a page has an order.
            if key not in self._under_way:
                return key
        self._number += 1
        return page_of(self._crawler, self._number)

    async def _is_claimed(self, store: Store, key: str) -> bool:
        # Not of another crawler: the store tells one claim from another by it.
        self._seen += 1
        seen = self._seen
        self._pipe.send(("tried", key, seen, time.monotonic_ns()))
        try:
            claim = await _answer(store.claim(posting_of(key, seen)))
        except RecordDamaged:
            raise
        except StoreUnavailable as error:
            self._pipe.send(("refused", seen, str(error)))
            return False
        self._pipe.send(("heard", seen, time.monotonic_ns(), claim))
        return True

    async def _is_done(self, ask: Callable[[], Awaitable[None] | None]) -> bool:
        try:
            await _answer(ask())
        except RecordDamaged:
            raise
        except StoreUnavailable:
            return False
        return True


async def _answer(said: _T | Awaitable[_T]) -> _T:
    return await said if isawaitable(said) else said
