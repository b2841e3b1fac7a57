"""Many fingerprints in a row of 64-bit numbers, as buffers hold them: 8 bytes each instead of an object."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import islice
from typing import SupportsIndex

from scrapy_simhash.index._arguments import checked_postings

#: So many numbers are checked at a time, as objects.
BATCH = 1 << 16


def row_of(values: Iterable[SupportsIndex]) -> memoryview:
    r"""Return *values* as a view of unsigned 64-bit numbers in the byte order of the machine.

    Nothing is copied where they lie in a buffer of such numbers already, in one dimension: ``array("Q")``, numpy's
    uint64, a memoryview cast to ``"Q"``. The buffer cannot be resized as long as the view is used. Anything else is
    taken number by number, 8 bytes each; raises TypeError or ValueError for the first that is no fingerprint, and
    TypeError for a buffer of more dimensions than one, and for bytes: they may be many small numbers or few great
    ones, and ``memoryview(...).cast("Q")`` says which.

    >>> row_of([1, 2**64 - 1]).tolist()
    [1, 18446744073709551615]
    >>> row_of(memoryview(bytes(8) + b"\x01" * 8).cast("Q")).tolist()
    [0, 72340172838076673]
    """
    if (view := lying(values)) is not None:
        return view
    row = array("Q")
    numbers = iter(values)
    while batch := list(islice(numbers, BATCH)):
        row.extend(checked_postings(batch, None, 0)[0])
    return memoryview(row)


def lying(numbers: Iterable[SupportsIndex]) -> memoryview | None:
    """Return a view of *numbers* if they lie in a buffer of unsigned 64-bit numbers, else None.

    Raises TypeError for a buffer that is no row.
    """
    if isinstance(numbers, bytes | bytearray):
        raise TypeError('expected a row of 64-bit numbers, got bytes: pass memoryview(...).cast("Q")')
    try:
        view = memoryview(numbers)  # type: ignore[arg-type]
    except (TypeError, ValueError):  # numpy has both, ValueError for dates
        return None
    if view.ndim != 1:
        raise TypeError(f"numbers must be in one dimension, got {view.ndim}")
    # C's unsigned long, which numpy calls uint64 where it has 64 bits.
    return view if view.format in ("Q", "L") and view.itemsize == 8 else None
