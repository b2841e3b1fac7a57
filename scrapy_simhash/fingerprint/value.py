"""Fingerprint: what is left of a page when it is compared."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The 64-bit simhash of a page; two are equal when their values are.

    >>> fingerprint = Fingerprint(0x1F, features=120)
    >>> fingerprint.hex, int(fingerprint)
    ('000000000000001f', 31)
    """

    value: int
    """0 to 2**64 - 1."""
    features: int = field(default=0, compare=False)
    """How many distinct features were folded."""

    def __post_init__(self) -> None:
        if not 0 <= self.value < 1 << 64:
            raise ValueError(f"value must be in 0 .. 2**64 - 1, got {self.value}")

    def __int__(self) -> int:
        return self.value

    @property
    def hex(self) -> str:
        """The value as 16 hexadecimal digits, most significant first."""
        return f"{self.value:016x}"
