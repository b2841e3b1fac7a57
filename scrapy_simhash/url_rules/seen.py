"""Seen: which contents came before, in a fixed megabyte."""

from __future__ import annotations

from array import array

#: Contents that are known at most: one takes the place of another that falls on the same slot.
SLOTS = 1 << 17


class Seen:
    """Knows numbers again. What is forgotten counts as new once more.

    >>> seen = Seen()
    >>> seen.is_new(7), seen.is_new(7)
    (True, False)
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * SLOTS))

    def is_new(self, number: int) -> bool:
        """Tell whether *number* comes for the first time."""
        key = number & (1 << 64) - 1 or 1
        if self._slots[key % SLOTS] == key:
            return False
        self._slots[key % SLOTS] = key
        return True
