from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.cli.find import FEW
from scrapy_simhash.cli.main import main
from tests.cli.hash_files import written

RANDOM = random.Random(7)
STORED = [RANDOM.getrandbits(64) for _ in range(200)]
STORED += [value ^ 0b11 for value in STORED[:50]] + STORED[:20]
QUERIES = [value ^ (1 << bit) for bit, value in enumerate(STORED[:60])] + [0, STORED[0], 2**64 - 1]


class Files:
    """The stored hashes, the queries, and what is found, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.stored = folder / "stored.txt"
        self.queries = folder / "queries.txt"
        self.found = folder / "found"

    def find(self, stored: list[int], queries: list[int], *arguments: str) -> str:
        for path, values in ((self.stored, stored), (self.queries, queries)):
            written(path, values)
        places = ["--stored", str(self.stored), "--input", str(self.queries), "--output", str(self.found)]
        assert main(["find", *places, *arguments]) == 0
        return self.found.read_bytes().decode("ascii")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def expected(distance: int, queries: list[int]) -> list[dict[str, Any]]:
    found = []
    for query in queries:
        near = sorted(((query ^ value).bit_count(), value) for value in set(STORED))
        matches = [[value, bits] for bits, value in near if bits <= distance]
        found.append({"query": query, "matches": matches})
    return found


@pytest.mark.parametrize("queries", [QUERIES, QUERIES[:FEW], QUERIES[:1]], ids=len)
@pytest.mark.parametrize("distance", [0, 3, 5])
def test_each_query_has_a_line_with_what_is_near_nearest_first_then_smallest(
    files: Files, distance: int, queries: list[int]
) -> None:
    lines = files.find(STORED, queries, "--distance", str(distance)).splitlines()
    assert [json.loads(line) for line in lines] == expected(distance, queries)


@pytest.mark.parametrize("blocks", ["4", "6", "8x24", "auto"])
def test_blocks_do_not_change_what_is_found(files: Files, blocks: str) -> None:
    for queries in (QUERIES, QUERIES[:FEW]):
        lines = files.find(STORED, queries, "--blocks", blocks).splitlines()
        assert [json.loads(line) for line in lines] == expected(3, queries)


def test_a_line_is_an_object_on_one_line(files: Files) -> None:
    assert files.find([5, 7, 5, 2**64 - 1], [5, 2**64 - 1, 2**40 - 1]) == (
        '{"query": 5, "matches": [[5, 0], [7, 1]]}\n'
        '{"query": 18446744073709551615, "matches": [[18446744073709551615, 0]]}\n'
        '{"query": 1099511627775, "matches": []}\n'
    )


def test_a_document_has_the_same_answers_as_the_lines(files: Files) -> None:
    document = json.loads(files.find(STORED, QUERIES, "--json"))
    assert document == {
        "distance": 3,
        "stored": len(STORED),
        "queries": len(QUERIES),
        "answers": expected(3, QUERIES),
    }


@pytest.mark.parametrize(("stored", "queries"), [([], QUERIES), (STORED, []), ([], [])])
def test_where_nothing_is_stored_or_asked_nothing_is_found(
    files: Files, stored: list[int], queries: list[int]
) -> None:
    lines = files.find(stored, queries).splitlines()
    assert [json.loads(line) for line in lines] == [{"query": query, "matches": []} for query in queries]


def test_both_files_are_read_in_the_same_way(files: Files) -> None:
    files.stored.write_text("ff\n", "ascii")
    files.queries.write_text("0xFE\n", "ascii")
    places = ["--stored", str(files.stored), "--input", str(files.queries), "--output", str(files.found)]
    assert main(["find", "--hex", *places]) == 0
    assert files.found.read_text("ascii") == '{"query": 254, "matches": [[255, 1]]}\n'


def test_standard_input_can_be_one_of_the_two_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["find", "--stored", "-"]) == 2
    assert capsys.readouterr().err == "scrapy-simhash: --stored and --input cannot both be standard input\n"
