"""Other ways to search within a Hamming distance: those the literature names beside the one that is used here.

Each is a small class that holds a set of fingerprints and finds what is near, all with the same answers. They are
here to be read and compared, and one or the other is right where ``SimhashIndex`` is not: a file that several
processes map, tables on several machines, a set of a database. The chapters: ``base`` (what they have in common);
``flips``, ``expanded`` and ``trie`` (without tables); ``plans.permutation``, ``interpolation`` and ``sorted_tables``
(the tables of the paper); ``runs`` (tables that grow); ``huffman``, ``gaps``, ``packed_table`` and ``frozen`` (tables
compressed); ``shards`` (tables cut).
"""

from scrapy_simhash.index.alternatives.base import Found, GrowingWay, Way
from scrapy_simhash.index.alternatives.expanded import ExpandedSet, estimate
from scrapy_simhash.index.alternatives.flips import FlipProbing, probes
from scrapy_simhash.index.alternatives.frozen import FrozenTables
from scrapy_simhash.index.alternatives.interpolation import by_guessing, by_halving
from scrapy_simhash.index.alternatives.runs import SortedRuns
from scrapy_simhash.index.alternatives.shards import Address, GrowingShardedTables, Router, ShardedTables
from scrapy_simhash.index.alternatives.sorted_tables import SortedTable, SortedTables
from scrapy_simhash.index.alternatives.trie import SortedTrie
from scrapy_simhash.index.plans.permutation import Permutation, permutations

__all__ = [
    "Address",
    "ExpandedSet",
    "FlipProbing",
    "Found",
    "FrozenTables",
    "GrowingShardedTables",
    "GrowingWay",
    "Permutation",
    "Router",
    "ShardedTables",
    "SortedRuns",
    "SortedTable",
    "SortedTables",
    "SortedTrie",
    "Way",
    "by_guessing",
    "by_halving",
    "estimate",
    "permutations",
    "probes",
]
