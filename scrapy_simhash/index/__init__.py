"""The exact search for fingerprints within a Hamming distance, in pure Python.

``SimhashIndex`` is the index, ``ProbingIndex`` the one for wide distances, ``LinearScan`` their oracle. The
chapters, in the order of the idea: ``blocks`` (the 64 bits cut), ``plan`` (which blocks lead which table),
``address`` (where a fingerprint stands in a table), ``table`` (one of them), ``postings`` (what is stored beside
them), ``index`` (all of them). For wide distances: ``probing_plan`` (how far from the query each block is
probed), ``cells`` (the table of a block), ``probing`` (all of them). Nothing here knows of pages, of Scrapy or
of any other package.
"""

from scrapy_simhash.index.distance import hamming_distance
from scrapy_simhash.index.index import SimhashIndex
from scrapy_simhash.index.match import Match
from scrapy_simhash.index.plan import Plan
from scrapy_simhash.index.probing import ProbingIndex
from scrapy_simhash.index.probing_plan import ProbingPlan
from scrapy_simhash.index.scan import LinearScan

__all__ = ["LinearScan", "Match", "Plan", "ProbingIndex", "ProbingPlan", "SimhashIndex", "hamming_distance"]
