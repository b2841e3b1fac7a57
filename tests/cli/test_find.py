"""find: compared with an exhaustive search, and hashes in the formats of files."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.cli import find
from scrapy_simhash.cli.find import parse
from scrapy_simhash.cli.streams import Refused
from tests.commands import Cli

RANDOM = random.Random(7)
#: Forty hashes with three near ones each, and some repeated ones.
HASHES = [
    centre ^ (1 << bit) ^ (1 << other)
    for centre in (RANDOM.getrandbits(64) for _ in range(40))
    for bit, other in [(0, 0), (1, 63), (2, 40), (3, 3)]
]
HASHES += HASHES[:20] + HASHES[:7] + [0, 2**64 - 1]
DISTANCES = [0, 3, 5]


@pytest.fixture
def hashes(tmp_path: Path) -> Path:
    path = tmp_path / "hashes.txt"
    path.write_text("".join(f"{value:#x}\n" if value % 2 else f"{value}\r\n" for value in HASHES), "ascii")
    return path


@pytest.mark.parametrize("distance", DISTANCES)
def test_every_pair_within_the_distance_is_found_once_including_equal_hashes(
    distance: int, hashes: Path, cli: Cli
) -> None:
    options = [hashes, "--distance", distance]
    counts = Counter(HASHES)
    expected = [[value, value, 0] for value, number in counts.items() if number > 1]
    for a, b in combinations(sorted(counts), 2):
        if (a ^ b).bit_count() <= distance:
            expected.append([a, b, (a ^ b).bit_count()])
    lines = cli("find", *options)
    assert sorted(lines.splitlines()) == sorted(str(pair[:2]) for pair in expected)
    assert cli("find", *options) == lines, "in the same order"
    found = cli.json("find", *options)
    assert (found["distance"], found["hashes"]) == (distance, len(HASHES))
    assert sorted(found["pairs"]) == sorted(expected)


@pytest.mark.parametrize("distance", DISTANCES)
def test_clusters_are_connected_and_repeat_each_hash_as_often_as_it_occurs(
    distance: int, hashes: Path, cli: Cli
) -> None:
    options = [hashes, "--distance", distance, "--clusters"]
    groups = [{value} for value in set(HASHES)]
    for a, b in combinations(set(HASHES), 2):
        if (a ^ b).bit_count() <= distance:
            one, other = (next(group for group in groups if value in group) for value in (a, b))
            if one is not other:
                groups.remove(other)
                one |= other
    expected = [sorted(value for value in HASHES if value in group) for group in groups]
    found = [json.loads(line) for line in cli("find", *options).splitlines()]
    assert found == sorted(cluster for cluster in expected if len(cluster) > 1)
    assert cli.json("find", *options)["clusters"] == found


@pytest.mark.parametrize("distance", DISTANCES)
def test_each_query_has_its_near_duplicates_sorted_by_distance(
    distance: int, hashes: Path, tmp_path: Path, cli: Cli
) -> None:
    queries = [value ^ (1 << bit) for bit, value in enumerate(HASHES[:60])] + HASHES[:2]
    (tmp_path / "queries.txt").write_text("".join(f"{value:#X}\n" for value in queries), "ascii")
    (tmp_path / "stored.txt").write_text("".join(f"0x{value:x}\n" for value in HASHES), "ascii")
    options = ["--in", tmp_path / "stored.txt", "--distance", distance]
    expected: list[dict[str, Any]] = []
    for query in queries:
        near = sorted(((query ^ value).bit_count(), value) for value in set(HASHES))
        matches = [[value, bits] for bits, value in near if bits <= distance]
        expected.append({"query": query, "matches": matches})
    lines = cli("find", tmp_path / "queries.txt", *options).splitlines()
    assert [json.loads(line) for line in lines] == expected
    found = cli.json("find", tmp_path / "queries.txt", *options)
    assert found == {
        "distance": distance,
        "hashes": len(queries),
        "answers": expected,
    }


MOST = 2**64 - 1
#: Lines, and the hash in them, if any.
written = st.one_of(
    st.integers(0, MOST).map(str),
    st.integers(0, MOST).map(hex),
    st.integers(0, MOST).map(" 000{}\t".format),
    st.sampled_from(
        ["", " ", "0x", "x", "-1", "1 2", "1\r2", str(2**64), "0x1" + "0" * 16, "0b1", "1x", "\x00"]
    ),
)


@given(
    st.lists(st.tuples(written, st.sampled_from(["\n", "\r\n"])), max_size=12),
    st.integers(1, 64),
)
def test_lines_are_read_as_defined_in_chunks_of_any_size(lines: list[tuple[str, str]], chunk: int) -> None:
    pattern = re.compile("([0-9]+|0[xX][0-9a-fA-F]+|)")
    expected: list[int] = []
    wrong = None
    for number, (line, _) in enumerate(lines, 1):
        match = pattern.fullmatch(line.strip())
        text = match[1] if match else ""
        value = int(text, 16 if text[:2] in ("0x", "0X") else 10) if text else 0
        if match is None or value > MOST:
            wrong = number
            break
        expected += [value] if text else []
    stream = BytesIO("".join(line + end for line, end in lines).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(find, "CHUNK", chunk)
        if wrong is None:
            assert parse(stream, "hashes.txt").tolist() == expected
        else:
            with pytest.raises(Refused, match=f"^hashes.txt:{wrong}: "):
                parse(stream, "hashes.txt")


def test_a_byte_order_mark_is_ignored_and_numbers_are_exact() -> None:
    content = b"\xef\xbb\xbf9007199254740993\n9223372036854775809\n18446744073709551615"
    assert parse(BytesIO(content), "x").tolist() == [2**53 + 1, 2**63 + 1, MOST]
