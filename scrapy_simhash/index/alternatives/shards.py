"""Each table cut into ranges, its *shards*, which may stand on machines of their own.

A table is ordered by the permuted fingerprint, so the leading bits of that say in which range one stands. With
256 shards that is the first byte::

    table of A C F   | 00 ... | 01 ... | 02 ... |  ......  | ff ... |
    table of B C D   | 00 ... | 01 ... | 02 ... |  ......  | ff ... |
                                   ^
    permuted query            0x 01 9c ...               one shard of each table is asked, for its key begins with
                                                         that byte; of a key of only 6 bits, four neighbours are

The *router* knows the plan and no fingerprint: it says who holds one, and who must be asked. To permute a
fingerprint changes no distance, so a shard need not know that what it holds is permuted, and any way of searching
will do.

Source: Manku, Jain, Das Sarma, WWW 2007, section 3; 256 shards by the first byte: the README of simhash-cpp.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol, SupportsIndex

from scrapy_simhash.index._arguments import checked_integer, checked_value
from scrapy_simhash.index.alternatives.base import Found, GrowingWay, Way
from scrapy_simhash.index.alternatives.sorted_tables import SortedTable
from scrapy_simhash.index.plans.blocks import BITS
from scrapy_simhash.index.plans.permutation import permutations
from scrapy_simhash.index.plans.plan import Plan

#: More shards of a table than this are a slip: 65,536.
MAX_SHARD_BITS = 16


class Address(NamedTuple):
    """Which shard of which table; the numbers of both begin with 0."""

    table: int
    shard: int


class Shard(Protocol):
    """What a shard can do. Every way can, a sorted table too, and so may something that asks another machine.

    Fingerprints are permuted, in and out.
    """

    def find(self, value: int) -> list[Found]:
        """Return what is within the distance of *value*; of what has the same key, all."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[int]: ...


class GrowingShard(Shard, Protocol):
    """A shard to which fingerprints can be added."""

    def add_many(self, values: Iterable[int]) -> None:
        """Add every one of *values*."""


class Router:
    """Who holds a fingerprint, and who must be asked about one.

    *shards* is the number of shards of each table: a power of two, up to 65,536, or ValueError is raised.

    >>> router = Router(Plan.classic(max_distance=1, blocks=2), shards=256)
    >>> for address, permuted in router.holders(0xAB00_0000_CD00_0000).items():
    ...     print(address, hex(permuted))
    Address(table=0, shard=171) 0xab000000cd000000
    Address(table=1, shard=205) 0xcd000000ab000000
    """

    def __init__(self, plan: Plan, shards: SupportsIndex = 256) -> None:
        self.plan = plan
        self.shards = checked_integer("shards", shards)
        if self.shards not in [1 << bits for bits in range(MAX_SHARD_BITS + 1)]:
            raise ValueError(
                f"shards must be a power of two up to {1 << MAX_SHARD_BITS:,}, got {self.shards}"
            )
        self._permutations = permutations(plan)
        self._shift = BITS - self.shards.bit_length() + 1

    def holders(self, value: SupportsIndex) -> dict[Address, int]:
        """Return the shards that hold *value*, one of each table, and in which form each holds it."""
        checked = checked_value(value)
        permuted = (permutation.permute(checked) for permutation in self._permutations)
        return {Address(table, number >> self._shift): number for table, number in enumerate(permuted)}

    def deal(self, values: Iterable[SupportsIndex]) -> dict[Address, array[int]]:
        """Return what each shard shall hold of *values*; a shard without any is not named."""
        batch = array("Q", map(checked_value, values))
        dealt: dict[Address, array[int]] = {}
        for table, permutation in enumerate(self._permutations):
            for number in permutation.permute_all(batch):
                dealt.setdefault(Address(table, number >> self._shift), array("Q")).append(number)
        return dealt

    def asked(self, value: SupportsIndex) -> dict[Address, int]:
        """Return the shards that may hold what is near *value*, and what each is to be asked.

        One of each table, or the neighbours that share its key where that is shorter than the number of a shard.

        >>> router = Router(Plan.classic(max_distance=15, blocks=16), shards=256)
        >>> [address.shard for address in router.asked(0x5000_0000_0000_0000)][:16] == list(range(0x50, 0x60))
        True
        """
        checked = checked_value(value)
        asked = {}
        for table, permutation in enumerate(self._permutations):
            permuted = permutation.permute(checked)
            spread = max(BITS - self._shift - permutation.key_bits, 0)
            first = permuted >> self._shift >> spread << spread
            for shard in range(first, first + (1 << spread)):
                asked[Address(table, shard)] = permuted
        return asked

    def restored(self, address: Address, value: int) -> int:
        """Return the fingerprint that the shard at *address* holds as *value*."""
        return self._permutations[address.table].unpermute(value)


class ShardedTables(Way):
    """Tables in shards, searched through one router.

    *shards* has them by address, any kind of each; where there is none, nothing is stored.

    *Costs* what its shards cost, and a question to one shard of each table, 20 for the classic plan. All may be asked
    at the same time.
    *The right one* where the tables do not fit one machine, one file or one process.

    >>> from scrapy_simhash.index.alternatives import FrozenTables
    >>> router = Router(Plan.classic(max_distance=3, blocks=6), shards=256)
    >>> dealt = router.deal([0b0000, 0b0111, 0b1111])
    >>> way = ShardedTables(router, {place: FrozenTables(router.plan, dealt[place]) for place in dealt})
    >>> way.find(0b0000)
    [Found(value=0, distance=0), Found(value=7, distance=3)]
    """

    def __init__(self, router: Router, shards: Mapping[Address, Shard]) -> None:
        self.router = router
        self.max_distance = router.plan.max_distance
        #: By address.
        self.shards = shards

    def __len__(self) -> int:
        """Return the number of fingerprints. O(shards)."""
        return sum(len(shard) for address, shard in self.shards.items() if address.table == 0)

    def __iter__(self) -> Iterator[int]:
        """Yield every fingerprint, as the shards of the first table hold it."""
        for address, shard in self.shards.items():
            if address.table == 0:
                yield from (self.router.restored(address, value) for value in shard)

    def candidates(self, value: int) -> Iterator[int]:
        """Yield what the shards find."""
        for address, permuted in self.router.asked(value).items():
            if address in self.shards:
                for found in self.shards[address].find(permuted):
                    yield self.router.restored(address, found.value)


class GrowingShardedTables(ShardedTables, GrowingWay):
    """Tables in shards that are made when they are needed.

    *make* makes an empty shard, given the bits of its table's key; a sorted table unless something else is asked for.

    >>> way = GrowingShardedTables(Router(Plan.classic(max_distance=3, blocks=6), shards=256))
    >>> way.add_many([0b0000, 0b0111, 0b1111])
    >>> way.find(0b0000)
    [Found(value=0, distance=0), Found(value=7, distance=3)]
    >>> len(way.shards)
    20
    """

    def __init__(self, router: Router, make: Callable[[int], GrowingShard] | None = None) -> None:
        self._growing: dict[Address, GrowingShard] = {}
        super().__init__(router, self._growing)
        self._make = make or self._sorted_table

    def add(self, value: SupportsIndex) -> None:
        """Add *value*, to one shard of each table."""
        self.add_many((value,))

    def add_many(self, values: Iterable[SupportsIndex]) -> None:
        """Add every one of *values*; each shard is told once."""
        for address, dealt in self.router.deal(values).items():
            if address not in self._growing:
                self._growing[address] = self._make(self.router.plan.key_bits[address.table])
            self._growing[address].add_many(dealt)

    def _sorted_table(self, key_bits: int) -> SortedTable:
        return SortedTable(self.max_distance, key_bits)
