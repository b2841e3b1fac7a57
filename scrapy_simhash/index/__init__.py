"""The exact search for fingerprints within a Hamming distance.

``SimhashIndex`` is the index. Nothing here knows of pages, of Scrapy or of any other package but the C extension,
which may be missing. The modules, in the order of the idea: ``plans`` (the 64 bits cut into blocks, and which blocks
are the keys of which table), ``index`` (the index over the C extension), ``scan`` (the search without it), ``pairs``
(all pairs at once).
"""

from scrapy_simhash.index.index import SimhashIndex
from scrapy_simhash.index.pairs import connected, pairs
from scrapy_simhash.index.values import Match, hamming_distance

__all__ = ["Match", "SimhashIndex", "connected", "hamming_distance", "pairs"]
