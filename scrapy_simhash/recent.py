"""Recent: a dictionary that drops its oldest entries."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(OrderedDict[K, V]):
    """A dictionary of at most *most* entries; adding another entry drops the oldest.

    All operations are O(1). (In a plain dict, finding the first key is O(n), because it skips all removed entries.)

    >>> recent = Recent(most=2)
    >>> for letter in "abc":
    ...     recent[letter] = True
    >>> list(recent)
    ['b', 'c']
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > self._most:
            self.popitem(last=False)
