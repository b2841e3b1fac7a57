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
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from inspect import isawaitable
from itertools import groupby, islice
from types import FrameType, TracebackType
from typing import Any, NamedTuple, TypeVar, cast

from scrapy_simhash.exceptions import RecordDamaged
from scrapy_simhash.notes import change
from scrapy_simhash.store import Page, Posting, Store
from scrapy_simhash.waiting import awaited, finished

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


class Waited:
    """A store whose methods answer at once, whatever it is: what is to be awaited runs to its end.

    It has what a `Store` has, and yields where that is iterated over asynchronously. A remote one runs in *loop*, one
    coroutine after another, within *guard*, a context that is entered again and again: some 20 µs a call, beside a
    round trip.
    """

    #: Not for whoever asks: there is nothing to wait for.
    is_remote = False

    def __init__(
        self,
        store: Store,
        loop: AbstractEventLoop | None = None,
        guard: AbstractContextManager[None] | None = None,
    ) -> None:
        self._store = store
        self._loop = loop
        self._guard = nullcontext() if guard is None else guard

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return partial(self._called, found) if callable(found) else found

    def __len__(self) -> int:
        return len(self._store)

    def __iter__(self) -> Iterator[Posting]:
        store: Any = self._store
        return self._all(aiter(store)) if store.is_remote else iter(store)

    def as_store(self) -> Store:
        """Return it for whoever wants a `Store`: what it forwards, no checker of types can see."""
        return cast(Store, self)

    def pages(self) -> Iterator[Page]:
        """Yield every page as it is at its latest visit."""
        if not self._store.is_remote:
            return cast("Iterator[Page]", self._store.pages())
        return (entry.page for entry in walk(self) if entry.page is not None)

    def get_many(self, keys: Sequence[bytes]) -> list[Page | None]:
        """Return what ``get`` does for each of *keys*, asked for at once; None for a damaged page."""
        if self._store.is_remote:
            return self._wait(self._gathered(keys))
        return [finished(self._page(key)) for key in keys]

    def change(self, kind: str, name: str, changed: Callable[[bytes | None], bytes | None]) -> None:
        """See :func:`scrapy_simhash.notes.change`."""
        self._wait(change(self._store, kind, name, changed))

    async def _gathered(self, keys: Sequence[bytes]) -> list[Page | None]:
        return await gather(*map(self._page, keys))

    async def _page(self, key: bytes) -> Page | None:
        with suppress(RecordDamaged):
            return await awaited(self._store.get(key))
        return None

    def _all(self, ones: AsyncIterator[_T]) -> Iterator[_T]:
        while batch := self._wait(_some(ones)):
            yield from batch

    def _called(self, method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        answer = method(*arguments, **named)
        if isinstance(answer, AsyncIterator):
            return self._all(answer)
        return self._wait(awaited(answer)) if isawaitable(answer) else answer

    def _wait(self, answer: Coroutine[Any, Any, _T]) -> _T:
        if self._loop is None:
            return finished(answer)
        with self._guard:
            return self._loop.run_until_complete(answer)


async def _some(ones: AsyncIterator[_T]) -> list[_T]:
    """Return the next *ones*, none at the end."""
    batch: list[_T] = []
    async for one in ones:
        batch.append(one)
        if len(batch) == BATCH:
            break
    return batch


class WalkEntry(NamedTuple):
    """A posting of the store."""

    posting: Posting
    page: Page | None
    """The page that it is the present state of; None for what a page said before."""


def walk(store: Waited) -> Iterator[WalkEntry]:
    """Yield every posting of *store*, and with the last one of a page what is known about that page.

    Memory for a few hundred pages at a time, and 60 bytes for each late page.
    """
    late: list[bytes] = []
    for batch in _batches(groupby(store, key=lambda posting: posting.key)):
        known = store.get_many([key for key, _ in batch])
        for (key, postings), page in zip(batch, known, strict=True):
            *formers, latest = postings
            for former in formers:
                yield WalkEntry(former, None)
            if page is not None and _is_late(page, bool(formers)):
                late.append(key)
            else:
                yield WalkEntry(latest, page)
    for start in range(0, len(late), BATCH):
        for page in store.get_many(late[start : start + BATCH]):
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
