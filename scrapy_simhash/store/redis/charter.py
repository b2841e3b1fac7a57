"""Charter: what a store in shards is for and how many it has, on which all crawlers agree."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from scrapy_simhash.exceptions import StoreDamaged, StoreError, StoreMismatch
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.redis.errors import meaning
from scrapy_simhash.store.redis.layout import ANEW, names_of
from scrapy_simhash.store.redis.nodes import Command

#: Commands, each about a shard, to their replies, an exception in place of one that failed.
AskAll = Callable[[Sequence[tuple[int, Command]]], Awaitable[list[Any]]]
Found = TypeVar("Found")
#: How many shards a store has if nobody says so.
SHARDS = 1024
_ID_BYTES = 4


class Charter(NamedTuple):
    """What is kept of a store."""

    header: Header
    shards: int
    store_id: str
    """Random, of a store until it is reset."""


class Wanted(NamedTuple):
    """What somebody asks of a store."""

    place: str
    """Names the store in messages."""
    header: Header | None
    """None takes what is there."""
    shards: int | None
    is_reset: bool
    is_read_only: bool


async def agree(wanted: Wanted, tag_of: Callable[[int], str], ask_all: AskAll) -> Charter:
    """Return the charter of a store, which is made if there is none; *tag_of* returns how keys of a shard begin.

    Raises StoreMismatch, StoreDamaged or StoreError, and then nothing was changed.
    """
    place, key = wanted.place, f"{tag_of(0)}:shards"

    async def ask(*command: Any) -> Any:
        return said((await ask_all([(0, command)]))[0], place, command[0])

    kept = await ask("GET", key)
    if kept and wanted.is_reset:
        # Of an earlier release only the number of shards must be readable.
        shards = _of(kept, place, lambda about: int(about["shards"]))
        unlink = [(n, ("UNLINK", *names_of(tag_of(n)))) for n in range(shards)]
        for reply in await ask_all(unlink):
            said(reply, place, "UNLINK")
        await ask("DEL", key)
        kept = None
    if kept is None:
        if wanted.header is None:
            raise StoreError(f"no such store: {place.removeprefix('the store ')}")
        kept = _written(Charter(wanted.header, wanted.shards or SHARDS, os.urandom(_ID_BYTES).hex()))
        if not wanted.is_read_only:
            # Who comes first decides, and all others find that.
            await ask("SET", key, kept, "NX")
            kept = await ask("GET", key) or kept
    charter = _of(kept, place, _charter)
    if wanted.header is not None:
        charter.header.check(wanted.header, place)
    if wanted.shards not in (None, charter.shards):
        raise StoreMismatch(
            f"{place} has {charter.shards:,} shards, and SIMHASH_REDIS_SHARDS is {wanted.shards:,}. Nothing was"
            f" changed. Set it to {charter.shards}, or export the store and import it into another one"
        )
    return charter


def said(reply: Any, place: str, command: str) -> Any:
    """Return *reply*; raise the StoreError of an exception in place of it."""
    if isinstance(reply, Exception):
        raise meaning(reply, place, command) from reply
    return reply


def _written(charter: Charter) -> bytes:
    about = {"header": charter.header.to_dict(), "shards": charter.shards, "id": charter.store_id}
    return json.dumps(about, sort_keys=True).encode()


def _charter(about: Mapping[str, Any]) -> Charter:
    return Charter(Header.from_dict(about["header"]), int(about["shards"]), str(about["id"]))


def _of(record: bytes, place: str, read: Callable[[Mapping[str, Any]], Found]) -> Found:
    """Return what *read* finds in the record of a charter. Raises StoreDamaged if it is not there."""
    try:
        return read(json.loads(record))
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise StoreDamaged(f"{place} has a header that cannot be read: {error}. {ANEW}") from error
