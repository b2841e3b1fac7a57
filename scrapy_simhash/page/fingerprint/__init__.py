"""Features to Fingerprint: a hash for each feature, one weighted vote for each bit."""

from scrapy_simhash.page.fingerprint.fold import TIE_MASK, fold, leads
from scrapy_simhash.page.fingerprint.hashing import digest, number, occurrences
from scrapy_simhash.page.fingerprint.identity import IDENTITY_BYTES, are_different
from scrapy_simhash.page.fingerprint.own_part import (
    DOUBTFUL,
    LEAST_BYTES,
    MOST_BYTES,
    PART,
    TEXT_MASK,
    UNKNOWN,
    WHOLE,
    OwnPart,
    is_own_part,
    is_part,
    own_part_length,
    own_value,
)
from scrapy_simhash.page.fingerprint.sketch import (
    EQUAL_KEY,
    MINHASH_BYTES,
    NO_KEY,
    OTHER_KEY,
    SKETCH_BYTES,
    WITHIN,
    compare_keys,
    similarity,
    sketch,
    subject_number,
)
from scrapy_simhash.page.fingerprint.value import Fingerprint, LongFingerprint, compared_values

__all__ = [
    "DOUBTFUL",
    "EQUAL_KEY",
    "IDENTITY_BYTES",
    "LEAST_BYTES",
    "MINHASH_BYTES",
    "MOST_BYTES",
    "NO_KEY",
    "OTHER_KEY",
    "PART",
    "SKETCH_BYTES",
    "TEXT_MASK",
    "TIE_MASK",
    "UNKNOWN",
    "WHOLE",
    "WITHIN",
    "Fingerprint",
    "LongFingerprint",
    "OwnPart",
    "are_different",
    "compare_keys",
    "compared_values",
    "digest",
    "fold",
    "is_own_part",
    "is_part",
    "leads",
    "number",
    "occurrences",
    "own_part_length",
    "own_value",
    "similarity",
    "sketch",
    "subject_number",
]
