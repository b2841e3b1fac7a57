"""Fingerprint: the 64-bit simhash of a page with its sketch and unique text."""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import Struct, error
from typing import ClassVar

from scrapy_simhash.page.fingerprint.sketch import is_sketch, sketch_length
from scrapy_simhash.page.fingerprint.unique_text import is_unique_text, unique_value

_HEAD = Struct(">QI")
_VALUE_BYTES = 8


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The 64-bit simhash of a page, and its MinHash sketch. Fingerprints are equal if their values are equal.

    >>> fingerprint = Fingerprint(0x1F, features=120)
    >>> fingerprint.hex, int(fingerprint)
    ('000000000000001f', 31)
    >>> Fingerprint.from_bytes(fingerprint.to_bytes()).features
    120
    """

    width: ClassVar[int] = 64
    """Bits of a value."""

    value: int
    """0 to 2**64 - 1."""
    features: int = field(default=0, compare=False)
    """Number of distinct features, 0 to 2**32 - 1."""
    sketch: bytes = field(default=b"", compare=False, repr=False)
    """129 to 256 bytes, see :mod:`scrapy_simhash.page.fingerprint.sketch`; empty for none."""
    own: bytes = field(default=b"", compare=False, repr=False)
    """The unique text of the page, see :mod:`scrapy_simhash.page.fingerprint.unique_text`: 11 or 131 bytes; empty
    without site learning."""

    def __post_init__(self) -> None:
        if not 0 <= self.value < 1 << self.width:
            raise ValueError(f"value must be from 0 to 2**{self.width} - 1, got {self.value}")
        if self.sketch and not is_sketch(self.sketch):
            raise ValueError(f"sketch must be empty or a sketch as bytes, got {len(self.sketch)} bytes")
        if self.own and not is_unique_text(self.own):
            raise ValueError(f"own must be empty or a unique text as bytes, got {len(self.own)} bytes")

    def __int__(self) -> int:
        return self.value

    @property
    def hex(self) -> str:
        """The value as hexadecimal digits, 16 for 64 bits, most significant first."""
        return f"{self.value:0{self.width // 4}x}"

    def to_bytes(self) -> bytes:
        """Return value (8 bytes), number of features (4), both big endian, and sketch: 12, or 141 to 268 bytes."""
        return _HEAD.pack(self.value, self.features) + self.sketch

    @classmethod
    def from_bytes(cls, data: bytes) -> Fingerprint:
        """Return the fingerprint for a result of to_bytes(). Raises ValueError for other bytes."""
        try:
            value, features = _HEAD.unpack_from(data)
        except error as cause:
            raise ValueError(f"a fingerprint has at least {_HEAD.size} bytes, got {len(data)}") from cause
        return cls(value, features, bytes(data[_HEAD.size :]))

    def compared_bytes(self) -> bytes:
        """Return the bytes that a rule compares: value (big endian), sketch and unique text; 8, or 137 to 395 bytes.

        Without a sketch only the value is compared.
        """
        rest = self.sketch + self.own if self.sketch else b""
        return self.value.to_bytes(_VALUE_BYTES, "big") + rest

    @classmethod
    def from_compared_bytes(cls, data: bytes) -> Fingerprint:
        """Return the fingerprint in *data*, without its number of features. Raises ValueError for other bytes."""
        if len(data) < _VALUE_BYTES:
            raise ValueError(f"no fingerprint has {len(data)} bytes")
        try:
            own = _VALUE_BYTES + sketch_length(data, _VALUE_BYTES)
        except IndexError:
            raise ValueError(f"no fingerprint has {len(data)} bytes") from None
        return cls(int.from_bytes(data[:_VALUE_BYTES], "big"), 0, data[_VALUE_BYTES:own], data[own:])


@dataclass(frozen=True, slots=True)
class LongFingerprint(Fingerprint):
    """A simhash of 128 bits, only for comparisons: stores and indexes do not support it, and it cannot be serialised.

    >>> LongFingerprint(2**64).hex
    '00000000000000010000000000000000'
    """

    width: ClassVar[int] = 128


def compared_values(data: bytes) -> tuple[int, ...]:
    """Return the values of the text and, if any, of the unique text in *data*, a result of ``compared_bytes()``."""
    value = int.from_bytes(data[:_VALUE_BYTES], "big")
    own = unique_value(data[_VALUE_BYTES + sketch_length(data, _VALUE_BYTES) :])
    return (value, own) if own else (value,)
