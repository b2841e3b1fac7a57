"""Hash features to 64 bits each, and fold weighted hashes into one fingerprint."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from xxhash import xxh3_64_digest, xxh3_64_intdigest


def digest(feature: str) -> bytes:
    """Return the 8-byte XXH3 digest, seed 0, of the UTF-8 form of *feature*, big endian.

    The digest is fast, not cryptographic, and the same on every platform; Python's ``hash`` differs between
    processes. Source: the XXH3 specification.

    >>> digest("the sea is").hex()
    'e1f29f16c0725867'
    """
    return xxh3_64_digest(feature.encode("utf-8", "replace"))


def number(feature: str) -> int:
    """Return the digest of *feature* as an integer of 64 bits.

    >>> f"{number('the sea is'):x}"
    'e1f29f16c0725867'
    """
    return xxh3_64_intdigest(feature.encode("utf-8", "replace"))


#: Multiplier for the hash of a repeated feature: 2**64 divided by the golden ratio, an odd number without a pattern.
SCATTER = 0x9E3779B97F4A7C15
_MASK = 2**64 - 1


def occurrences(counts: Mapping[str, int]) -> Iterator[int]:
    """Return a different 64-bit hash for every occurrence of every feature.

    *counts* maps features to numbers of occurrences, at least 1.
    """
    firsts = [number(feature) for feature in counts]
    again = [
        (first + occurrence) * SCATTER & _MASK
        for first, count in zip(firsts, counts.values(), strict=True)
        if count > 1
        for occurrence in range(1, count)
    ]
    return chain(firsts, again)


BITS = 64

#: Bits for ties, from the fractional digits of pi. If ties were always 0 or always 1, the fingerprints of short texts
#: would be similar; random bits would not be reproducible.
TIE_MASK = 0x243F6A8885A308D3


def fold(weighted_digests: Iterable[tuple[bytes, int]]) -> int:
    r"""Return the simhash of *weighted_digests*, pairs of 8 bytes (big endian) and a positive weight.

    Bit i is set if the digests with this bit outweigh the others; a tie takes bit i of ``TIE_MASK``. Neither the
    order nor a common factor of the weights matters. Exact for any weights. O(64 n), mostly in ``int.bit_count``.

    Raises ValueError if there is no digest or one is not 8 bytes long.
    Source: Charikar 2002; Manku, Jain, Das Sarma 2007.

    >>> hex(fold([(b"\xff" * 8, 3), (b"\x00" * 8, 2)]))
    '0xffffffffffffffff'
    """
    value = 0
    for bit, lead in enumerate(leads(weighted_digests)):
        if lead > 0 or (lead == 0 and TIE_MASK >> bit & 1):
            value |= 1 << bit
    return value


def leads(weighted_digests: Iterable[tuple[bytes, int]]) -> list[int]:
    """Return for every bit, lowest first, the total weight of the digests with this bit minus that of all others.

    Errors and cost as in `fold`.
    """
    by_weight: defaultdict[int, list[bytes]] = defaultdict(list)
    for digest, weight in weighted_digests:
        if len(digest) != 8:
            raise ValueError(f"a digest must have 8 bytes, got {len(digest)}")
        by_weight[weight].append(digest)
    if not by_weight:
        raise ValueError("a fingerprint needs at least one feature")
    all_votes = sum(weight * len(digests) for weight, digests in by_weight.items())
    joined = {weight: b"".join(digests) for weight, digests in by_weight.items()}
    return [2 * votes - all_votes for votes in _votes(joined)]


def _votes(by_weight: Mapping[int, bytes]) -> list[int]:
    """Return for every bit, lowest first, the total weight of the digests with this bit.

    A page has about thirty different weights of about ten bits. Digests are counted once for each bit of their
    weight, and the counts are added by Horner's rule.
    """
    # A 1 at the lowest bit of each byte of a column.
    ones = ((1 << sum(map(len, by_weight.values()))) - 1) // 255
    masks = [ones << bit for bit in range(8)]
    votes = [0] * BITS
    for place in reversed(range(max(by_weight).bit_length())):
        digests = b"".join([joined for weight, joined in by_weight.items() if weight >> place & 1])
        columns = [int.from_bytes(digests[byte::8], "big") for byte in reversed(range(8))]
        counts = [(column & mask).bit_count() for column in columns for mask in masks]
        votes = [2 * vote + count for vote, count in zip(votes, counts, strict=True)]
    return votes
