"""Seen: which contents and texts came before, in fixed memory."""

from __future__ import annotations

from array import array

#: What is known at most: one takes the place of another that falls on the same slot.
SLOTS = 1 << 17


class Seen:
    """Knows numbers again. What is forgotten counts as new once more. A megabyte.

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


class Texts:
    """Knows which content the page with a text had at first: verdicts change as a site becomes known. 1.5 MB.

    >>> texts = Texts()
    >>> texts.former(7, 1), texts.former(7, 2)
    (0, 1)
    """

    def __init__(self) -> None:
        self._seen = Seen()
        self._contents = array("I", bytes(4 * SLOTS))

    def former(self, text: int, content: int) -> int:
        """Return the content that a page with the hash *text* had at first; 0 if it comes for the first time."""
        slot = (text & (1 << 64) - 1 or 1) % SLOTS
        if self._seen.is_new(text):
            self._contents[slot] = content
            return 0
        return self._contents[slot]


class Counts(dict[int, int]):
    """How often numbers came: of at most so many. Beyond that all begin anew."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def increase(self, number: int) -> None:
        """Count *number*."""
        if len(self) >= self._most:
            self.clear()
        self[number] = self.get(number, 0) + 1
