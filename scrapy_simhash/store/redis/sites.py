"""Sites: the profiles of hosts in the server, which the crawlers of a store share."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import suppress
from struct import Struct

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.store.redis.layout import decoded, encoded
from scrapy_simhash.store.redis.link import Link

#: Hosts whose profiles are kept: at most 640 MB.
MOST_HOSTS = 10_000
#: Random, of each version of a profile.
VERSION_BYTES = 8
#: Profiles that are fetched together.
_SITES = 50
#: How often a server may lose what it knew while it is told.
_LOSSES = 5
#: Store, seconds until all is forgotten, how many hosts at most.
_HEAD = Struct(">8sII")
_STORED, _LOST = b"S", b"L"


class Sites:
    """See :class:`~scrapy_simhash.store.base.SharesSites`."""

    def __init__(self, link: Link, key: str) -> None:
        self._link = link
        self._key = key

    async def load(self, host: str, known: bytes) -> tuple[bytes, bytes | None]:
        """Return version and profile of *host*. One trip."""
        await self._link.ready()
        kept = await self._link.ask("load_site", encoded(host), known)
        if kept is None:
            return b"", None
        return (kept[:VERSION_BYTES], kept[VERSION_BYTES:]) if kept else (known, None)

    async def replace(self, host: str, former: bytes, profile: bytes) -> bytes | None:
        """Keep *profile* in the place of version *former*. One trip."""
        for _ in range(_LOSSES):
            replica = await self._link.ready()
            head = _HEAD.pack(replica.store_id, self._link.request.expire, MOST_HOSTS)
            version = os.urandom(VERSION_BYTES)
            reply = await self._link.ask("replace_site", head, encoded(host), former, version, profile)
            if reply != _LOST:
                return version if reply == _STORED else None
            self._link.lost(replica)
        raise StoreUnavailable(f"{self._link.request.place} loses what it stores again and again")

    async def __aiter__(self) -> AsyncIterator[tuple[str, bytes]]:
        """Yield hosts and profiles. Fifty a trip."""
        await self._link.ready()
        hosts = sorted(await self._link.ask("HKEYS", self._key))
        for start in range(0, len(hosts), _SITES):
            some = hosts[start : start + _SITES]
            for host, kept in zip(some, await self._link.ask("HMGET", self._key, *some), strict=True):
                # What no crawler asks for: nobody calls a host so.
                with suppress(UnicodeDecodeError):
                    if kept:
                        yield decoded(host), kept[VERSION_BYTES:]
