"""Faults of a plan, see ``chaos_plan``, begun and ended at their times; and those of a Redis and the way to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import TypeAlias

from benchmarks.lib import chaos_plan as kinds
from benchmarks.lib.chaos_plan import Fault
from tests.store.proxy import Proxy
from tests.store.server import RedisServer

#: Begins one kind of fault, and ends it.
Means: TypeAlias = Callable[[], AbstractContextManager[None]]


def happen(
    faults: Sequence[Fault],
    begin: Callable[[Fault], AbstractContextManager[None]],
    tell: Callable[[int], None],
) -> None:
    """Let *faults* come and pass, from now on; *tell* hears how many have begun."""
    begins = [(fault.at, number, True) for number, fault in enumerate(faults)]
    ends = [(fault.at + fault.lasts, number, False) for number, fault in enumerate(faults)]
    start = time.monotonic()
    with ExitStack() as all_faults:
        under_way = [all_faults.enter_context(ExitStack()) for _ in faults]
        for at, number, is_begin in sorted([*begins, *ends]):
            time.sleep(max(0.0, start + at - time.monotonic()))
            if is_begin:
                tell(number + 1)
                under_way[number].enter_context(begin(faults[number]))
            else:
                under_way[number].close()


def means_of(server: RedisServer, proxy: Proxy) -> Mapping[str, Means]:
    """Return how to begin and end what can happen to *server*, and to connections over *proxy*."""
    return {
        kinds.KILL_SERVER: partial(_killed, server),
        kinds.STOP_SERVER: partial(_stopped, server),
        kinds.FILL_SERVER: partial(_full, server),
        kinds.CUT: proxy.cutting,
        kinds.HALVE: proxy.halving,
        kinds.STALL: proxy.stalling,
        kinds.CRUMBLE: proxy.crumbling,
    }


@contextmanager
def _killed(server: RedisServer) -> Iterator[None]:
    server.kill()
    yield
    server.start()


@contextmanager
def _stopped(server: RedisServer) -> Iterator[None]:
    server.pause()
    yield
    server.resume()


@contextmanager
def _full(server: RedisServer) -> Iterator[None]:
    from redis import Redis

    with Redis.from_url(server.url, protocol=2) as client:
        client.config_set("maxmemory", "1kb")
        yield
        client.config_set("maxmemory", "0")
