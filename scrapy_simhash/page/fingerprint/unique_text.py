"""UniqueText: a second fingerprint of a page, for the text that its site does not repeat.

The first fingerprint depends on the page alone; this one depends on the boilerplate that was known when the page was
read. As bytes::

    1 byte     kind
    2 bytes    tokens, at most 65535
    1 byte     tokens of the main text: exact below 16, else 4 bits of exponent, and the 4 bits after the leading 1
    2 bytes    hash of the words of the article
    5 bytes    hash of title and main text
    8 bytes    value                     these two for ``PART`` only
    112 bytes  minhash, as in a sketch
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from scrapy_simhash.page.fingerprint.sketch import MINHASH_BYTES

_HEAD = Struct(">BHBH5s")
_VALUE = Struct(">Q")
_MAX_TOKENS = 0xFFFF
_PART_BYTES = _HEAD.size + _VALUE.size + MINHASH_BYTES

#: Too little is known about the site; ``tokens`` is the number in the main text.
UNKNOWN = 0
#: The page has no boilerplate: all its main text is unique.
WHOLE = 1
#: Some of the main text is boilerplate.
PART = 2
#: The site is known, but much of the text may be boilerplate; ``tokens`` includes that text.
DOUBTFUL = 3
#: Stored bits of the hash of title and main text.
TEXT_MASK = 2**40 - 1


class UniqueText(NamedTuple):
    """The part of a page that its site does not repeat."""

    kind: int
    tokens: int
    """0 to 65535; longer texts count as 65535."""
    value: int = 0
    """Simhash of a ``PART``; 0 if the unique text is too short for one. It is then compared but not searched for."""
    minhash: bytes = b""
    """112 bytes of the sketch of a ``PART``."""
    words: int = 0
    """16-bit hash of the words of the article without numbers and dates; see
    :func:`~scrapy_simhash.page.pieces.words_number`."""
    whole: int = 0
    """Tokens of the main text including boilerplate; the stored number is up to a sixteenth smaller."""
    text: int = 0
    """The low 40 bits of the hash of title and main text."""

    def to_bytes(self) -> bytes:
        """Return 11 bytes, or 131 for a ``PART``."""
        data = _HEAD.pack(
            self.kind,
            min(self.tokens, _MAX_TOKENS),
            _shortened(self.whole),
            self.words,
            self.text.to_bytes(5, "big"),
        )
        if self.kind == PART:
            data += _VALUE.pack(self.value) + self.minhash
        return data

    @classmethod
    def from_bytes(cls, data: bytes) -> UniqueText:
        """Return the unique text for a result of to_bytes(), whose length `Fingerprint` has checked."""
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
    """Return whether the kind of *own* is ``PART``."""
    return own[:1] == PART_START


def unique_text_length(kind: int) -> int:
    """Return the length in bytes of a unique text of this *kind*."""
    return _PART_BYTES if kind == PART else _HEAD.size


def is_unique_text(data: bytes) -> bool:
    """Return whether *data* has the length of a unique text of the kind in its first byte."""
    return bool(data) and data[0] <= DOUBTFUL and len(data) == unique_text_length(data[0])


def unique_value(own: bytes) -> int:
    """Return the simhash by which the unique text in *own* is searched for; 0 for none."""
    return int.from_bytes(own[_HEAD.size : _HEAD.size + _VALUE.size], "big") if is_part(own) else 0
