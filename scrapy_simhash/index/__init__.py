"""The exact search for fingerprints within a Hamming distance.

``SimhashIndex`` is the index, ``ProbingIndex`` the one for wide distances, ``LinearScan`` their oracle. Nothing here
knows of pages, of Scrapy or of any other package but the kernel, which may be missing. The chapters, in the order of
the idea: ``plans`` and ``growth`` (the 64 bits cut into blocks, and which blocks lead which table), ``pure`` (the
tables in pure Python, the kernel's definition), ``index`` (one face over either, and its file), ``pairs`` (all at
once).
"""

from scrapy_simhash.index.growth import choose
from scrapy_simhash.index.index import (
    HammingIndex,
    IndexFileError,
    ProbingIndex,
    SimhashIndex,
    load,
    representatives,
    save,
)
from scrapy_simhash.index.pairs import connected, pairs
from scrapy_simhash.index.plans import Plan, ProbingPlan, plans_for
from scrapy_simhash.index.scan import LinearScan
from scrapy_simhash.index.values import Match, hamming_distance

__all__ = [
    "HammingIndex",
    "IndexFileError",
    "LinearScan",
    "Match",
    "Plan",
    "ProbingIndex",
    "ProbingPlan",
    "SimhashIndex",
    "choose",
    "connected",
    "hamming_distance",
    "load",
    "pairs",
    "plans_for",
    "representatives",
    "save",
]
