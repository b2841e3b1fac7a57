"""Elsewhere: which URL came first with a text, in any scope: a small key a text, which is forgotten in time."""

from __future__ import annotations

import time
from collections.abc import Callable

from scrapy_simhash.exceptions import StoreError
from scrapy_simhash.store.base import Posting
from scrapy_simhash.store.redis.layout import decoded, encoded
from scrapy_simhash.store.redis.nodes import Nodes, ShardLine

#: Seconds for which a text is known if the store is kept for ever: 30 days.
KEPT = 30 * 24 * 3600
#: Seconds for which nobody asks after a server did not answer: else pages would wait for it again and again.
_SILENT = 5.0


class Elsewhere:
    """The texts of the store *store_id*, each in the shard that follows from its hash, whatever that of its page.

    *place* names the store; *tag_of* returns how keys of a shard begin. Texts are kept for *expire* seconds. When a
    store is reset, its id is another one, and what was kept for the former is not found.
    """

    def __init__(
        self, nodes: Nodes, place: str, tag_of: Callable[[int], str], shards: int, store_id: str, expire: int
    ) -> None:
        self._nodes, self._place, self._tag_of = nodes, place, tag_of
        self._shards, self._store_id = shards, store_id
        self._expire = expire or KEPT
        self._silent_until = 0.0

    async def first(self, posting: Posting, is_look: bool) -> str | None:
        """Return the URL that came first with the text of *posting*; None if it is this one, or nobody knows."""
        text_hash = posting.text_hash
        if text_hash is None or posting.is_short or time.monotonic() < self._silent_until:
            return None
        shard = text_hash % self._shards
        key = f"{self._tag_of(shard)}:text:{self._store_id}:{text_hash:016x}"
        line = ShardLine(self._nodes, shard, self._place, [key])
        try:
            kept = await line.ask("elsewhere", encoded(posting.url), "0" if is_look else str(self._expire))
        except StoreError:
            # It is no reason to lose a verdict.
            self._silent_until = time.monotonic() + _SILENT
            return None
        return decoded(kept) if kept else None
