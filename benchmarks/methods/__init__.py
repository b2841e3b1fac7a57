"""Other search methods that the source documents describe, each short and exact.

Each method stores a set of distinct fingerprints and finds those within a distance of a query. Crawls do not use
these methods: they are here for reading, and tests compare them with ``SimhashIndex``.
"""

from benchmarks.methods.flips import ExpandedSet, FlipProbing, probes
from benchmarks.methods.frozen import FrozenTables
from benchmarks.methods.method import Found, Method, Plan, effective_bits, nested
from benchmarks.methods.shards import ShardedTables
from benchmarks.methods.sorted_tables import (
    Permutation,
    SortedRuns,
    SortedTables,
    by_bisection,
    by_interpolation,
)
from benchmarks.methods.trie import SortedTrie

__all__ = [
    "ExpandedSet",
    "FlipProbing",
    "Found",
    "FrozenTables",
    "Method",
    "Permutation",
    "Plan",
    "ShardedTables",
    "SortedRuns",
    "SortedTables",
    "SortedTrie",
    "by_bisection",
    "by_interpolation",
    "effective_bits",
    "nested",
    "probes",
]
