"""Stores as commands know them: their methods wait, and a walk goes from one end to the other.

What a signal raises hits whatever runs at that moment. In an event loop that may be anything, such as the task that
reads answers for all others, which would take it for a fault of the connection: `HeldBack` lets signals wait there.

A walk has an order in which another store can take all in. Originals differ from each other, whatever their order.
What repeats one of them must come after it, and pages that were visited once came in just that order. The others are
*late*: a page that said something of its own before it came to repeat another one, as its cluster may be younger than
it is, and a page that repeats what was removed. Late pages follow at the end, so that each finds the original that it
had, and not itself a new one.
"""

from __future__ import annotations

import signal
from asyncio import AbstractEventLoop, gather
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from inspect import isawaitable
from itertools import groupby, islice
from types import FrameType, TracebackType
from typing import Any, NamedTuple, TypeVar, cast

from scrapy_simhash.exceptions import RecordDamaged
from scrapy_simhash.store import AsyncStore, KeepsSites, Page, Posting, SharesSites, Store, change_site

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class HeldBack:
    """A context, to be entered again and again, in which signals wait; at its end the first of them is handled.

    Outside of it, and after ``release``, they are handled as before.
    """

    def __init__(self) -> None:
        """Take the place of the handlers that there are; only the main thread can do that."""
        numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
        # Others than functions ignore a signal, or end the process: they hit nothing.
        self._handlers = {
            number: handler for number in numbers if callable(handler := signal.getsignal(number))
        }
        self._is_inside = False
        self._waiting: tuple[int, FrameType | None] | None = None
        for number in self._handlers:
            signal.signal(number, self._handle)

    def release(self) -> None:
        """Put the handlers back."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def __enter__(self) -> None:
        """Let signals wait."""
        self._is_inside = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Handle what has waited."""
        self._is_inside = False
        if self._waiting is not None:
            (number, frame), self._waiting = self._waiting, None
            self._handle(number, frame)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._is_inside:
            self._waiting = self._waiting or (number, frame)
        else:
            self._handlers[number](number, frame)


#: Postings that are asked for at once.
BATCH = 256

_T = TypeVar("_T")


def blocking(
    store: AsyncStore, loop: AbstractEventLoop, guard: AbstractContextManager[None] | None = None
) -> Store:
    """Return *store* as one whose methods wait: their coroutines run in *loop*, one after another.

    That costs some 20 µs a call, beside a round trip. The loop, which is its owner's, runs within *guard*, a context
    that is entered again and again.
    """
    kind = _BlockingSites if isinstance(store, SharesSites) else _Blocking
    # What it forwards, no checker of types can see.
    return cast(Store, kind(store, loop, nullcontext() if guard is None else guard))


class _Blocking:
    """Has what an `AsyncStore` has; what a method would be awaited for, it returns."""

    def __init__(self, store: Any, loop: AbstractEventLoop, guard: AbstractContextManager[None]) -> None:
        self._store = store
        self._loop = loop
        self._guard = guard

    def __getattr__(self, name: str) -> Any:
        # It has no __aiter__: by that an AsyncStore is told.
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._store, name)
        return partial(self._called, found) if callable(found) else found

    def __len__(self) -> int:
        return len(self._store)

    def __iter__(self) -> Iterator[Posting]:
        return self._all(aiter(self._store))

    def get_many(self, keys: Sequence[bytes]) -> list[Page | None]:
        """Return what ``get`` does for each of *keys*, asked for at once; None for a damaged page."""
        return [_page_or_none(page) for page in self._wait(self._gathered(keys))]

    async def _gathered(self, keys: Sequence[bytes]) -> list[Any]:
        return await gather(*map(self._store.get, keys), return_exceptions=True)

    def _all(self, ones: AsyncIterator[_T]) -> Iterator[_T]:
        while batch := self._wait(_some(ones)):
            yield from batch

    def _called(self, method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        answer = method(*arguments, **named)
        return self._wait(answer) if isawaitable(answer) else answer

    def _wait(self, answer: Awaitable[_T]) -> _T:
        with self._guard:
            return self._loop.run_until_complete(answer)


class _BlockingSites(_Blocking):
    """The same of a store that also keeps what was learned about sites: a `KeepsSites`."""

    def load_site(self, host: str) -> bytes | None:
        version_and_profile: tuple[bytes, bytes | None] = self._wait(self._store.load_site(host))
        return version_and_profile[1]

    def keep_sites(self, profiles: Iterable[tuple[str, bytes]]) -> None:
        for host, profile in profiles:
            self.change_site(host, lambda _, profile=profile: profile)  # type: ignore[misc]

    def change_site(self, host: str, change: Callable[[bytes | None], bytes | None]) -> None:
        """Keep what *change* makes of the profile of *host*, whoever writes it meanwhile; nothing if it is None."""
        self._wait(change_site(self._store, host, change))

    def sites(self) -> Iterator[tuple[str, bytes]]:
        return self._all(self._store.sites())


def change_kept(store: KeepsSites, host: str, change: Callable[[bytes | None], bytes | None]) -> None:
    """Keep what *change* makes of what *store* has of *host*, None for nothing; where it is shared, in one step."""
    if isinstance(store, _BlockingSites):
        store.change_site(host, change)
    elif (data := change(store.load_site(host))) is not None:
        store.keep_sites([(host, data)])


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
    if isinstance(store, _Blocking):
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


class WalkEntry(NamedTuple):
    """A posting of the store."""

    posting: Posting
    page: Page | None
    """The page that it is the present state of; None for what a page said before."""


def walk(store: Store) -> Iterator[WalkEntry]:
    """Yield every posting of *store*, and with the last one of a page what is known about that page.

    Memory for a few hundred pages at a time, and 60 bytes for each late page.
    """
    late: list[bytes] = []
    for batch in _batches(groupby(store, key=lambda posting: posting.key)):
        known = pages_of(store, [key for key, _ in batch])
        for (key, postings), page in zip(batch, known, strict=True):
            *formers, latest = postings
            for former in formers:
                yield WalkEntry(former, None)
            if page is not None and _is_late(page, bool(formers)):
                late.append(key)
            else:
                yield WalkEntry(latest, page)
    for start in range(0, len(late), BATCH):
        for page in pages_of(store, late[start : start + BATCH]):
            if page is not None:
                yield WalkEntry(page.posting, page)


def _batches(
    groups: Iterable[tuple[bytes, Iterable[Posting]]],
) -> Iterator[list[tuple[bytes, list[Posting]]]]:
    lists = ((key, list(postings)) for key, postings in groups)
    while batch := list(islice(lists, BATCH)):
        yield batch


def _is_late(page: Page, has_formers: bool) -> bool:
    if page.cluster == page.number:
        return False
    return has_formers or page.cluster > page.number or page.original is None
