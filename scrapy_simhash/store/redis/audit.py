"""Audit: all records of a store in the server read, and those named that cannot be right."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping

from scrapy_simhash.store.damage import Damage, shown
from scrapy_simhash.store.redis import layout
from scrapy_simhash.store.redis.opening import Ask
from scrapy_simhash.store.redis.walk import walk

#: Records that are fetched together.
_STEP = 500
_EVENT_BYTES = 38
_VERSION_BYTES, _PROFILE_BYTES, _PIECE_BYTES = 8, 17, 16


async def audit(ask: Ask, names: Mapping[str, str], tell: Callable[[int], None]) -> list[str]:
    """Read everything, and return the names of damaged records; *tell* hears how many postings were read so far."""
    damage = Damage("", is_logged=False)
    number = 0
    async for _ in walk(ask, names, set(), damage):
        number += 1
        tell(number)
    async for field, record in _hash(ask, names["contents"]):
        try:
            layout.read_content(record)
        except ValueError:
            damage.note(f"content {shown(field)}")
    for start in range(0, await ask("LLEN", names["events"]), _STEP):
        events = await ask("LRANGE", names["events"], start, start + _STEP - 1)
        for place, event in enumerate(events, start):
            if len(event) < _EVENT_BYTES or event[:1] not in (b"+", b"-"):
                damage.note(f"event {place}")
    async for field, record in _hash(ask, names["short"]):
        if not record.isdigit():
            damage.note(f"the short page with the value {field[:8].hex()}")
    async for field, record in _hash(ask, names["runs"]):
        try:
            layout.read_run(int(field), record)
        except ValueError:
            damage.note(f"run {shown(field)}")
    async for field, record in _hash(ask, names["sites"]):
        # What has a space in its name is no host: other things that were learned, checked by who reads them.
        if b" " in field:
            continue
        length = len(record) - _VERSION_BYTES - _PROFILE_BYTES
        if length < 0 or length % _PIECE_BYTES:
            damage.note(f"the profile of {shown(field)}")
    counted = ("pages", "contents", "runs")
    for what, count in zip(counted, await ask("HMGET", names["header"], *counted), strict=True):
        if count is None or not count.isdigit():
            damage.note(f"the counter of {what} in its header")
    return damage.named


async def _hash(ask: Ask, name: str) -> AsyncIterator[tuple[bytes, bytes]]:
    """Yield fields and values of a hash; a field may come twice."""
    cursor = 0
    while True:
        cursor, part = await ask("HSCAN", name, cursor, "COUNT", _STEP)
        for pair in part.items():
            yield pair
        if not cursor:
            return
