"""Which ``SIMHASH_MIN_SIMILARITY`` suits a site, by pairs of its pages that somebody judged."""

from scrapy_simhash.tuning.bands import EDGES, Band, bands_of
from scrapy_simhash.tuning.estimate import Estimate, Interval, estimates, least_for
from scrapy_simhash.tuning.pairs import Pair, pairs_of

__all__ = [
    "EDGES",
    "Band",
    "Estimate",
    "Interval",
    "Pair",
    "bands_of",
    "estimates",
    "least_for",
    "pairs_of",
]
