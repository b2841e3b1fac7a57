"""An `AsyncStore` for code that waits for each answer: the commands know one kind of store, not two."""

from __future__ import annotations

from asyncio import AbstractEventLoop, gather
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import Any, TypeVar, cast

from scrapy_simhash.exceptions import RecordDamaged
from scrapy_simhash.store import (
    AsyncStore,
    Claim,
    Header,
    Page,
    Posting,
    Run,
    SharesSites,
    Store,
    change_site,
)
from scrapy_simhash.store.damage import Damage

#: Postings that are asked for at once.
BATCH = 256

_T = TypeVar("_T")


class BlockingStore:
    """A :class:`~scrapy_simhash.store.Store` that runs the coroutines of *store* in *loop*, one after another.

    That costs some 20 µs a call, beside a round trip. The loop runs within *guard*, a context that is entered again
    and again.
    """

    def __init__(
        self,
        store: AsyncStore,
        loop: AbstractEventLoop,
        guard: AbstractContextManager[None] | None = None,
    ) -> None:
        self._store = store
        self._loop = loop
        self._guard = nullcontext() if guard is None else guard

    @property
    def header(self) -> Header:
        """See :attr:`Store.header <scrapy_simhash.store.base.Store.header>`."""
        return self._store.header

    @property
    def index_size(self) -> int:
        """See :attr:`Store.index_size <scrapy_simhash.store.base.Store.index_size>`; as of the last answer."""
        return self._store.index_size

    def __len__(self) -> int:
        """Return how many pages are known, as of the last answer."""
        return len(self._store)

    def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`."""
        return self._wait(self._store.claim(posting))

    def look(self, posting: Posting) -> Claim:
        """See :meth:`Store.look <scrapy_simhash.store.base.Store.look>`."""
        return self._wait(self._store.look(posting))

    def unsettle(self, keys: Collection[bytes]) -> None:
        """See :meth:`Store.unsettle <scrapy_simhash.store.base.Store.unsettle>`."""
        self._wait(self._store.unsettle(keys))

    def get(self, key: bytes) -> Page | None:
        """See :meth:`Store.get <scrapy_simhash.store.base.Store.get>`."""
        return self._wait(self._store.get(key))

    def get_many(self, keys: Sequence[bytes]) -> list[Page | None]:
        """Return what ``get`` does for each of *keys*, asked for at once."""
        return self._wait(self._get_many(keys))

    @property
    def damage(self) -> Damage | None:
        """The records that could not be read, None from a store that does not tell."""
        return getattr(self._store, "damage", None)

    def audit(self, tell: Callable[[int], None]) -> list[str]:
        """See :meth:`Audited.audit <scrapy_simhash.store.base.Audited.audit>`."""
        return self._wait(cast(Any, self._store).audit(tell))

    def remove(self, key: bytes) -> bool:
        """See :meth:`Store.remove <scrapy_simhash.store.base.Store.remove>`."""
        return self._wait(self._store.remove(key))

    def __iter__(self) -> Iterator[Posting]:
        """See :meth:`Store.__iter__ <scrapy_simhash.store.base.Store.__iter__>`."""
        return self._all(aiter(self._store))

    def runs(self) -> list[Run]:
        """See :meth:`Store.runs <scrapy_simhash.store.base.Store.runs>`."""
        return self._wait(self._store.runs())

    def close(self, reason: str = "finished") -> None:
        """See :meth:`Store.close <scrapy_simhash.store.base.Store.close>`; the loop is its owner's."""
        self._wait(self._store.close(reason))

    def abandon(self) -> None:
        """See :meth:`Store.abandon <scrapy_simhash.store.base.Store.abandon>`; the loop is its owner's."""
        self._wait(self._store.abandon())

    def _all(self, ones: AsyncIterator[_T]) -> Iterator[_T]:
        while batch := self._wait(_some(ones)):
            yield from batch

    def _wait(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        with self._guard:
            return self._loop.run_until_complete(coroutine)

    async def _get_many(self, keys: Sequence[bytes]) -> list[Page | None]:
        found = await gather(*map(self._store.get, keys), return_exceptions=True)
        return [_page_or_none(page) for page in found]


class BlockingSites(BlockingStore):
    """The same of a store that also keeps what was learned about sites."""

    def load_site(self, host: str) -> bytes | None:
        """See :meth:`KeepsSites.load_site <scrapy_simhash.store.base.KeepsSites.load_site>`."""
        return self._wait(cast(SharesSites, self._store).load_site(host))[1]

    def keep_sites(self, profiles: Iterable[tuple[str, bytes]]) -> None:
        """See :meth:`KeepsSites.keep_sites <scrapy_simhash.store.base.KeepsSites.keep_sites>`."""
        for host, profile in profiles:
            self.change_site(host, partial(_in_place, profile))

    def change_site(self, host: str, change: Callable[[bytes | None], bytes | None]) -> None:
        """Keep what *change* makes of the profile of *host*, whoever writes it meanwhile; nothing if it is None."""
        self._wait(change_site(cast(SharesSites, self._store), host, change))

    def sites(self) -> Iterator[tuple[str, bytes]]:
        """See :meth:`KeepsSites.sites <scrapy_simhash.store.base.KeepsSites.sites>`."""
        return self._all(cast(SharesSites, self._store).sites())


def _in_place(profile: bytes, kept: bytes | None) -> bytes | None:
    """Return *profile*, whatever was kept."""
    return profile


async def _some(ones: AsyncIterator[_T]) -> list[_T]:
    """Return the next *ones*, none at the end."""
    batch: list[_T] = []
    async for one in ones:
        batch.append(one)
        if len(batch) == BATCH:
            break
    return batch


def pages_of(store: Store, keys: Sequence[bytes]) -> list[Page | None]:
    """Return what *store* knows about each of *keys*, None for a damaged page; in one round trip if there is one."""
    if isinstance(store, BlockingStore):
        return store.get_many(keys)
    pages = []
    for key in keys:
        page = None
        with suppress(RecordDamaged):
            page = store.get(key)
        pages.append(page)
    return pages


def _page_or_none(found: Page | BaseException | None) -> Page | None:
    if isinstance(found, BaseException):
        if isinstance(found, RecordDamaged):
            return None
        raise found
    return found
