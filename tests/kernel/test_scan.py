"""Scans of candidates and comparisons of pairs, for each instruction set of this processor."""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from array import array
from functools import partial
from itertools import combinations
from pathlib import Path

import pytest

import scrapy_simhash

SOURCES = Path(scrapy_simhash.__file__).parent / "kernel" / "hamming"
COMPILER = shutil.which("cc") or shutil.which("gcc")
SIZES = [*range(70), 100, 127, 128, 129, 200]
DISTANCES = [0, 1, 2, 3, 4, 7, 16, 31, 32, 33, 48, 63, 64]
LEVELS = ["SCAN_PORTABLE", "SCAN_POPCNT", "SCAN_AVX512"]
LATER = pytest.mark.slow("it compiles the library once more")

numbers = ctypes.c_void_p
SCAN_VALUES = ctypes.CFUNCTYPE(
    ctypes.c_size_t, numbers, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint, numbers
)
SCAN_TAGS = ctypes.CFUNCTYPE(
    *(ctypes.c_size_t, numbers, numbers, ctypes.c_size_t),
    *(ctypes.c_uint32, ctypes.c_uint16, ctypes.c_uint, numbers),
)

pytestmark = pytest.mark.skipif(
    COMPILER is None or not SOURCES.is_dir(), reason="there is no compiler to build the scans with"
)


class Scans(ctypes.Structure):
    """The environment variable of scan.h."""

    _fields_ = [("values", SCAN_VALUES), ("tags", SCAN_TAGS)]


@pytest.fixture(
    scope="module", params=[*(pytest.param(level, marks=LATER) for level in LEVELS[:-1]), LEVELS[-1]]
)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The library, compiled for each instruction set; a processor that lacks the set uses a lower one."""
    file = tmp_path_factory.mktemp("scan") / "scan.so"
    sources = [str(SOURCES / name) for name in ("scan.c", "pairs.c", "table.c")]
    options = ["-std=c11", "-O2", "-shared", "-fPIC", f"-DSCAN_MOST={request.param}"]
    subprocess.run([str(COMPILER), *options, "-o", str(file), *sources], check=True)
    library = ctypes.CDLL(str(file))
    library.scan_init()
    assert library.scan_level() <= LEVELS.index(request.param)
    return library


def near_and_far(query: int, size: int, draw: random.Random) -> list[int]:
    """Return *size* numbers at all distances from *query*, mostly small ones."""
    values = []
    for _ in range(size):
        distance = draw.choice([draw.randint(0, 64), draw.randint(0, 5)])
        values.append(query ^ sum(1 << bit for bit in draw.sample(range(64), distance)))
    return values


def hits(scan: partial[int], size: int) -> list[int]:
    """Return the positions that a scan of *size* numbers writes."""
    places = (ctypes.c_uint32 * (size + 1))()
    return places[: scan(ctypes.addressof(places))]


def scanned(library: ctypes.CDLL, values: list[int], query: int, most: int) -> list[int]:
    column = (ctypes.c_uint64 * len(values))(*values)
    scan = Scans.in_dll(library, "scan").values
    return hits(partial(scan, ctypes.addressof(column), len(values), query, most), len(values))


@pytest.mark.parametrize("max_distance", DISTANCES)
def test_exactly_the_values_within_the_distance_are_found(library: ctypes.CDLL, max_distance: int) -> None:
    draw = random.Random(max_distance)
    for size in SIZES:
        query = draw.getrandbits(64)
        values = near_and_far(query, size, draw)
        expected = [
            place for place, value in enumerate(values) if (value ^ query).bit_count() <= max_distance
        ]
        assert scanned(library, values, query, max_distance) == expected


@pytest.mark.parametrize("max_distance", DISTANCES)
def test_entries_in_two_parts_are_compared_by_the_sum_of_both(
    library: ctypes.CDLL, max_distance: int
) -> None:
    draw = random.Random(max_distance)
    scan = Scans.in_dll(library, "scan").tags
    for size in SIZES:
        query = draw.getrandbits(48)
        values = [value & 2**48 - 1 for value in near_and_far(query, size, draw)]
        tags = (ctypes.c_uint32 * size)(*(value >> 16 for value in values))
        rests = (ctypes.c_uint16 * size)(*(value & 0xFFFF for value in values))
        columns = ctypes.addressof(tags), ctypes.addressof(rests), size
        found = hits(partial(scan, *columns, query >> 16, query & 0xFFFF, max_distance), size)
        expected = [
            place for place, value in enumerate(values) if (value ^ query).bit_count() <= max_distance
        ]
        assert found == expected


def test_pairs_are_the_same_with_every_instruction_set(library: ctypes.CDLL) -> None:
    draw = random.Random(5)
    values = [number << 16 | 0xABCD for number in draw.sample(range(2**48), 300)]
    values += [value ^ 1 << draw.randrange(64) ^ 1 << draw.randrange(64) for value in values]
    library.pairs_new.restype = library.pairs_values.restype = ctypes.c_void_p
    library.pairs_step.restype, library.pairs_done.restype = ctypes.c_size_t, ctypes.c_double
    masks = (ctypes.c_uint64 * 4)(*(0xFFFF << shift for shift in range(0, 64, 16)))
    search = ctypes.c_void_p(library.pairs_new(ctypes.c_size_t(len(values)), masks, ctypes.c_size_t(4), 3))
    ctypes.memmove(library.pairs_values(search), array("Q", values).tobytes(), 8 * len(values))
    room, found = (ctypes.c_uint64 * 128)(), set()
    while library.pairs_done(search) < 1:
        n = library.pairs_step(search, room, ctypes.c_size_t(64))
        found |= set(zip(room[: 2 * n : 2], room[1 : 2 * n : 2], strict=True))
    library.pairs_free(search)
    distinct = sorted(set(values))
    assert found == {(a, b) for a, b in combinations(distinct, 2) if (a ^ b).bit_count() <= 3}
