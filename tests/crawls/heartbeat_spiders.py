"""A spider with a heart: a coroutine beside the crawl that notes how long it could not beat."""

from __future__ import annotations

import asyncio
from time import thread_time
from typing import Any

from tests.crawls.spiders import Visitor

#: Seconds between two beats, if nothing holds it up.
PAUSE = 0.005


class Heart(Visitor):
    """Notes how many beats there were, and the most processor time that the event loop spent between two."""

    name = "heart"

    async def start(self) -> Any:
        self.beating = asyncio.create_task(self._beat())
        async for request in super().start():
            yield request

    async def _beat(self) -> None:
        longest, beats, last = 0.0, 0, thread_time()
        while True:
            self.notes[:] = [longest, beats]
            await asyncio.sleep(PAUSE)
            longest, beats, last = max(longest, thread_time() - last), beats + 1, thread_time()

    def closed(self, reason: str) -> None:
        self.beating.cancel()
