"""FNV: multiply by a prime, xor with the next unit; FNV-1a the other way round.

Source: Fowler, Noll, Vo, published as RFC 9923. A word's last unit changes only the lowest bits of FNV-1, since no
multiplication follows: words with the same beginning are near. FNV-1a spreads them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from scrapy_simhash.page.schemes.hashes.feature_hash import FeatureHash

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
    """Return what Java's ``charAt`` sees of *text*: 16 bits each; a character beyond the first plane is two.

    >>> list(utf16_units("aé😀"))
    [97, 233, 55357, 56832]
    """
    units = array("H", text.encode("utf-16-le", "surrogatepass"))
    if units.itemsize != 2:
        raise RuntimeError("this platform has no numbers of 16 bits")
    if _IS_BIG_ENDIAN:
        units.byteswap()
    return units


_IS_BIG_ENDIAN = array("H", [1]).tobytes() != b"\x01\x00"

#: Over the bytes of UTF-8, in three widths. The English article among the documents names it.
FNV1A_SHORT = FeatureHash("fnv1a_32", 32, lambda feature: _fnv1a(feature.encode("utf-8", "replace"), 32))
FNV1A = FeatureHash("fnv1a_64", 64, lambda feature: _fnv1a(feature.encode("utf-8", "replace"), 64))
FNV1A_LONG = FeatureHash("fnv1a_128", 128, lambda feature: _fnv1a(feature.encode("utf-8", "replace"), 128))
FNV1 = FeatureHash("fnv1_64", 64, lambda feature: _fnv1(feature.encode("utf-8", "replace"), 64))
#: The hash of the Java class among the documents: FNV-1, but over units of 16 bits. Its class multiplies numbers of
#: any length and cuts them to 64 bits at the end; cut in each step, they end in the same 64 bits.
FNV1_UTF16 = FeatureHash("fnv1_64_utf16", 64, lambda feature: _fnv1(utf16_units(feature), 64))
