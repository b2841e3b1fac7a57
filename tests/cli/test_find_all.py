from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path

import pytest

from tests.cli import hash_files
from tests.cli.hash_files import written

NEAR = random.Random(5)
CENTRES = [NEAR.getrandbits(64) for _ in range(40)]
#: Forty hashes and three others around each, some of them there twice.
HASHES = [
    centre ^ (1 << bit) ^ (1 << other)
    for centre in CENTRES
    for bit, other in [(0, 0), (1, 63), (2, 40), (3, 3)]
]


def near_pairs(distance: int) -> set[tuple[int, int]]:
    values = sorted(set(HASHES))
    return {(a, b) for a in values for b in values if a < b and (a ^ b).bit_count() <= distance}


found = partial(hash_files.found, "find-all")


@pytest.fixture
def hashes(tmp_path: Path) -> Path:
    return written(tmp_path / "hashes.txt", HASHES)


@pytest.mark.parametrize("distance", [0, 2, 3, 4])
def test_every_pair_within_the_distance_is_a_line_once_the_smaller_first(hashes: Path, distance: int) -> None:
    lines = found(hashes, "--distance", str(distance)).splitlines()
    assert sorted(lines) == sorted(f"[{a}, {b}]" for a, b in near_pairs(distance))


@pytest.mark.parametrize("blocks", ["4", "6", "10", "6x21", "14x32", "auto"])
def test_blocks_do_not_change_what_is_found(hashes: Path, blocks: str) -> None:
    lines = found(hashes, "--blocks", blocks).splitlines()
    assert sorted(lines) == sorted(f"[{a}, {b}]" for a, b in near_pairs(3))


def test_the_same_input_gives_the_same_lines_in_the_same_order(hashes: Path) -> None:
    assert found(hashes) == found(hashes)


def test_hexadecimal_hashes_are_found_as_numbers(hashes: Path) -> None:
    decimal = found(hashes)
    written(hashes, HASHES, "0x{:016X}")
    assert found(hashes) == decimal
    written(hashes, HASHES, "{:x}")
    assert found(hashes, "--hex") == decimal


def test_a_document_has_the_pairs_with_their_distances(hashes: Path) -> None:
    document = json.loads(found(hashes, "--json"))
    pairs = document.pop("pairs")
    assert document == {"distance": 3, "hashes": len(HASHES)}
    assert {(a, b) for a, b, _ in pairs} == near_pairs(3)
    assert all((a ^ b).bit_count() == bits for a, b, bits in pairs)


def test_no_hashes_have_no_pairs(hashes: Path) -> None:
    hashes.write_bytes(b"")
    assert found(hashes) == ""
    assert json.loads(found(hashes, "--json")) == {"distance": 3, "hashes": 0, "pairs": []}
