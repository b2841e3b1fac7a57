"""Sorted tables frozen into few bits, and searched as they lie there, in a file mapped into memory for example.

The tables (see ``packed_table``), one after another, stand behind a header::

    | SIMHASHF | length | CRC-32 | header, JSON | table | table | ...        numbers are little endian
    0          8        12       16             16 + length

The header has the plan, the number of fingerprints, and of each table what is needed to read it.
"""

from __future__ import annotations

import json
import struct
import zlib
from array import array
from collections.abc import Iterable, Iterator
from math import lgamma, log
from mmap import mmap
from typing import Any, SupportsIndex

from scrapy_simhash.index._arguments import checked_integer, checked_value
from scrapy_simhash.index.alternatives.base import Way
from scrapy_simhash.index.alternatives.gaps import GapCode
from scrapy_simhash.index.alternatives.packed_table import PackedTable, packed, packed_bytes
from scrapy_simhash.index.plans.blocks import BITS, Block
from scrapy_simhash.index.plans.permutation import permutations
from scrapy_simhash.index.plans.plan import Plan

Buffer = bytes | bytearray | memoryview | mmap

MAGIC = b"SIMHASHF"
VERSION = 1
#: Behind the magic: the length of the header and its CRC-32.
_HEAD = struct.Struct("<II")
#: Larger blocks are smaller in sum, smaller ones are sooner read; measured in ``FrozenTables``.
BLOCK_BYTES = 512


class FrozenTables(Way):
    """A compressed sorted list for every table of a plan; no fingerprint can be added.

    *Costs* 6.3 bytes a fingerprint and table where a sorted list takes 8, with 100,000 random ones; each doubling
    saves another bit. A search halves the lasts and reads half a block in every table: a millisecond, ten times as
    long as in sorted lists. To freeze takes 1.3 microseconds a fingerprint and table. To open a buffer reads its
    header only.
    *The right one* for what does not change any more: last month's crawl, another crawler's results, in a file that
    several processes map.

    Measured bits a fingerprint and table, everything included, for 100,000 random fingerprints in 20 tables, and
    milliseconds a search (Python 3.11, AMD Zen 4 at 2.6 GHz). ``least_bits`` is 48.83. In a sorted list of 8-byte
    numbers zlib needs 62.6 and LZMA 53.0, and neither can be searched.

    ===========  ==========  =====  ====
    block_bytes  difference  xor    find
    ===========  ==========  =====  ====
    128          53.5        54.8   0.39
    256          51.2        52.9   0.61
    **512**      50.1        52.0   1.00
    1,024        49.5        51.4   1.80
    4,096        49.3        51.2   6.09
    ===========  ==========  =====  ====

    Source: Manku, Jain, Das Sarma, WWW 2007, section 3.2.

    >>> frozen = FrozenTables(Plan.classic(max_distance=3, blocks=6), [0b0000, 0b0111, 0b1111])
    >>> frozen.find(0b0000)
    [Found(value=0, distance=0), Found(value=7, distance=3)]
    >>> FrozenTables.from_buffer(frozen.to_bytes()).find(0b1110)[0]
    Found(value=15, distance=1)
    """

    def __init__(
        self,
        plan: Plan,
        values: Iterable[SupportsIndex] = (),
        block_bytes: SupportsIndex = BLOCK_BYTES,
        gap: str = "difference",
    ) -> None:
        """Freeze *values*, in any order, into blocks of *block_bytes*, 16 to 65,536.

        *gap* is ``difference``, or ``xor`` as in the paper. Raises ValueError for another one.
        """
        size = checked_integer("block_bytes", block_bytes)
        distinct = array("Q", {checked_value(value) for value in values})
        heads, tables = [], []
        for permutation in permutations(plan):
            numbers = sorted(permutation.permute_all(distinct))
            code = GapCode.of(numbers, gap)
            blocks, table = packed(numbers, code, size)
            heads.append({"blocks": blocks, "word_lengths": bytes(code.word_lengths).hex()})
            tables.append(table)
        header = {
            "version": VERSION,
            "max_distance": plan.max_distance,
            "blocks": [(block.shift, block.width) for block in plan.blocks],
            "keys": plan.keys,
            "count": len(distinct),
            "block_bytes": size,
            "gap": gap,
            "tables": heads,
            "crc32": zlib.crc32(b"".join(tables)),
        }
        text = json.dumps(header, separators=(",", ":")).encode()
        self._open(b"".join([MAGIC, _HEAD.pack(len(text), zlib.crc32(text)), text, *tables]))

    @classmethod
    def from_buffer(cls, buffer: Buffer) -> FrozenTables:
        """Return the tables that lie in *buffer*, which is not copied and must stay as it is. O(tables).

        Raises ValueError if it does not hold frozen tables, or not all of them. Whether they are sound, ``verify``
        says.
        """
        frozen = cls.__new__(cls)
        frozen._open(buffer)
        return frozen

    def verify(self) -> None:
        """Raise ValueError unless the tables are byte for byte what was written. Reads all of them."""
        if zlib.crc32(self._buffer[self._begin :]) != self._checksum:
            raise ValueError("the frozen tables are damaged")

    def to_bytes(self) -> bytes:
        """Return what ``from_buffer`` takes."""
        return bytes(self._buffer)

    @property
    def nbytes(self) -> int:
        """The length of ``to_bytes``."""
        return self._buffer.nbytes

    @property
    def bits(self) -> float:
        """Bits a fingerprint and table, all included, where a sorted list takes 64; 0.0 if there are none."""
        return 8 * self.nbytes / (len(self) * len(self._tables)) if len(self) else 0.0

    @property
    def least_bits(self) -> float:
        """What ``bits`` cannot be below for random fingerprints, on average, with any code.

        n numbers of 64 bits are 64 n bits, of which the n! orders they may come in need not be told:
        64 - log2(n!) / n. Fingerprints that are alike may be below.
        """
        return BITS - lgamma(len(self) + 1) / log(2) / len(self) if len(self) else 0.0

    def __len__(self) -> int:
        """Return the number of fingerprints."""
        return self._count

    def __iter__(self) -> Iterator[int]:
        """Yield every fingerprint, in the order of the first table."""
        return map(self._permutations[0].unpermute, self._tables[0].numbers())

    def candidates(self, value: int) -> Iterator[int]:
        """Yield what has the key of *value* in some table. Raises ValueError if it meets damage that shows."""
        for permutation, table in zip(self._permutations, self._tables, strict=True):
            permuted, rest = permutation.permute(value), BITS - permutation.key_bits
            key = permuted >> rest
            for number in table.numbers(key << rest):
                if number >> rest != key:
                    break
                if (number ^ permuted).bit_count() <= self.max_distance:
                    yield permutation.unpermute(number)

    def _open(self, buffer: Buffer) -> None:
        self._buffer = memoryview(buffer).cast("B")
        header, here = _header(self._buffer)
        self._begin = here
        self._checksum: int = header["crc32"]
        size = header["block_bytes"]
        blocks = tuple(Block(shift, width) for shift, width in header["blocks"])
        self.plan = Plan(header["max_distance"], blocks, tuple(map(tuple, header["keys"])))
        self.max_distance = self.plan.max_distance
        self._count: int = header["count"]
        self._permutations = permutations(self.plan)
        self._tables = []
        for head in header["tables"]:
            code = GapCode(bytes.fromhex(head["word_lengths"]), header["gap"])
            end = here + packed_bytes(head["blocks"], size)
            self._tables.append(PackedTable(self._buffer[here:end], size, code))
            here = end
        if here != self.nbytes:
            raise ValueError(f"the frozen tables must have {here:,} bytes, got {self.nbytes:,}")


def _header(buffer: memoryview) -> tuple[dict[str, Any], int]:
    """Return the header in *buffer* and where it ends."""
    behind_magic = len(MAGIC)
    start = behind_magic + _HEAD.size
    if len(buffer) < start or bytes(buffer[:behind_magic]) != MAGIC:
        raise ValueError("the data is not a file of frozen tables")
    length, checksum = _HEAD.unpack(buffer[behind_magic:start])
    text = bytes(buffer[start : start + length])
    if len(text) != length or zlib.crc32(text) != checksum:
        raise ValueError("the header of the frozen tables is damaged")
    header: dict[str, Any] = json.loads(text)
    if header["version"] != VERSION:
        raise ValueError(
            f"the frozen tables have version {header['version']}, this release reads version {VERSION}"
        )
    return header, start + length
