"""The checks at the door: each returns a plain int, or says the value and what it must be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import index
from typing import Any, SupportsIndex

MAX_VALUE = 2**64 - 1
#: A key takes eight bytes here, and no more than a signed column of a database holds.
MAX_KEY = 2**63 - 1


def checked_value(value: SupportsIndex) -> int:
    """Return *value* as an int, a fingerprint of 64 bits.

    Raises TypeError if it is no integer (a bool is none here), ValueError if it does not fit 64 bits.
    """
    if type(value) is int and 0 <= value <= MAX_VALUE:
        return value
    return _in_range("value", value, MAX_VALUE, "2**64 - 1")


def checked_key(key: SupportsIndex) -> int:
    """Return *key* as an int from 0 to 2**63 - 1, or raise TypeError or ValueError."""
    if type(key) is int and 0 <= key <= MAX_KEY:
        return key
    return _in_range("key", key, MAX_KEY, "2**63 - 1")


def checked_distance(max_distance: SupportsIndex) -> int:
    """Return *max_distance* as an int from 0 to 64, or raise TypeError or ValueError."""
    return _in_range("max_distance", max_distance, 64, "64")


def checked_blocks(blocks: SupportsIndex, max_distance: int) -> int:
    """Return *blocks* as an int above *max_distance* and up to 64, or raise TypeError or ValueError."""
    number = checked_integer("blocks", blocks)
    if number <= max_distance:
        raise ValueError(f"blocks must be greater than max_distance ({max_distance}), got {number}")
    if number > 64:
        raise ValueError(f"blocks must be at most 64, got {number}")
    return number


def checked_expected(expected: SupportsIndex) -> int:
    """Return *expected*, a number of fingerprints, as an int from 0 to 2**63 - 1."""
    return _in_range("expected", expected, MAX_KEY, "2**63 - 1")


def checked_postings(
    values: Iterable[SupportsIndex], keys: Iterable[SupportsIndex] | None, next_key: int
) -> tuple[list[int], Sequence[int]]:
    """Return fingerprints and as many keys, which number on from *next_key* where *keys* is None.

    Raises for the first value or key that is none, and ValueError if there are not as many of each.
    """
    values = _all_checked(list(values), checked_value, MAX_VALUE)
    if keys is None:
        numbered = range(next_key, next_key + len(values))
        if numbered:
            checked_key(numbered[-1])
        return values, numbered
    keys = _all_checked(list(keys), checked_key, MAX_KEY)
    if len(keys) != len(values):
        raise ValueError(f"there must be one key for every value, got {len(keys)} for {len(values)}")
    return values, keys


def checked_integer(name: str, number: SupportsIndex) -> int:
    """Return *number* as an int, or raise TypeError, which calls it *name*."""
    # operator.index takes the integers of numpy, not floats or strings; a bool is a slip of the caller.
    if not isinstance(number, bool):
        try:
            return index(number)
        except TypeError:
            pass
    raise TypeError(f"{name} must be an integer, got {number!r}")


def _all_checked(numbers: list[Any], check: Callable[[Any], int], most: int) -> list[int]:
    # Almost always plain ints within range: three passes in C instead of a call for each.
    if set(map(type, numbers)) == {int} and min(numbers) >= 0 and max(numbers) <= most:
        return numbers
    return [check(number) for number in numbers]


def _in_range(name: str, number: SupportsIndex, most: int, most_in_words: str) -> int:
    as_int = checked_integer(name, number)
    if not 0 <= as_int <= most:
        raise ValueError(f"{name} must be from 0 to {most_in_words}, got {as_int}")
    return as_int
