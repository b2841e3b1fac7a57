"""Exact search for fingerprints within a Hamming distance.

``SimhashIndex`` is the index. This package needs only the standard library, and uses the C extension if it is built.
The modules are ``plans`` (blocks of the 64 bits, and the blocks in the key of each table), ``index`` (the index with
the C extension), ``scan`` (the search without it) and ``pairs`` (the search for all pairs).
"""

from scrapy_simhash.index.index import SimhashIndex
from scrapy_simhash.index.pairs import connected, pairs
from scrapy_simhash.index.values import Match, hamming_distance

__all__ = ["Match", "SimhashIndex", "connected", "hamming_distance", "pairs"]
