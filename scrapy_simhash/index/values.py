"""Fingerprints and keys as arguments, many of them in a row, and as matches; how far a long search is.

Arguments are checked at the door: each check returns a plain int, or says the value and what it must be. Many
fingerprints lie in a row of 64-bit numbers, as buffers hold them: 8 bytes each instead of an object.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import index
from time import monotonic
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

from scrapy_simhash.display import html_of

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


class Match(NamedTuple):
    """A posting within the distance asked for.

    >>> Match(key=7, value=0b1011, distance=1)
    Match(key=7, value=11, distance=1)
    """

    #: The number the caller gave the document.
    key: int
    #: The fingerprint as stored, which is not always the one asked for.
    value: int
    #: The Hamming distance between the two, in bits.
    distance: int

    def to_dict(self) -> dict[str, Any]:
        """Return the match as a row of a table; ``fingerprint`` is its value as 16 hexadecimal digits."""
        return {"key": self.key, "fingerprint": f"{self.value:016x}", "distance": self.distance}

    def _repr_html_(self) -> str:
        return html_of(self)


def cut(matches: Iterable[Match], most: int) -> list[Match]:
    """Return the *most* nearest of *matches*, in the order of distance, key, value; of each key the nearest only.

    >>> cut([Match(8, 0b11, 2), Match(9, 0b01, 1), Match(9, 0b00, 0)], 2)
    [Match(key=9, value=0, distance=0)]
    """
    return nearest_first(sorted(matches, key=_order)[:most])


def nearest_first(matches: Iterable[Match]) -> list[Match]:
    """Return *matches* in the order of distance, then key, and of each key the nearest only.

    Of two values equally near under one key the smaller stays.

    >>> nearest_first([Match(8, 0b11, 2), Match(9, 0b01, 1), Match(7, 0b10, 1), Match(9, 0b00, 0)])
    [Match(key=9, value=0, distance=0), Match(key=7, value=2, distance=1), Match(key=8, value=3, distance=2)]
    """
    by_key: dict[int, Match] = {}
    for match in sorted(matches, key=_order):
        by_key.setdefault(match.key, match)
    return list(by_key.values())


def _order(match: Match) -> tuple[int, int, int]:
    return match.distance, match.key, match.value


def hamming_distance(a: int, b: int) -> int:
    """Return the number of bits in which fingerprints *a* and *b* differ, 0 to 64.

    The arguments are not checked: this is the innermost step of every search.

    >>> hamming_distance(0b1011, 0b0010)
    2
    >>> hamming_distance(0, 2**64 - 1)
    64
    """
    return (a ^ b).bit_count()


#: Called with the share of the work that is done, 0.0 to 1.0, which never falls; 1.0 comes last, and once.
Progress: TypeAlias = Callable[[float], None]

#: Seconds between two calls: often enough for the eye.
INTERVAL = 0.25


def paced(progress: Progress | None, clock: Callable[[], float] = monotonic) -> Progress:
    """Return a function that may be called as often as one likes, and calls *progress* every quarter of a second.

    The end is always passed on. 0.1 microseconds a call where there is nobody to tell.

    >>> times = iter([0, 0.1, 0.2, 0.3, 0.4])
    >>> tell = paced(print, clock=lambda: next(times))
    >>> for tenths in range(3, 6):
    ...     tell(tenths / 10)
    0.5
    >>> tell(1.0)
    1.0
    """
    if progress is None:
        return lambda share: None
    last = clock()

    def tell(share: float) -> None:
        nonlocal last
        now = clock()
        if share >= 1 or now - last >= INTERVAL:
            last = now
            progress(share)

    return tell
