"""Make an input smaller while it still shows what it shows."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from fuzz.input import Same


def reduced(made: Same, still_shows: Callable[[Same], bool], seconds: float = 10) -> Same:
    """Return *made* with every piece left out that it shows the same without, as far as *seconds* last.

    Pieces are halved down to single ones (Zeller and Hildebrandt 2002).
    """
    deadline = monotonic() + seconds
    pieces = made.pieces()
    size = max(1, len(pieces) // 2)
    while True:
        start, has_shrunk = 0, False
        while start < len(pieces):
            if monotonic() > deadline:
                return made
            smaller = made.with_pieces(pieces[:start] + pieces[start + size :])
            if still_shows(smaller):
                made, has_shrunk = smaller, True
                pieces = pieces[:start] + pieces[start + size :]
            else:
                start += size
        if size == 1 and not has_shrunk:
            return made
        size = max(1, size // 2)
