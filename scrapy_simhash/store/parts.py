"""Parts: what features keep of a page beside its text, by name and version. Stores do not look into them."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

#: Length of the name, version, length of the data; then the name in ASCII, and the data.
_HEAD = Struct(">BHI")


class Part(NamedTuple):
    """One optional part of a page, such as its links."""

    name: str
    """At most 255 characters of ASCII."""
    version: int
    """Of the bytes in *data*, 0 to 65,535. Who does not know the version leaves the part alone."""
    data: bytes
    """At most 4 GB; a part is read and written with its page, so it should have some hundred bytes."""


def packed(parts: Iterable[Part]) -> bytes:
    r"""Return *parts* as a store keeps them, one after another; empty if there are none.

    Raises ValueError for a name that is not ASCII or too long, and for a version that is too large.

    >>> packed([Part("links", 1, b"ab")])
    b'\x05\x00\x01\x00\x00\x00\x02linksab'
    """
    found = []
    for part in parts:
        name = part.name.encode("ascii")
        if not 0 < len(name) <= 0xFF or not 0 <= part.version <= 0xFFFF:
            raise ValueError(
                f"a part must have a name of 1 to 255 characters and a version up to 65535, got {part[:2]}"
            )
        found.append(_HEAD.pack(len(name), part.version, len(part.data)) + name + part.data)
    return b"".join(found)


def unpacked(data: bytes) -> tuple[Part, ...]:
    """Return the parts that packed() took.

    >>> unpacked(packed([Part("own", 2, b""), Part("links", 1, b"ab")]))
    (Part(name='own', version=2, data=b''), Part(name='links', version=1, data=b'ab'))
    """
    found, start = [], 0
    while start < len(data):
        name_length, version, length = _HEAD.unpack_from(data, start)
        name_end = start + _HEAD.size + name_length
        end = name_end + length
        name = data[start + _HEAD.size : name_end].decode("ascii")
        found.append(Part(name, version, bytes(data[name_end:end])))
        start = end
    return tuple(found)
