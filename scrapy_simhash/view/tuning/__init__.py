"""Which ``SIMHASH_MIN_SIMILARITY`` suits a site, by pairs of its pages that somebody judged."""

from scrapy_simhash.view.tuning.bands import EDGES, Band, bands_of
from scrapy_simhash.view.tuning.estimate import Estimate, Interval, estimates, least_for
from scrapy_simhash.view.tuning.neighbours import Neighbours
from scrapy_simhash.view.tuning.pairs import TOLD, Pair, pairs_of
from scrapy_simhash.view.tuning.sample import Sample

__all__ = [
    "EDGES",
    "TOLD",
    "Band",
    "Estimate",
    "Interval",
    "Neighbours",
    "Pair",
    "Sample",
    "bands_of",
    "estimates",
    "least_for",
    "pairs_of",
]
