"""The Hamming distance of two fingerprints."""

from __future__ import annotations


def hamming_distance(a: int, b: int) -> int:
    """Return the number of bits in which fingerprints *a* and *b* differ, 0 to 64.

    The arguments are not checked: this is the innermost step of every search.

    >>> hamming_distance(0b1011, 0b0010)
    2
    >>> hamming_distance(0, 2**64 - 1)
    64
    """
    return (a ^ b).bit_count()
