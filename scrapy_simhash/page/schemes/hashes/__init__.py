"""Feature hashes: a feature to bits, each as its source defines it."""

from scrapy_simhash.page.schemes.hashes.feature_hash import FeatureHash
from scrapy_simhash.page.schemes.hashes.fnv import FNV1, FNV1_UTF16, FNV1A, FNV1A_LONG, FNV1A_SHORT
from scrapy_simhash.page.schemes.hashes.gb2312 import GB2312
from scrapy_simhash.page.schemes.hashes.java import JAVA
from scrapy_simhash.page.schemes.hashes.jenkins import JENKINS
from scrapy_simhash.page.schemes.hashes.xxh3 import XXH3, XXH3_LONG

__all__ = [
    "FNV1",
    "FNV1A",
    "FNV1A_LONG",
    "FNV1A_SHORT",
    "FNV1_UTF16",
    "GB2312",
    "JAVA",
    "JENKINS",
    "XXH3",
    "XXH3_LONG",
    "FeatureHash",
]
