"""OwnPart: a second fingerprint, of what is left of a page without the text that its site repeats.

It stands beside the first, never in it: the first 64 bits are a function of the page alone, this depends on what was
known about the site when the page came. As bytes::

    1 byte     kind
    2 bytes    tokens, at most 65535
    8 bytes    value                     these two for ``PART`` only
    112 bytes  minhash, as in a sketch
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from scrapy_simhash.page.fingerprint.sketch import MINHASH_BYTES

_HEAD = Struct(">BH")
_VALUE = Struct(">Q")
_MOST_TOKENS = 0xFFFF
#: How long the bytes of an own part may be.
OWN_PART_BYTES = (_HEAD.size, _HEAD.size + _VALUE.size + MINHASH_BYTES)

#: Too little is known about the site: ``tokens`` are those of the main text.
UNKNOWN = 0
#: The site repeats nothing of this page: its own part is its main text.
WHOLE = 1
#: Some of the main text is the site's.
PART = 2
#: The site is known, but much of this page may turn out to be its text: ``tokens`` are those of the main text.
DOUBTFUL = 3


class OwnPart(NamedTuple):
    """What of a page is not its site's."""

    kind: int
    tokens: int
    """0 to 65535; longer texts count as 65535."""
    value: int = 0
    """Simhash of a ``PART``; 0 for one that is too short for a fingerprint, which is then compared, but not searched
    for."""
    minhash: bytes = b""
    """112 bytes of a ``PART``."""

    def to_bytes(self) -> bytes:
        """Return 3 bytes, or 123 for a ``PART``."""
        head = _HEAD.pack(self.kind, min(self.tokens, _MOST_TOKENS))
        return head + _VALUE.pack(self.value) + self.minhash if self.kind == PART else head

    @classmethod
    def from_bytes(cls, data: bytes) -> OwnPart:
        """Return what to_bytes() wrote, by its length as `Fingerprint` checked it."""
        kind, tokens = _HEAD.unpack_from(data)
        if kind != PART:
            return cls(kind, tokens)
        (value,) = _VALUE.unpack_from(data, _HEAD.size)
        return cls(kind, tokens, value, data[_HEAD.size + _VALUE.size :])


def is_part(own: bytes) -> bool:
    """Tell whether *own* is a ``PART``, without reading more of it than its length."""
    return len(own) > _HEAD.size


def is_own_part(data: bytes) -> bool:
    """Tell whether *data* can be what to_bytes() gave: the kind in it agrees with its length."""
    size = OWN_PART_BYTES[data[:1] == bytes([PART])]
    return len(data) == size and data[0] in (UNKNOWN, WHOLE, PART, DOUBTFUL)


def own_value(own: bytes) -> int:
    """Return the value by which the own part in *own* is searched for, 0 for none."""
    return int.from_bytes(own[_HEAD.size : _HEAD.size + _VALUE.size], "big")
