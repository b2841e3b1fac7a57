"""The other ways to search that the source documents describe, each short and exact.

A way holds a set of distinct fingerprints and finds those within a distance of a query. No crawl uses them: they are
here to be read, and compared with ``SimhashIndex`` by tests.
"""

from benchmarks.methods.flips import ExpandedSet, FlipProbing, probes
from benchmarks.methods.frozen import FrozenTables
from benchmarks.methods.shards import ShardedTables
from benchmarks.methods.sorted_tables import Permutation, SortedRuns, SortedTables, by_guessing, by_halving
from benchmarks.methods.trie import SortedTrie
from benchmarks.methods.way import Found, Plan, Way, effective_bits, nested

__all__ = [
    "ExpandedSet",
    "FlipProbing",
    "Found",
    "FrozenTables",
    "Permutation",
    "Plan",
    "ShardedTables",
    "SortedRuns",
    "SortedTables",
    "SortedTrie",
    "Way",
    "by_guessing",
    "by_halving",
    "effective_bits",
    "nested",
    "probes",
]
