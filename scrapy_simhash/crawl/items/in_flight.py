"""Items on their way through later pipelines: which of them are lost there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrapy_simhash.recent import Recent

#: Items beyond which the oldest is no longer waited for: if a later pipeline hands on another object, nobody can tell
#: that it has arrived.
MOST = 10_000


class InFlight:
    """Knows the items that have been checked and have not arrived yet, as objects and by their key.

    >>> on_the_way, kettle = InFlight(), {"name": "Kettle"}
    >>> on_the_way.add(kettle, b"1")
    >>> on_the_way.lose({"name": "another"}, lambda item: b"2") is None, on_the_way.lose(kettle, lambda item: None)
    (True, b'1')
    """

    def __init__(self) -> None:
        # By identity: nobody else gets that of an object for as long as it is held here.
        self._items: Recent[int, tuple[Any, bytes]] = Recent(MOST)

    def __len__(self) -> int:
        """Return how many are waited for."""
        return len(self._items)

    def add(self, item: Any, key: bytes) -> None:
        """Wait for *item*."""
        self._items[id(item)] = (item, key)

    def arrive(self, item: Any) -> None:
        """Wait no longer for *item*."""
        self._items.pop(id(item), None)

    def lose(self, item: Any, key_of: Callable[[Any], bytes | None]) -> bytes | None:
        """Return the key of an item that was lost, None if nobody waits for it: an earlier pipeline dropped it.

        The signal names the item as the spider yielded it. If an earlier pipeline has delivered another object,
        *key_of* tells which is meant.
        """
        known = self._items.pop(id(item), None)
        if known is not None:
            return known[1]
        key = key_of(item)
        twins = [identity for identity, (_, other) in self._items.items() if other == key]
        if not twins:
            return None
        del self._items[twins[0]]
        return key
