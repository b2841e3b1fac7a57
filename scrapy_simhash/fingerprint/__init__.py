"""Features to Fingerprint: a hash for each feature, one weighted vote for each bit."""

from scrapy_simhash.fingerprint.fold import TIE_MASK, fold
from scrapy_simhash.fingerprint.hashing import digest
from scrapy_simhash.fingerprint.value import Fingerprint

__all__ = ["TIE_MASK", "Fingerprint", "digest", "fold"]
