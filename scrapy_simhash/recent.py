"""Recent: a dictionary that forgets its oldest entries."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(OrderedDict[K, V]):
    """A dictionary of at most *most* entries: one more, and the one that was put in first goes.

    Every step is O(1). (The first key of a plain dict is not: it is looked for among all that went before it.)

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
