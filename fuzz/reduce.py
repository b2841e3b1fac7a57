"""Make a case smaller while it still shows what it shows."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from fuzz.case import Case


def reduced(case: Case, still_shows: Callable[[Case], bool], seconds: float = 10) -> Case:
    """Return *case* with every piece left out that it shows the same without, as far as *seconds* last.

    Pieces are halved down to single characters, or to single nodes of a tree (Zeller and Hildebrandt 2002).
    """
    deadline = monotonic() + seconds
    joint = "\n" if case.kind == "tree" else ""
    pieces = case.content.splitlines() if joint else list(case.content)
    size = max(1, len(pieces) // 2)
    while True:
        start, has_shrunk = 0, False
        while start < len(pieces):
            if monotonic() > deadline:
                return case
            smaller = case.with_content(joint.join(pieces[:start] + pieces[start + size :]))
            if still_shows(smaller):
                case, has_shrunk = smaller, True
                pieces = pieces[:start] + pieces[start + size :]
            else:
                start += size
        if size == 1 and not has_shrunk:
            return case
        size = max(1, size // 2)
