"""OwnPart: a second fingerprint, of what is left of a page without the text that its site repeats.

It stands beside the first, never in it: the first 64 bits are a function of the page alone, this depends on what was
known about the site when the page came. As bytes::

    1 byte     kind
    2 bytes    tokens, at most 65535
    1 byte     tokens of the main text: below 16 as they are, else 4 bits of exponent, and the 4 after the first one
    2 bytes    words
    5 bytes    text
    8 bytes    value                     these two for ``PART`` only
    112 bytes  minhash, as in a sketch
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from scrapy_simhash.page.fingerprint.sketch import MINHASH_BYTES

_HEAD = Struct(">BHBH5s")
_VALUE = Struct(">Q")
_MOST_TOKENS = 0xFFFF
_PART_BYTES = _HEAD.size + _VALUE.size + MINHASH_BYTES

#: Too little is known about the site: ``tokens`` are those of the main text.
UNKNOWN = 0
#: The site repeats nothing of this page: its own part is its main text.
WHOLE = 1
#: Some of the main text is the site's.
PART = 2
#: The site is known, but much of this page may turn out to be its text, and counts in ``tokens`` until then.
DOUBTFUL = 3
#: What of the hash of title and main text is kept.
TEXT_MASK = 2**40 - 1


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
    words: int = 0
    """16 bits for the words of the article without numbers and dates, 0 to 65535, see
    :func:`~scrapy_simhash.page.pieces.words_number`."""
    whole: int = 0
    """Tokens of the main text, with those that are the site's; as bytes up to a sixteenth fewer are kept."""
    text: int = 0
    """The low 40 bits of the hash of title and main text."""

    def to_bytes(self) -> bytes:
        """Return 11 bytes, or 131 for a ``PART``."""
        data = _HEAD.pack(
            self.kind,
            min(self.tokens, _MOST_TOKENS),
            _shortened(self.whole),
            self.words,
            self.text.to_bytes(5, "big"),
        )
        if self.kind == PART:
            data += _VALUE.pack(self.value) + self.minhash
        return data

    @classmethod
    def from_bytes(cls, data: bytes) -> OwnPart:
        """Return what to_bytes() wrote, by its length as `Fingerprint` checked it."""
        kind, tokens, whole, words, text = _HEAD.unpack_from(data)
        whole, text = _lengthened(whole), int.from_bytes(text, "big")
        if kind != PART:
            return cls(kind, tokens, words=words, whole=whole, text=text)
        (value,) = _VALUE.unpack_from(data, _HEAD.size)
        minhash = data[_HEAD.size + _VALUE.size : _PART_BYTES]
        return cls(PART, tokens, value, minhash, words, whole, text)


def _shortened(count: int) -> int:
    exponent = max(0, count.bit_length() - 5)
    return count if count < 16 else min(16 * (exponent + 1) + (count >> exponent & 15), 255)


def _lengthened(byte: int) -> int:
    return byte if byte < 16 else (16 | byte & 15) << (byte // 16 - 1)


#: The first byte of a ``PART``.
PART_START = bytes((PART,))


def is_part(own: bytes) -> bool:
    """Tell whether *own* is a ``PART``, without reading more of it than its kind."""
    return own[:1] == PART_START


def own_part_length(kind: int) -> int:
    """Return how many bytes an own part of a *kind* has."""
    return _PART_BYTES if kind == PART else _HEAD.size


def is_own_part(data: bytes) -> bool:
    """Tell whether *data* can be what to_bytes() gave: the kind in it agrees with its length."""
    return bool(data) and data[0] <= DOUBTFUL and len(data) == own_part_length(data[0])


def own_value(own: bytes) -> int:
    """Return the value by which the own part in *own* is searched for, 0 for none."""
    return int.from_bytes(own[_HEAD.size : _HEAD.size + _VALUE.size], "big") if is_part(own) else 0
