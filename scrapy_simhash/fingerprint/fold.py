"""Weighted 64-bit digests to one fingerprint: the vote of every feature on every bit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

BITS = 64

#: What a tied bit becomes. Always 0 or always 1 would crowd short texts into one corner of the index, and
#: a random draw would not repeat: the fractional digits of pi favour neither.
TIE_MASK = 0x243F6A8885A308D3

# For each bit of a byte, the byte values that have it: what str.translate deletes to count the others.
_HAVING_BIT = [bytes(value for value in range(256) if value >> bit & 1) for bit in range(8)]


def fold(weighted_digests: Iterable[tuple[bytes, int]]) -> int:
    r"""Return the simhash of *weighted_digests*, pairs of 8 bytes (big endian) and a positive weight.

    Bit i is set when the digests that have it outweigh those that have not; a tie takes bit i of
    ``TIE_MASK``. Order does not matter, nor does a common factor of the weights. Exact for any weights.
    O(64 n), most of it inside ``bytes.translate``.

    Raises ValueError when there is no digest or one is not 8 bytes long.
    Source: Charikar 2002; Manku, Jain, Das Sarma 2007.

    >>> hex(fold([(b"\xff" * 8, 3), (b"\x00" * 8, 2)]))
    '0xffffffffffffffff'
    """
    by_weight: defaultdict[int, bytearray] = defaultdict(bytearray)
    for digest, weight in weighted_digests:
        if len(digest) != 8:
            raise ValueError(f"a digest must be 8 bytes long, got {len(digest)}")
        by_weight[weight] += digest
    if not by_weight:
        raise ValueError("a fingerprint needs at least one feature")
    # tallies[i] is twice the weight that votes for bit i, minus the weight of all.
    total = sum(weight * (len(digests) // 8) for weight, digests in by_weight.items())
    tallies = [-total] * BITS
    for weight, digests in by_weight.items():
        count = len(digests) // 8
        for byte in range(8):
            column = digests[7 - byte :: 8]
            for bit in range(8):
                votes = count - len(column.translate(None, _HAVING_BIT[bit]))
                tallies[8 * byte + bit] += 2 * weight * votes
    value = 0
    for bit, tally in enumerate(tallies):
        if tally > 0 or (tally == 0 and TIE_MASK >> bit & 1):
            value |= 1 << bit
    return value
