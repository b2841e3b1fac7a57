"""OwnPart: a second fingerprint, of what is left of a page without the text that its site repeats.

It stands beside the first, never in it: the first 64 bits are a function of the page alone, this depends on what was
known about the site when the page came. As bytes::

    1 byte     kind; 4 more with an identity
    2 bytes    tokens, at most 65535
    1 byte     tokens of the main text: below 16 as they are, else 4 bits of exponent, and the 4 after the first one
    2 bytes    words
    5 bytes    text
    8 bytes    value                     these two for ``PART`` only
    112 bytes  minhash, as in a sketch
    9 bytes    identity                  if the page's structured data names one
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import Struct
from typing import NamedTuple

from scrapy_simhash.page.fingerprint.fold import digest
from scrapy_simhash.page.fingerprint.sketch import MINHASH_BYTES

# Identity: which job, event, product or place a page says it is about, as its structured data names it.
#
# As bytes, kept at the end of an own part::
#
#     1 byte    kind
#     2 bytes   a hash of the host: one site names a thing in one way, two sites often in two
#     6 bytes   3 numbers of 16 bits: a hash of each part of the identity, 0 for a part that is not given

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


def thing_of(identity: bytes) -> bytes:
    """Return an identity without its host: mirrors name the same thing.

    >>> one, other = (identity_of(JOB, [["nurse"], [], ["kiel"]], host) for host in ("a.example", "b.example"))
    >>> thing_of(one) == thing_of(other)
    True
    """
    return identity[:1] + identity[3:]


def _number(words: Iterable[str]) -> int:
    text = " ".join(sorted(set(words)))
    return int.from_bytes(digest(text)[:2], "big") or 1 if text else 0


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
_KIND = 3
_WITH_IDENTITY = 4


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
    identity: bytes = b""
    """9 bytes: which thing the page is about, see :mod:`scrapy_simhash.page.fingerprint.own_part`; empty if it names
    none."""
    words: int = 0
    """16 bits for the words of the article without numbers and dates, 0 to 65535, see
    :func:`~scrapy_simhash.page.pieces.words_number`."""
    whole: int = 0
    """Tokens of the main text, with those that are the site's; as bytes up to a sixteenth fewer are kept."""
    text: int = 0
    """The low 40 bits of the hash of title and main text."""

    def to_bytes(self) -> bytes:
        """Return 11 bytes, or 131 for a ``PART``; 9 more with an identity."""
        kind = self.kind | _WITH_IDENTITY if self.identity else self.kind
        data = _HEAD.pack(
            kind,
            min(self.tokens, _MOST_TOKENS),
            _shortened(self.whole),
            self.words,
            self.text.to_bytes(5, "big"),
        )
        if self.kind == PART:
            data += _VALUE.pack(self.value) + self.minhash
        return data + self.identity

    @classmethod
    def from_bytes(cls, data: bytes) -> OwnPart:
        """Return what to_bytes() wrote, by its length as `Fingerprint` checked it."""
        kind, tokens, whole, words, text = _HEAD.unpack_from(data)
        whole, text = _lengthened(whole), int.from_bytes(text, "big")
        if kind & _KIND != PART:
            return cls(kind & _KIND, tokens, identity=data[_HEAD.size :], words=words, whole=whole, text=text)
        (value,) = _VALUE.unpack_from(data, _HEAD.size)
        minhash, rest = data[_HEAD.size + _VALUE.size : _PART_BYTES], data[_PART_BYTES:]
        return cls(PART, tokens, value, minhash, rest, words, whole, text)


def _shortened(count: int) -> int:
    exponent = max(0, count.bit_length() - 5)
    return count if count < 16 else min(16 * (exponent + 1) + (count >> exponent & 15), 255)


def _lengthened(byte: int) -> int:
    return byte if byte < 16 else (16 | byte & 15) << (byte // 16 - 1)


#: The first bytes of those that are a ``PART``.
STARTS_OF_PARTS = frozenset(bytes((first,)) for first in range(256) if first & _KIND == PART)


def is_part(own: bytes) -> bool:
    """Tell whether *own* is a ``PART``, without reading more of it than its kind."""
    return own[:1] in STARTS_OF_PARTS


def own_part_length(first: int) -> int:
    """Return how many bytes an own part has whose first byte is *first*."""
    length = _PART_BYTES if first & _KIND == PART else _HEAD.size
    return length + IDENTITY_BYTES if first & _WITH_IDENTITY else length


#: By the first byte.
_LENGTHS = {first: own_part_length(first) for first in range((_KIND | _WITH_IDENTITY) + 1)}


def is_own_part(data: bytes) -> bool:
    """Tell whether *data* can be what to_bytes() gave: the kind in it agrees with its length."""
    return bool(data) and len(data) == _LENGTHS.get(data[0])


def own_value(own: bytes) -> int:
    """Return the value by which the own part in *own* is searched for, 0 for none."""
    return int.from_bytes(own[_HEAD.size : _HEAD.size + _VALUE.size], "big") if is_part(own) else 0
