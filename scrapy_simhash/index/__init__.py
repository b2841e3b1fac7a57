"""The exact search for fingerprints within a Hamming distance, in pure Python.

``SimhashIndex`` is the index, ``LinearScan`` its oracle. The chapters, in the order of the idea: ``blocks``
(the 64 bits cut), ``plan`` (which blocks lead which table), ``address`` (where a fingerprint stands in a
table), ``table`` (one of them), ``index`` (all of them). Nothing here knows of pages, of Scrapy or of any
other package.
"""

from scrapy_simhash.index.distance import hamming_distance
from scrapy_simhash.index.index import SimhashIndex
from scrapy_simhash.index.match import Match
from scrapy_simhash.index.plan import Plan
from scrapy_simhash.index.scan import LinearScan

__all__ = ["LinearScan", "Match", "Plan", "SimhashIndex", "hamming_distance"]
