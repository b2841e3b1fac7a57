"""How far a long piece of work is, said now and then."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TypeAlias

#: Called with the share of the work that is done, 0.0 to 1.0, which never falls; 1.0 comes last, and once.
Progress: TypeAlias = Callable[[float], None]

#: Seconds between two calls: often enough for the eye.
INTERVAL = 0.25


def paced(progress: Progress | None, clock: Callable[[], float] = monotonic) -> Progress:
    """Return a function that may be called as often as one likes, and calls *progress* every quarter of a second.

    The end is always passed on. 0.1 microseconds a call where there is nobody to tell.

    >>> times = iter([0, 0.1, 0.2, 0.3, 0.4])
    >>> tell = paced(print, clock=lambda: next(times))
    >>> for tenths in range(3, 6):
    ...     tell(tenths / 10)
    0.5
    >>> tell(1.0)
    1.0
    """
    if progress is None:
        return _tell_nobody
    last = clock()

    def tell(share: float) -> None:
        nonlocal last
        now = clock()
        if share >= 1 or now - last >= INTERVAL:
            last = now
            progress(share)

    return tell


def _tell_nobody(share: float) -> None:
    pass
