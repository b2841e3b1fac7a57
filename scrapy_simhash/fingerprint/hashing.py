"""A feature to 64 bits."""

from __future__ import annotations

from xxhash import xxh3_64_digest


def digest(feature: str) -> bytes:
    """Return the 8-byte XXH3 digest, seed 0, of the UTF-8 form of *feature*, big endian.

    Cheap, not cryptographic, and the same on every platform: Python's own ``hash`` is neither stable nor
    seeded alike in two processes. Source: the XXH3 specification.

    >>> digest("the sea is").hex()
    'e1f29f16c0725867'
    """
    return xxh3_64_digest(feature.encode("utf-8", "replace"))
