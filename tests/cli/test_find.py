"""find: compared with an exhaustive search, and hashes in the formats of files."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from io import BytesIO
from itertools import chain, combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.cli import find
from scrapy_simhash.cli.find import parse
from scrapy_simhash.cli.streams import Refused
from scrapy_simhash.index.pairs import connected
from tests.commands import Cli

RANDOM = random.Random(7)
#: Forty hashes with three near ones each, and some repeated ones.
HASHES = [
    centre ^ (1 << bit) ^ (1 << other)
    for centre in (RANDOM.getrandbits(64) for _ in range(40))
    for bit, other in [(0, 0), (1, 63), (2, 40), (3, 3)]
]
HASHES += HASHES[:20] + HASHES[:7] + [0, 2**64 - 1]


@pytest.fixture
def hashes(tmp_path: Path) -> Path:
    path = tmp_path / "hashes.txt"
    path.write_text("".join(f"{value:#x}\n" if value % 2 else f"{value}\r\n" for value in HASHES), "ascii")
    return path


@pytest.mark.parametrize("distance", [0, 3])
def test_pairs_clusters_and_matches_are_those_of_an_exhaustive_search(
    distance: int, hashes: Path, tmp_path: Path, cli: Cli
) -> None:
    options = [hashes, "--distance", distance]
    counts = Counter(HASHES)
    near = [pair for pair in combinations(sorted(counts), 2) if (pair[0] ^ pair[1]).bit_count() <= distance]
    expected = [[value, value, 0] for value, number in counts.items() if number > 1]
    expected += [[a, b, (a ^ b).bit_count()] for a, b in near]
    assert sorted(cli("find", *options).splitlines()) == sorted(str(pair[:2]) for pair in expected)
    found = cli.json("find", *options)
    assert (found["distance"], found["hashes"]) == (distance, len(HASHES))
    assert sorted(found["pairs"]) == sorted(expected)
    # A cluster has each hash as often as it occurs.
    groups = {tuple(group) for group in connected(near)}
    groups |= {(value,) for value, number in counts.items() if number > 1 and value not in chain(*groups)}
    clusters = sorted(sorted(value for value in group for _ in range(counts[value])) for group in groups)
    assert list(map(json.loads, cli("find", *options, "--clusters").splitlines())) == clusters
    assert cli.json("find", *options, "--clusters")["clusters"] == clusters
    # Matches of a query are sorted by distance.
    queries = [value ^ (1 << bit) for bit, value in enumerate(HASHES[:60])] + HASHES[:2]
    (tmp_path / "queries.txt").write_text("".join(f"{value:#X}\n" for value in queries), "ascii")
    answers = []
    for query in queries:
        by_distance = sorted(((query ^ value).bit_count(), value) for value in counts)
        matches = [[value, bits] for bits, value in by_distance if bits <= distance]
        answers.append({"query": query, "matches": matches})
    options = [tmp_path / "queries.txt", "--in", hashes, "--distance", distance]
    assert list(map(json.loads, cli("find", *options).splitlines())) == answers
    assert cli.json("find", *options) == {"distance": distance, "hashes": len(queries), "answers": answers}


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
