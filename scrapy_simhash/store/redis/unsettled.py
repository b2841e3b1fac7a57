"""Unsettled: tells the server which pages this run does not settle, and once more what it may have lost of that."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection
from struct import Struct

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.store.redis.link import Link

#: Seconds that a server may lose when it dies: with ``appendfsync everysec`` two, and more where its disk is busy.
_FORGOTTEN = 10
#: How often a server may lose what it knew while it is told.
_LOSSES = 5
#: Store, run, its token.
_HEAD = Struct(">8sI8s")
_STORED = b"S"


class Unsettled:
    """What the server was told of late. A server that died meanwhile is told that again before the run ends."""

    def __init__(self, link: Link) -> None:
        self._link = link
        # Each with its moment; and how often the link had been opened by then.
        self._told: deque[tuple[float, Collection[bytes]]] = deque()
        self._openings = 0

    async def tell(self, keys: Collection[bytes] = ()) -> None:
        """Tell the server of *keys*, and of what it may have lost. One trip, none if there is nothing to tell.

        Raises StoreUnavailable; then all of it is told with the next call that works, but for *keys*.
        """
        for _ in range(_LOSSES):
            replica = await self._link.ready()
            opened, openings = self._link.opened, self._link.openings
            assert opened is not None
            again = self._told if openings != self._openings else ()
            named = {*keys, *(key for _, told in again for key in told)}
            head = _HEAD.pack(replica.store_id, opened.run, self._link.request.token)
            if not named or await self._link.ask("unsettle", head, *named) == _STORED:
                self._openings = openings
                now = time.monotonic()
                self._told.append((now, named))
                while self._told[0][0] < now - _FORGOTTEN:
                    self._told.popleft()
                return
            self._link.lost(replica)
        raise StoreUnavailable(f"{self._link.request.place} loses stored pages again and again")
