"""FeatureHash: what turns a feature, a string, into bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class FeatureHash(NamedTuple):
    """A hash of strings, and how many bits it has.

    >>> length = FeatureHash("length", 32, len)
    >>> length.of("harbour")
    7
    """

    name: str
    bits: int
    """A scheme takes the lowest of them, and cannot be wider."""
    of: Callable[[str], int]
    """Returns 0 to 2**bits - 1; the same on every platform and in every process."""
