"""What is said when a store and its server meet, whoever carries the words: the blocking client or asyncio's."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from scrapy_simhash.exceptions import StoreDamaged, StoreError, StoreUnavailable
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.redis.errors import NO_CLUSTER
from scrapy_simhash.store.redis.layout import ANEW, ID_BYTES, VERSION

logger = logging.getLogger(__name__)

#: The id of a store that is not there.
NOWHERE = bytes(ID_BYTES)
Answer = TypeVar("Answer")
#: Takes the name of a script or of a command, and its arguments; returns the reply, or raises StoreError.
Ask = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class OpenRequest:
    """How a store is to be opened."""

    place: str
    """Names the store in messages."""
    header: Header | None
    """What the store must be for; None takes it as it is."""
    expire: int = 0
    """Seconds after the last claim when everything is forgotten; 0 for never."""
    is_reset: bool = False
    mode: str = "write"
    """``write``, or ``read``, which leaves no trace, or ``try``: the same, but a server that cannot write fails."""
    run: int = 0
    """The number of the run that is to go on, 0 for a new one."""
    token: bytes = b""
    """Tells this run from one of the same number in a server that forgot this one."""
    started: int = 0
    live: int = 0
    """Seconds for which a run counts as live after a heartbeat; 0 for no heartbeats."""


class Opened(NamedTuple):
    """A store that was opened."""

    header: Header
    store_id: bytes
    """NOWHERE for a store that is not there yet, which a reader does not make."""
    run: int
    pages: int


async def meet(request: OpenRequest, ask: Ask) -> Opened:
    """Open a store. Raises StoreMismatch, StoreDamaged or StoreError, and then nothing was changed."""
    # Something short first: it is as far as one gets without the password.
    await ask("PING")
    info: dict[str, Any] = {}
    for section in ("cluster", "memory"):
        try:
            info |= await ask("INFO", section)
        except StoreUnavailable:
            raise
        except StoreError:
            logger.debug("%s does not answer INFO %s", request.place, section)
    if info.get("cluster_enabled"):
        raise StoreError(f"{request.place} {NO_CLUSTER}")
    policy = str(info.get("maxmemory_policy", ""))
    if info.get("maxmemory") and (
        policy.startswith("allkeys") or (request.expire and policy.startswith("volatile"))
    ):
        logger.warning(
            "%s may evict keys when its memory is full: set maxmemory-policy to noeviction (it is %s)",
            request.place,
            policy,
        )
    return await reopen(request, ask)


async def reopen(request: OpenRequest, ask: Ask) -> Opened:
    """Open a store at a server that is known already."""
    accepted = _written(request.header) if request.header else ""
    header = request.header
    while True:
        run, started = str(request.run), str(request.started)
        status, *said = await ask(
            *("open", accepted, str(VERSION), os.urandom(ID_BYTES), run, request.token, started),
            *(request.mode if accepted else "read", "1" if request.is_reset else "0", str(request.expire)),
            str(request.live),
        )
        if status == b"open" and header:
            store_id, number, pages = said
            return Opened(header, store_id, int(number), pages)
        if status == b"none":
            if header is None:
                raise StoreError(f"no such store: {request.place.removeprefix('the store ')}")
            return Opened(header, NOWHERE, 0, 0)
        if status == b"foreign":
            key, kind = (part.decode("utf-8", "replace") for part in said)
            raise StoreDamaged(
                f"{request.place} has a key {key!r} that does not belong to a store ({kind}). Nothing was"
                " changed. Set"
                " SIMHASH_REDIS_PREFIX to another prefix, or delete that key"
            )
        version, text = said
        header = _read_header(version, text, request.place)
        if request.header:
            header.check(request.header, request.place)
        # The same in other words, as by another version of Python's JSON or without what says nothing.
        accepted = text
        request = replace(request, is_reset=False)


def at_once(coroutine: Coroutine[Any, Any, Answer]) -> Answer:
    """Return what *coroutine* comes to, whose questions are all answered without waiting."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        answer: Answer = end.value
        return answer
    raise RuntimeError("the coroutine waits for something")


def _written(header: Header) -> str:
    return json.dumps(header.to_dict(), sort_keys=True)


def _read_header(version: bytes, text: bytes, place: str) -> Header:
    try:
        number = int(version)
        if number != VERSION:
            raise StoreDamaged(
                f"{place} was written by another release of scrapy-simhash: its layout has version {number}, this"
                f" release reads version {VERSION}. {ANEW}"
            )
        return Header.from_dict(json.loads(text))
    except (AttributeError, RecursionError, TypeError, ValueError) as error:
        raise StoreDamaged(f"{place} has a header that cannot be read: {error}. {ANEW}") from error
