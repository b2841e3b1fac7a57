"""What happens when in a run of ``chaos``: a plan of faults, drawn from a seed alone."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

#: The stores that a plan can be for.
SQLITE, REDIS = "sqlite", "redis"
#: Kinds of faults.
KILL, STOP = "kill a crawler", "stop a crawler"
FILL_DISK = "fill the disk"
KILL_SERVER, STOP_SERVER, FILL_SERVER = "kill the server", "stop the server", "fill the server"
CUT, HALVE, STALL, CRUMBLE = "cut connections", "halve replies", "stall connections", "crumble replies"

#: Seconds that a fault may last, least and most.
_LASTS = {
    KILL: (0.0, 0.3),
    STOP: (0.1, 0.8),
    FILL_DISK: (0.2, 0.8),
    KILL_SERVER: (0.05, 0.5),
    STOP_SERVER: (0.1, 0.8),
    FILL_SERVER: (0.05, 0.4),
    CUT: (0.05, 0.5),
    HALVE: (0.05, 0.5),
    STALL: (0.1, 0.9),
    CRUMBLE: (0.1, 0.5),
}
#: Faults that hit one thing, one after another; those of different lanes may come together.
_DISK_LANE = (FILL_DISK,)
_SERVER_LANE = (KILL_SERVER, STOP_SERVER, FILL_SERVER)
_NETWORK_LANE = (CUT, HALVE, STALL, CRUMBLE)
#: Seconds from one fault of a lane to the next, least and most.
_PAUSE = (0.2, 1.5)


class Fault(NamedTuple):
    """One thing that goes wrong, and passes."""

    at: float
    """Seconds from the beginning."""
    lasts: float
    """Seconds."""
    kind: str
    crawler: int | None = None
    """Which crawler it happens to; None where it is what all of them use."""


def plan(store: str, seed: int, seconds: float, crawlers: int) -> list[Fault]:
    """Return the faults of a run, by the time at which they begin; the same for the same arguments.

    Each kind comes once before any comes twice in its lane. Systems that cannot do something leave it out.

    >>> plan("redis", 1, 20, 3) == plan("redis", 1, 20, 3) != plan("redis", 2, 20, 3)
    True
    >>> sorted({fault.kind for fault in plan("sqlite", 1, 20, 3)})[-2:]
    ['kill a crawler', 'stop a crawler']
    """
    crawler_lane = [KILL, *([STOP] if hasattr(signal, "SIGSTOP") else [])]
    lanes: list[tuple[list[str], list[int | None]]] = [(crawler_lane, [*range(crawlers)])]
    if store == REDIS:
        lanes += [([*_SERVER_LANE], [None]), ([*_NETWORK_LANE], [None])]
    elif sys.platform == "linux":
        lanes += [([*_DISK_LANE], [None])]
    found = [
        fault
        for number, (kinds, targets) in enumerate(lanes)
        for fault in _lane(Random(f"{store} {seed} {number}"), kinds, targets, seconds)
    ]
    return sorted(found, key=lambda fault: fault.at)


def _lane(draw: Random, kinds: list[str], targets: list[int | None], seconds: float) -> Iterator[Fault]:
    at = draw.uniform(*_PAUSE)
    while True:
        for kind in draw.sample(kinds, len(kinds)):
            lasts = draw.uniform(*_LASTS[kind])
            if at + lasts > seconds:
                return
            yield Fault(round(at, 3), round(lasts, 3), kind, draw.choice(targets))
            at += lasts + draw.uniform(*_PAUSE)
