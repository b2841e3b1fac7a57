"""Features to Fingerprint: a hash for each feature, one weighted vote for each bit."""

from scrapy_simhash.page.fingerprint.fold import TIE_MASK, fold
from scrapy_simhash.page.fingerprint.hashing import digest, number, occurrences
from scrapy_simhash.page.fingerprint.sketch import SKETCH_BYTES, same_subject, similarity, sketch
from scrapy_simhash.page.fingerprint.value import Fingerprint

__all__ = [
    "SKETCH_BYTES",
    "TIE_MASK",
    "Fingerprint",
    "digest",
    "fold",
    "number",
    "occurrences",
    "same_subject",
    "similarity",
    "sketch",
]
