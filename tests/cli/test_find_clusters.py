from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli import hash_files
from tests.cli.hash_files import written

#: A chain whose ends are 6 bits apart, a pair, a hash that stands alone, and one that is there twice.
CHAIN = [0b0000111, 0b0000000, 0b0111111, 0b1111111]
PAIR = [2**64 - 1, 2**64 - 3]
ALONE = [0xFF << 40, 0xFF << 30, 0xFF << 30]
HASHES = [*ALONE, CHAIN[0], *PAIR, *CHAIN, *PAIR]

found = partial(hash_files.found, "find-clusters")


@pytest.fixture
def hashes(tmp_path: Path) -> Path:
    return written(tmp_path / "hashes.txt", HASHES)


def test_a_chain_of_near_hashes_is_one_cluster_and_no_cluster_has_one_member(hashes: Path) -> None:
    assert found(hashes) == "[0, 7, 63, 127]\n[18446744073709551613, 18446744073709551615]\n"


@pytest.mark.parametrize("blocks", ["4", "6", "8", "20x32"])
def test_blocks_do_not_change_what_is_found(hashes: Path, blocks: str) -> None:
    assert found(hashes, "--blocks", blocks) == found(hashes)
    assert found(hashes, "--blocks", blocks, "--representatives") == found(hashes, "--representatives")


def test_around_representatives_every_member_is_near_the_hash_that_came_first(hashes: Path) -> None:
    groups = [json.loads(line) for line in found(hashes, "--representatives").splitlines()]
    assert groups == [[7, 0, 63], [18446744073709551615, 18446744073709551613]]
    written(hashes, [0, 7, 63, 127])
    assert found(hashes, "--representatives") == "[0, 7]\n[63, 127]\n"


def test_a_smaller_distance_parts_a_chain(hashes: Path) -> None:
    assert found(hashes, "--distance", "2").splitlines()[0] == "[63, 127]"


@pytest.mark.parametrize("option", [(), ("--representatives",)])
def test_a_document_has_the_same_clusters_as_the_lines(hashes: Path, option: tuple[str, ...]) -> None:
    lines = [json.loads(line) for line in found(hashes, *option).splitlines()]
    document = json.loads(found(hashes, "--json", *option))
    assert document == {"distance": 3, "hashes": len(HASHES), "clusters": lines}


@pytest.mark.parametrize("option", [(), ("--representatives",)])
def test_no_hashes_have_no_clusters(hashes: Path, option: tuple[str, ...]) -> None:
    hashes.write_bytes(b"\n")
    assert found(hashes, *option) == ""
