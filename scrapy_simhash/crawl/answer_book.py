"""AnswerBook: what a store keeps of the answers of pages, found and put there, whether it is here or elsewhere."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from scrapy_simhash.detector import is_async
from scrapy_simhash.exceptions import StoreError
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.verdict import Reason, Status, Verdict

if TYPE_CHECKING:
    from scrapy_simhash.observers.recrawl import Answer
    from scrapy_simhash.store import Answered, AsyncStore, Store

#: Answers that are put into the store together: a kill loses no more, and their pages are fetched in full again.
TOGETHER = 50


class AnswerBook:
    """Answers in *store*, which keeps some."""

    def __init__(self, store: Store | AsyncStore) -> None:
        self._store: Any = store
        self._is_elsewhere = is_async(store)
        self._waiting: list[tuple[bytes, int, bytes, bytes]] = []
        self._telling: asyncio.Task[None] | None = None

    async def find(self, key: bytes) -> Answered | None:
        """Return what is known of a page, None if nothing is. Raises StoreUnavailable."""
        found: Answered | None = await _now(self._store.answer(key))
        return found

    def put(self, key: bytes, answer: Answer, requests: bytes) -> None:
        """Put the answer of a visit of this moment into the store, with others.

        What gets lost is fetched in full next time.
        """
        self._waiting.append((key, int(time.time()), answer.to_bytes(), requests))
        if len(self._waiting) < TOGETHER:
            return
        if not self._is_elsewhere:
            with suppress(StoreError):
                self._store.keep_answers(self._taken())
        elif self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def finish(self) -> None:
        """Put there what still waits."""
        if self._telling is not None:
            await asyncio.wait([self._telling])
        await self._tell()

    async def _tell(self) -> None:
        with suppress(StoreError):
            while self._waiting:
                await _now(self._store.keep_answers(self._taken()))

    def _taken(self) -> list[tuple[bytes, int, bytes, bytes]]:
        taken, self._waiting = self._waiting, []
        return taken


def verdict_of(answered: Answered) -> Verdict:
    """Return the verdict on a page that has the text of its last visit.

    Nothing is compared: what the page repeats is what it repeated then.
    """
    is_short = answered.is_short
    return Verdict(
        Status.REVISIT,
        None if is_short else Fingerprint(answered.value),
        answered.original,
        None if is_short else 0,
        cluster=None if is_short and answered.original is None else answered.cluster,
        reason=Reason.UNCHANGED,
        last_seen=answered.seen,
        is_settled=True,
    )


async def _now(answer: Any) -> Any:
    """Return the answer of a store, waiting for one that is elsewhere."""
    return await answer if isawaitable(answer) else answer
