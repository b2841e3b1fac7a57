"""Checks and buffers of fingerprints and keys, and the class of a match.

Each check returns a plain int, or raises an error with the value and the rule. Fingerprints are stored in a buffer of
64-bit numbers, because 8 bytes are less than an int object.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from itertools import islice
from operator import index
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

MAX_VALUE = 2**64 - 1
#: The greatest key, which fits into a signed 64-bit column of a database.
MAX_KEY = 2**63 - 1
#: Number of objects that are checked at a time.
BATCH = 1 << 16


def checked_value(value: SupportsIndex) -> int:
    """Return *value*, a fingerprint of 64 bits, as an int.

    Raises TypeError if it is not an integer (bools are refused), and ValueError if it does not fit into 64 bits.
    """
    return _in_range("value", value, MAX_VALUE, "2**64 - 1")


def checked_key(key: SupportsIndex) -> int:
    """Return *key* as an int from 0 to 2**63 - 1, or raise TypeError or ValueError."""
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


def checked_integer(name: str, number: SupportsIndex) -> int:
    """Return *number* as an int, or raise TypeError with the *name* of the argument."""
    # operator.index accepts integers of numpy, but neither floats nor strings. A bool is a mistake of the caller.
    if not isinstance(number, bool):
        try:
            return index(number)
        except TypeError:
            pass
    raise TypeError(f"{name} must be an integer, got {number!r}")


def _in_range(name: str, number: SupportsIndex, most: int, most_in_words: str) -> int:
    as_int = checked_integer(name, number)
    if not 0 <= as_int <= most:
        raise ValueError(f"{name} must be from 0 to {most_in_words}, got {as_int}")
    return as_int


def row_of(values: Iterable[SupportsIndex]) -> memoryview:
    r"""Return *values* as a view of unsigned 64-bit numbers in native byte order.

    A one-dimensional buffer of such numbers is not copied: ``array("Q")``, numpy's uint64, a memoryview cast to
    ``"Q"``. The buffer cannot be resized while the view is in use. Other iterables are copied, 8 bytes per number.
    Raises TypeError or ValueError for the first value that is not a fingerprint, and TypeError for a buffer with
    several dimensions, and for bytes, which are ambiguous: pass ``memoryview(...).cast("Q")``.

    >>> row_of([1, 2**64 - 1]).tolist()
    [1, 18446744073709551615]
    >>> row_of(memoryview(bytes(8) + b"\x01" * 8).cast("Q")).tolist()
    [0, 72340172838076673]
    """
    if (view := _view_of(values)) is not None:
        return view
    return _row(values, checked_value, MAX_VALUE)


def row_of_keys(keys: Iterable[SupportsIndex]) -> memoryview:
    """Return *keys* in the form of `row_of`. Raises TypeError or ValueError for the first invalid key."""
    view = _view_of(keys)
    if view is None:
        return _row(keys, checked_key, MAX_KEY)
    if len(view):
        checked_key(max(view))
    return view


def _row(numbers: Iterable[Any], check: Callable[[Any], int], most: int) -> memoryview:
    row, rest = array("Q"), iter(numbers)
    while batch := list(islice(rest, BATCH)):
        # The numbers are nearly always plain ints within range, so three passes in C replace a Python call for each.
        is_plain = set(map(type, batch)) == {int} and min(batch) >= 0 and max(batch) <= most
        row.extend(batch if is_plain else map(check, batch))
    return memoryview(row)


def _view_of(numbers: Iterable[SupportsIndex]) -> memoryview | None:
    """Return a view of *numbers* if they are a buffer of unsigned 64-bit numbers, else None."""
    if isinstance(numbers, bytes | bytearray):
        raise TypeError('expected an array of 64-bit numbers, got bytes: pass memoryview(...).cast("Q")')
    try:
        view = memoryview(numbers)  # type: ignore[arg-type]
    except (TypeError, ValueError):  # numpy raises either error, ValueError for dates
        return None
    if view.ndim != 1:
        raise TypeError(f"numbers must have one dimension, got {view.ndim}")
    # C's unsigned long is numpy's uint64 on platforms where it has 64 bits.
    return view if view.format in ("Q", "L") and view.itemsize == 8 else None


class Match(NamedTuple):
    """A record within the distance of a query.

    >>> Match(key=7, value=0b1011, distance=1)
    Match(key=7, value=11, distance=1)
    """

    #: The number of the document, as passed by the caller.
    key: int
    #: The stored fingerprint, which may differ from the query.
    value: int
    #: The Hamming distance from the query, in bits.
    distance: int

    def to_dict(self) -> dict[str, Any]:
        """Return the match as a row of a table; the value of ``fingerprint`` has 16 hexadecimal digits."""
        return {"key": self.key, "fingerprint": f"{self.value:016x}", "distance": self.distance}


def hamming_distance(a: int, b: int) -> int:
    """Return the number of bits in which fingerprints *a* and *b* differ, 0 to 64.

    The arguments are not checked, for speed.

    >>> hamming_distance(0b1011, 0b0010)
    2
    >>> hamming_distance(0, 2**64 - 1)
    64
    """
    return (a ^ b).bit_count()


#: Called with the completed share of the work, 0.0 to 1.0, which never decreases; the last call passes 1.0.
Progress: TypeAlias = Callable[[float], None]
