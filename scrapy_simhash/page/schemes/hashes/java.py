"""Java's ``String.hashCode``: 31 times the hash so far, plus the next unit of UTF-16; 32 bits.

Source: the documentation of java.lang.String. As a feature hash it is poor: that of a short word is a small number,
so the upper bits of all short words are equal. A scheme with it has 32 bits.
"""

from __future__ import annotations

from scrapy_simhash.page.schemes.hashes.feature_hash import FeatureHash
from scrapy_simhash.page.schemes.hashes.fnv import utf16_units


def _hash_code(feature: str) -> int:
    value = 0
    for unit in utf16_units(feature):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value


#: Without its sign: the 32 bits that Java shows as a signed number.
JAVA = FeatureHash("java_32", 32, _hash_code)
