"""Tables that are split into ranges, the shards, which may be on separate machines.

With 256 shards the first byte of the permuted fingerprint is the number of its shard::

    table of A C F   | 00 ... | 01 ... | 02 ... |  ......  | ff ... |
                                   ^
    permuted query            0x 01 9c ...               one shard of each table is searched: its key begins with
                                                         that byte; for a key of only 6 bits, four neighbours

Source: Manku, Jain, Das Sarma, WWW 2007, section 3; 256 shards by the first byte: the README of simhash-cpp.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from benchmarks.methods.method import Method, Plan
from benchmarks.methods.sorted_tables import SortedTable, permutations


class Address(NamedTuple):
    """Table and shard, counted from 0."""

    table: int
    shard: int


class ShardedTables(Method):
    """Sorted tables in 2**``shard_bits`` shards each, which are created when needed.

    >>> method = ShardedTables(Plan.classic(max_distance=3, blocks=6), shard_bits=8)
    >>> method.add_many([0b0000, 0b0111, 0b1111])
    >>> method.find(0b0000)
    [Found(value=0, distance=0), Found(value=7, distance=3)]
    >>> len(method.asked(0b0000))
    20
    """

    def __init__(self, plan: Plan, shard_bits: int) -> None:
        self.max_distance = plan.max_distance
        self._shift = 64 - shard_bits
        self._permutations = permutations(plan)
        self.shards: dict[Address, SortedTable] = {}

    def add_many(self, values: Iterable[int]) -> None:
        """Add *values* to one shard of each table, with one call per shard."""
        dealt: dict[Address, list[int]] = {}
        for value in values:
            for table, order in enumerate(self._permutations):
                dealt.setdefault(Address(table, order.permute(value) >> self._shift), []).append(value)
        for address, batch in dealt.items():
            order = self._permutations[address.table]
            self.shards.setdefault(address, SortedTable(order)).add_many(batch)

    def asked(self, value: int) -> list[Address]:
        """Return the shards to search for *value*: one of each table, or all that have a short key in common."""
        asked = []
        for table, order in enumerate(self._permutations):
            spread = max(64 - self._shift - order.key_bits, 0)
            first = order.permute(value) >> self._shift >> spread << spread
            asked += [Address(table, shard) for shard in range(first, first + (1 << spread))]
        return asked

    def candidates(self, value: int) -> Iterator[int]:
        """Yield the candidates of these shards."""
        for address in self.asked(value):
            if address in self.shards:
                yield from self.shards[address].candidates(value)
