"""Identity: which job, event, product or place a page says it is about, as its structured data names it.

As bytes, kept at the end of an own part::

    1 byte    kind
    2 bytes   a hash of the host: one site names a thing in one way, two sites often in two
    6 bytes   3 numbers of 16 bits: a hash of each part of the identity, 0 for a part that is not given
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import Struct

from scrapy_simhash.page.fingerprint.hashing import digest

PARTS = 3
_IDENTITY = Struct(f">BH{PARTS}H")
IDENTITY_BYTES = _IDENTITY.size

#: Kinds of things, by number. Where a page names things of several kinds, it is about the first kind.
JOB, EVENT, PRODUCT, PLACE = KINDS = (1, 2, 3, 4)


def identity_of(kind: int, parts: Sequence[Iterable[str]], host: str = "") -> bytes:
    """Return the identity of a thing of a *kind* as 9 bytes; *parts* are three sets of words, empty if not given."""
    return _IDENTITY.pack(kind, _number([host]), *(_number(words) for words in parts))


def are_different(a: bytes, b: bytes) -> bool:
    """Tell whether two identities name different things: both of one kind and host, with a part that differs.

    What only one of them gives says nothing, nor does an empty identity.

    >>> here, there = (identity_of(JOB, [["nurse"], [], [town]]) for town in ("kiel", "bonn"))
    >>> are_different(here, there), are_different(here, here), are_different(here, b"")
    (True, False, False)
    """
    if not (a and b):
        return False
    kind, host, *parts = _IDENTITY.unpack(a)
    its_kind, its_host, *its_parts = _IDENTITY.unpack(b)
    if (kind, host) != (its_kind, its_host):
        return False
    return any(one and its and one != its for one, its in zip(parts, its_parts, strict=True))


def _number(words: Iterable[str]) -> int:
    text = " ".join(sorted(set(words)))
    return int.from_bytes(digest(text)[:2], "big") or 1 if text else 0
