"""XXH3, the hash of the default scheme. Source: the specification of xxHash; seed 0, over UTF-8."""

from __future__ import annotations

from xxhash import xxh3_128_intdigest

from scrapy_simhash.page.fingerprint import number
from scrapy_simhash.page.schemes.hashes.feature_hash import FeatureHash


def _xxh3_128(feature: str) -> int:
    value: int = xxh3_128_intdigest(feature.encode("utf-8", "replace"))
    return value


#: The default.
XXH3 = FeatureHash("xxh3_64", 64, number)
#: For schemes of 128 bits. Its lower half is not XXH3.
XXH3_LONG = FeatureHash("xxh3_128", 128, _xxh3_128)
