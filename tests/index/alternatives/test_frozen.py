from __future__ import annotations

import json
import mmap
import random
import struct
import zlib
from array import array
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash.index import Plan
from scrapy_simhash.index.alternatives import FrozenTables, SortedTables
from tests.index.alternatives.every_way import PLANS
from tests.index.values import ALL_ONES, fingerprints, flipped

PLAN = Plan.classic(max_distance=3, blocks=6)
draw = random.Random(8)
VALUES = [draw.getrandbits(64) for _ in range(5_000)]
# Pages of a few sites, whose fingerprints share bits.
SITES = sorted({flipped(site, draw.sample(range(64), 5)) for site in VALUES[:50] for _ in range(100)})
FROZEN = FrozenTables(PLAN, VALUES)


@settings(deadline=None)
@given(
    st.sampled_from(PLANS),
    st.lists(fingerprints, max_size=30),
    st.sampled_from([16, 17, 64, 512]),
    st.sampled_from(["difference", "xor"]),
)
def test_what_is_frozen_is_read_again_from_its_bytes(
    plan: Plan, values: list[int], size: int, gap: str
) -> None:
    frozen = FrozenTables(plan, values, size, gap)
    again = FrozenTables.from_buffer(frozen.to_bytes())
    assert (again.plan, len(again), again.nbytes) == (plan, len(set(values)), len(frozen.to_bytes()))
    assert sorted(again) == sorted(frozen) == sorted(set(values))
    assert again.to_bytes() == frozen.to_bytes()
    assert FrozenTables(plan, again, size, gap).to_bytes() == frozen.to_bytes(), "the order does not matter"


@pytest.mark.parametrize(
    "size", [16, 100, 512, pytest.param(4_096, marks=pytest.mark.slow("each search reads a whole block"))]
)
def test_frozen_tables_find_what_sorted_tables_find(size: int) -> None:
    for values in (VALUES, SITES):
        tables = SortedTables(PLAN)
        tables.add_many(values)
        frozen = FrozenTables(PLAN, values, size)
        queries = [
            flipped(number, bits) for number in values[::250] for bits in [(), (0, 30, 60), (1, 2, 3, 4)]
        ]
        for query in [*queries, 0, ALL_ONES, min(values), max(values)]:
            assert frozen.find(query) == tables.find(query)


def test_several_processes_may_map_one_file(tmp_path: Path) -> None:
    path = tmp_path / "tables"
    path.write_bytes(FROZEN.to_bytes())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        frozen = FrozenTables.from_buffer(mapped)
        assert [found.value for found in frozen.find(VALUES[7] ^ 0b111)] == [VALUES[7]]
        # It lies in the file, and lets go of it together with the last of its views.
        with pytest.raises(BufferError):
            mapped.close()
        del frozen


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda raw: array("B", raw)])
def test_any_buffer_will_do_and_is_not_copied(kind: type[bytearray]) -> None:
    buffer = kind(FROZEN.to_bytes())
    frozen = FrozenTables.from_buffer(buffer)
    assert frozen.find(VALUES[0])[0].value == VALUES[0]
    assert frozen._buffer.obj is (buffer.obj if isinstance(buffer, memoryview) else buffer)


def test_the_compression_is_good() -> None:
    # The lasts take 0.8 bits, the room left in blocks 0.7, the header 0.3 for so few, and the code itself 0.1.
    assert FROZEN.least_bits < FROZEN.bits < FROZEN.least_bits + 2.1
    ordered = array("Q", sorted(VALUES)).tobytes()
    assert FROZEN.bits < 8 * len(zlib.compress(ordered, 9)) / len(VALUES) - 8


def test_fingerprints_that_are_alike_take_less_than_random_ones_can() -> None:
    frozen = FrozenTables(PLAN, SITES)
    assert frozen.bits < frozen.least_bits - 2


def test_the_difference_takes_less_than_the_xor_of_the_paper() -> None:
    assert FROZEN.bits + 1 < FrozenTables(PLAN, VALUES, gap="xor").bits


def test_larger_blocks_take_less() -> None:
    bits = [FrozenTables(PLANS[2], VALUES, size).bits for size in (64, 128, 256, 512, 1024)]
    assert bits == sorted(bits, reverse=True)


def test_the_least_bits_are_those_of_the_orders() -> None:
    # 2, 3: one bit, or log2(6) bits, need not be told.
    assert FrozenTables(PLAN, [1, 2]).least_bits == pytest.approx(63.5)
    assert FrozenTables(PLAN, [1, 2, 3]).least_bits == pytest.approx(64 - 2.584962500721156 / 3)
    assert FrozenTables(PLAN, []).least_bits == FrozenTables(PLAN, []).bits == 0


def test_an_unknown_gap_or_size_of_block_is_refused() -> None:
    with pytest.raises(ValueError, match="kind must be one of"):
        FrozenTables(PLAN, [1], gap="ratio")
    with pytest.raises(ValueError, match="block_bytes must be from 16"):
        FrozenTables(PLAN, [1], block_bytes=15)
    with pytest.raises(TypeError, match="block_bytes must be an integer"):
        FrozenTables(PLAN, [1], block_bytes=16.0)  # type: ignore[arg-type]


# --- What is not, or no longer, frozen tables.

RAW = FROZEN.to_bytes()


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "not a file of frozen tables"),
        (RAW[:15], "not a file of frozen tables"),
        (b"simhash!" + RAW[8:], "not a file of frozen tables"),
        (RAW[:16], "header .* damaged"),
        (RAW[:100], "header .* damaged"),
        (RAW[:20] + b"?" + RAW[21:], "header .* damaged"),
        (RAW[:-1], "must have .* bytes, got"),
        (RAW + b"\0", "must have .* bytes, got"),
    ],
)
def test_what_is_damaged_is_refused(raw: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FrozenTables.from_buffer(raw)


def test_another_version_is_refused() -> None:
    header = json.dumps({"version": 2}).encode()
    raw = RAW[:8] + struct.pack("<II", len(header), zlib.crc32(header)) + header
    with pytest.raises(ValueError, match="version 2, this release reads version 1"):
        FrozenTables.from_buffer(raw)


def test_one_bit_that_is_not_as_it_was_shows_when_all_are_verified() -> None:
    FROZEN.verify()
    raw = bytearray(RAW)
    raw[len(raw) // 2] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        FrozenTables.from_buffer(raw).verify()


# --- The format is one: these bytes can be read for ever.
def test_the_format_is_this_one() -> None:
    # Two bits for the word of each bit length that a gap has: 0, 1, 62 and 64; and permuted 0, 32, 33 and 64.
    first, second = (
        bytes(2 if length in lengths else 0 for length in range(65)).hex()
        for lengths in [(0, 1, 62, 64), (0, 32, 33, 64)]
    )
    header = (
        '{"version":1,"max_distance":1,"blocks":[[32,32],[0,32]],"keys":[[0],[1]],"count":4,"block_bytes":16,'
        '"gap":"difference","tables":[{"blocks":2,"word_lengths":"FIRST"},{"blocks":2,"word_lengths":"SECOND"}],'
        '"crc32":2267377498}'
    )
    text = header.replace("FIRST", first).replace("SECOND", second).encode()
    tables = bytes.fromhex(
        "01000000efbeadde ffffffffffffffff 1ef56df7780000000000000000000000 82a48221fffffffc0000000000000000"
        "efbeadde01000000 ffffffffffffffff 2000000006f56df77800000000000000 ffffffff10a920880000000000000000"
    )
    raw = b"SIMHASHF" + struct.pack("<II", len(text), zlib.crc32(text)) + text + tables
    frozen = FrozenTables.from_buffer(raw)
    frozen.verify()
    values = [0, 1, 0xDEAD_BEEF_0000_0001, ALL_ONES]
    assert list(frozen) == values
    assert FrozenTables(Plan.classic(1, 2), values, block_bytes=16).to_bytes() == raw
