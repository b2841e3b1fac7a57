"""Feature hashes: hash functions for features, as defined by their sources."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from struct import iter_unpack
from typing import NamedTuple

from xxhash import xxh3_128_intdigest

from scrapy_simhash.page.fingerprint import number


class FeatureHash(NamedTuple):
    """A hash function for strings, and its number of bits.

    >>> length = FeatureHash("length", 32, len)
    >>> length.of("harbour")
    7
    """

    name: str
    bits: int
    """Number of bits. A scheme uses the lowest bits, and cannot be wider."""
    of: Callable[[str], int]
    """Returns 0 to 2**bits - 1, the same on every platform and in every process."""


def _utf8(feature: str) -> bytes:
    return feature.encode("utf-8", "replace")


#: XXH3, the hash of the default scheme. Source: the specification of xxHash; seed 0, over UTF-8.
XXH3 = FeatureHash("xxh3_64", 64, number)
#: For schemes of 128 bits. The lower half of this hash differs from XXH3 with 64 bits.
XXH3_LONG = FeatureHash("xxh3_128", 128, lambda feature: xxh3_128_intdigest(_utf8(feature)))

# FNV-1: multiply by a prime, then xor with the next unit; FNV-1a: xor, then multiply.
#
# Source: Fowler, Noll, Vo, published as RFC 9923. The last unit of a word changes only the lowest bits of FNV-1,
# because no multiplication follows, so words with the same beginning have similar hashes. With FNV-1a, their hashes
# differ.

#: Prime and offset by the number of bits.
_PRIMES = {32: 0x01000193, 64: 0x100000001B3, 128: 0x1000000000000000000013B}
_OFFSETS = {32: 0x811C9DC5, 64: 0xCBF29CE484222325, 128: 0x6C62272E07BB014262B821756295C58D}


def _fnv1(units: Iterable[int], bits: int) -> int:
    value, prime, mask = _OFFSETS[bits], _PRIMES[bits], (1 << bits) - 1
    for unit in units:
        value = (value * prime & mask) ^ unit
    return value


def _fnv1a(units: Iterable[int], bits: int) -> int:
    value, prime, mask = _OFFSETS[bits], _PRIMES[bits], (1 << bits) - 1
    for unit in units:
        value = (value ^ unit) * prime & mask
    return value


def utf16_units(text: str) -> array[int]:
    """Return the UTF-16 units of *text*, as Java's ``charAt``; a character beyond the first plane has two.

    >>> list(utf16_units("aé😀"))
    [97, 233, 55357, 56832]
    """
    units = array("H", text.encode("utf-16-le", "surrogatepass"))
    if units.itemsize != 2:
        raise RuntimeError("this platform has no 16-bit integers")
    if _IS_BIG_ENDIAN:
        units.byteswap()
    return units


_IS_BIG_ENDIAN = array("H", [1]).tobytes() != b"\x01\x00"

#: FNV-1a over the bytes of UTF-8, in three widths: the hash function of the *article* (see notes/mechanisms.rst).
FNV1A_SHORT = FeatureHash("fnv1a_32", 32, lambda feature: _fnv1a(_utf8(feature), 32))
FNV1A = FeatureHash("fnv1a_64", 64, lambda feature: _fnv1a(_utf8(feature), 64))
FNV1A_LONG = FeatureHash("fnv1a_128", 128, lambda feature: _fnv1a(_utf8(feature), 128))
FNV1 = FeatureHash("fnv1_64", 64, lambda feature: _fnv1(_utf8(feature), 64))
#: The hash of the Java class among the source documents: FNV-1 over 16-bit units. That class multiplies numbers of
#: any length and reduces the result to 64 bits at the end; reducing the hash in each step gives the same 64 bits.
FNV1_UTF16 = FeatureHash("fnv1_64_utf16", 64, lambda feature: _fnv1(utf16_units(feature), 64))

# Java's ``String.hashCode``: 31 times the hash so far, plus the next unit of UTF-16; 32 bits.
#
# Source: the documentation of java.lang.String. This is a poor feature hash: short words have small hashes, so their
# upper bits are equal. A scheme with this hash has 32 bits.


def _hash_code(feature: str) -> int:
    value = 0
    for unit in utf16_units(feature):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value


#: ``String.hashCode`` as an unsigned number; Java shows the same 32 bits as a signed one.
JAVA = FeatureHash("java_32", 32, _hash_code)

# Jenkins: lookup3 by Bob Jenkins (2006, public domain), the default hash of simhash-cpp's generator.
#
# ``hashlittle2`` returns two 32-bit numbers; simhash-cpp uses the first, which is mixed better, as the upper half.

_MASK_32 = 0xFFFFFFFF
_START = 0xDEADBEEF


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _MASK_32


def lookup3(data: bytes, first: int = 0, second: int = 0) -> tuple[int, int]:
    """Return two 32-bit hashes of *data*; *first* and *second* are seeds.

    >>> [f"{half:08x}" for half in lookup3(b"Four score and seven years ago")]
    ['17770551', 'ce7226e6']
    """
    a = b = c = (_START + len(data) + first) & _MASK_32
    c = (c + second) & _MASK_32
    if not data:
        return c, b
    # The last block, 1 to 12 bytes, is padded with zeros and mixed in a different way.
    blocks = list(iter_unpack("<3I", data + b"\0" * (-len(data) % 12)))
    for x, y, z in blocks[:-1]:
        a, b, c = _mixed((a + x) & _MASK_32, (b + y) & _MASK_32, (c + z) & _MASK_32)
    x, y, z = blocks[-1]
    return _finished((a + x) & _MASK_32, (b + y) & _MASK_32, (c + z) & _MASK_32)


def _mixed(a: int, b: int, c: int) -> tuple[int, int, int]:
    for first, second in ((4, 6), (8, 16), (19, 4)):
        a = (a - c & _MASK_32) ^ _rotated(c, first)
        c = (c + b) & _MASK_32
        b = (b - a & _MASK_32) ^ _rotated(a, second)
        a = (a + c) & _MASK_32
        # Rotate the variables, so that all six steps have the same form.
        a, b, c = c, a, b
    return a, b, c


def _finished(a: int, b: int, c: int) -> tuple[int, int]:
    for bits in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - _rotated(b, bits)) & _MASK_32
        a, b, c = b, c, a
    return b, a


def _jenkins(feature: str) -> int:
    first, second = lookup3(_utf8(feature))
    return first << 32 | second


JENKINS = FeatureHash("jenkins", 64, _jenkins)

# The hash function of the *slides* (see notes/mechanisms.rst): the characters of a Chinese word are the digits of a
# number.
#
# The code of a character is its position in GB2312, 0 to 6767 for hanzi, then ASCII. A word is a number in base
# 6,885, repeated until all 64 bits are used. So similar words have similar hashes, as the slides require: words with
# the same ending share their lowest bits.
#
# The hash is computed as in Java, where numbers overflow at 64 bits and shifts count modulo 64. So a word of five or
# more characters is not repeated but multiplied (by 3 for five). Full-width punctuation of GB2312 has negative codes,
# and a character that GB2312 lacks counts as a question mark.

#: The hanzi of GB2312: 72 rows of 94.
HANZI = 6768
#: The base in the slides: 117 additional codes, for ASCII from the tab character on.
BASE = HANZI + 117
#: Bits of a code.
CODE_BITS = 13
_FIRST_ROW, _FIRST_CELL, _CELLS = 176, 161, 94
_FIRST_ASCII = 9
_MASK = 2**64 - 1


def character_code(character: str) -> int:
    """Return the code of a character according to the slides; below 0 for full-width punctuation.

    >>> [character_code(one) for one in "啊齄a，€"]
    [0, 6767, 6856, -1211, 6822]
    """
    code = character.encode("gb2312", "replace")
    if len(code) == 2:
        return (code[0] - _FIRST_ROW) * _CELLS + code[1] - _FIRST_CELL
    return code[0] - _FIRST_ASCII + HANZI


def _word(feature: str) -> int:
    value, length = 0, 0
    for character in feature:
        # In Java a character beyond the first plane has two units, neither of which is in GB2312.
        for unit in character if ord(character) < 0x10000 else "??":
            value = (value * BASE + character_code(unit)) & _MASK
            length += CODE_BITS
    repeated = value
    for _ in range(64 // length + 1 if length else 0):
        repeated = ((repeated << length % 64) + value) & _MASK
    return repeated


GB2312 = FeatureHash("gb2312", 64, _word)
