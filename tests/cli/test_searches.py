"""find: what it writes of hashes in files, and by which plan."""

from __future__ import annotations

import json
import random
from argparse import ArgumentTypeError
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.cli.find import FEW, chosen_blocks, document, parsed_distance
from scrapy_simhash.cli.streams import Refused
from tests.cli.conftest import Cli

RANDOM = random.Random(7)
CENTRES = [RANDOM.getrandbits(64) for _ in range(40)]
#: Forty hashes and three others around each, some of them there twice.
HASHES = [
    centre ^ (1 << bit) ^ (1 << other)
    for centre in CENTRES
    for bit, other in [(0, 0), (1, 63), (2, 40), (3, 3)]
]
QUERIES = [value ^ (1 << bit) for bit, value in enumerate(HASHES[:60])] + [0, HASHES[0], 2**64 - 1]
#: A chain whose ends are 6 bits apart, a pair, a hash that stands alone, and one that is there twice.
CHAIN, PAIR = [0b0000111, 0b0000000, 0b0111111, 0b1111111], [2**64 - 1, 2**64 - 3]
GROUPED = [0xFF << 40, 0xFF << 30, 0xFF << 30, CHAIN[0], *PAIR, *CHAIN, *PAIR]


class Search:
    """Writes hashes to files, and returns what a search finds in them."""

    def __init__(self, folder: Path, cli: Cli) -> None:
        self._folder = folder
        self._cli = cli

    def file(self, name: str, hashes: Iterable[int], form: str = "{}") -> str:
        path = self._folder / name
        path.write_text("".join(f"{form.format(value)}\n" for value in hashes), "ascii")
        return str(path)

    def __call__(self, command: str, hashes: Iterable[int], *arguments: str, form: str = "{}") -> str:
        return self._cli(command, self.file("input.txt", hashes, form), *arguments)

    def find(self, stored: list[int], queries: list[int], *arguments: str) -> list[Any]:
        lines = self("find", queries, "--in", self.file("stored.txt", stored), *arguments).splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def search(tmp_path: Path, cli: Cli) -> Search:
    return Search(tmp_path, cli)


# --- Pairs.


def near_pairs(distance: int) -> list[str]:
    values = sorted(set(HASHES))
    return sorted(f"[{a}, {b}]" for a in values for b in values if a < b and (a ^ b).bit_count() <= distance)


@pytest.mark.parametrize(
    ("distance", "blocks"),
    [(0, "auto"), (4, "auto"), (3, "auto"), (3, "6"), (3, "7")],
)
def test_every_pair_within_the_distance_is_a_line_once_the_smaller_first(
    distance: int, blocks: str, search: Search
) -> None:
    options = ["--distance", str(distance), "--blocks", blocks]
    lines = search("find", HASHES, *options)
    assert sorted(lines.splitlines()) == near_pairs(distance)
    assert search("find", HASHES, *options) == lines, "in the same order"
    found = json.loads(search("find", HASHES, *options, "--json"))
    triples = found.pop("pairs")
    assert found == {"distance": distance, "hashes": len(HASHES)}
    assert "".join(f"[{a}, {b}]\n" for a, b, _ in triples) == lines
    assert all((a ^ b).bit_count() == bits for a, b, bits in triples)


def test_hexadecimal_hashes_are_found_as_numbers(search: Search) -> None:
    decimal = search("find", HASHES)
    assert search("find", HASHES, form="0x{:016X}") == decimal
    assert search("find", HASHES, "--hex", form="{:x}") == decimal
    assert search("find", [254], "--hex", "--in", search.file("s", [255], "{:x}"), form="0x{:X}") == (
        '{"query": 254, "matches": [[255, 1]]}\n'
    )


# --- Clusters.


@pytest.mark.parametrize("blocks", ["4", "8", "auto"])
def test_groups_are_connected_or_around_what_came_first(blocks: str, search: Search) -> None:
    connected, around = (
        search("find", GROUPED, "--blocks", blocks, option) for option in ("--clusters", "--representatives")
    )
    assert connected == "[0, 7, 63, 127]\n[18446744073709551613, 18446744073709551615]\n"
    assert around == "[7, 0, 63]\n[18446744073709551615, 18446744073709551613]\n"
    for option, lines in (("--clusters", connected), ("--representatives", around)):
        assert json.loads(search("find", GROUPED, "--json", option)) == {
            "distance": 3,
            "hashes": len(GROUPED),
            "clusters": [json.loads(line) for line in lines.splitlines()],
        }


def test_groups_depend_on_distance_and_order(search: Search) -> None:
    assert search("find", [0, 7, 63, 127], "--representatives") == "[0, 7]\n[63, 127]\n"
    assert search("find", GROUPED, "--clusters", "--distance", "2").startswith("[63, 127]\n")


@pytest.mark.parametrize("option", ["--pairs", "--clusters", "--representatives"])
def test_of_no_hashes_nothing_is_found(option: str, search: Search) -> None:
    assert search("find", [], option) == ""
    assert [*json.loads(search("find", [], "--json", option)).values()] == [3, 0, []]


def test_several_files_are_searched_as_one(search: Search) -> None:
    first, second = search.file("first.txt", HASHES[:50]), search.file("second.txt", HASHES[50:])
    assert search._cli("find", first, second) == search("find", HASHES)


# --- Neighbours.


def expected(distance: int, stored: list[int], queries: list[int]) -> list[dict[str, Any]]:
    found = []
    for query in queries:
        near = sorted(((query ^ value).bit_count(), value) for value in set(stored))
        found.append({"query": query, "matches": [[value, bits] for bits, value in near if bits <= distance]})
    return found


@pytest.mark.parametrize("queries", [QUERIES, QUERIES[:FEW], QUERIES[:1]], ids=len)
@pytest.mark.parametrize(("distance", "blocks"), [(0, "auto"), (5, "auto"), (3, "6"), (3, "8"), (3, "auto")])
def test_each_query_has_a_line_with_what_is_near_nearest_first_then_smallest(
    queries: list[int], distance: int, blocks: str, search: Search
) -> None:
    options = ["--distance", str(distance), "--blocks", blocks]
    answers = expected(distance, HASHES, queries)
    assert search.find(HASHES, queries, *options) == answers
    stored = search.file("stored.txt", HASHES)
    assert json.loads(search("find", queries, "--in", stored, "--json", *options)) == {
        "distance": distance,
        "stored": len(HASHES),
        "queries": len(queries),
        "answers": answers,
    }


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=2), max_size=5))
def test_a_document_is_json_with_a_value_a_line(pairs: list[list[int]]) -> None:
    text = "".join(document({"distance": 3, "hashes": 20}, "pairs", map(str, pairs)))
    assert json.loads(text) == {"distance": 3, "hashes": 20, "pairs": pairs}
    assert [json.loads(line.rstrip(",")) for line in text.splitlines()[1:-1]] == pairs


# --- Distances and plans.


@pytest.mark.parametrize("text", ["0", "3", "64", "03"])
def test_a_distance_is_a_number_of_bits(text: str) -> None:
    assert parsed_distance(text) == int(text)


@pytest.mark.parametrize("text", ["", "-1", "65", "3.0", "three", "1_0", "\u0663", "9" * 5000])
def test_any_other_distance_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="must be a number of bits from 0 to 64, got "):
        parsed_distance(text)


@pytest.mark.parametrize(("blocks", "distance"), [("4", 3), ("6", 3), ("11", 10), ("1", 0), ("64", 1)])
def test_a_number_of_blocks_is_passed_on(blocks: str, distance: int) -> None:
    assert chosen_blocks(blocks, distance) == int(blocks)


@pytest.mark.parametrize(
    ("blocks", "distance", "message"),
    [
        ("3", 3, r"--blocks must be auto, or a number above --distance \(3\) up to 64, got '3'"),
        ("64", 64, r"--blocks must be auto, or a number above --distance \(64\) up to 64, got '64'"),
        ("64", 3, "--blocks 64 is too large: max_distance 3 with 64 blocks: 41,664 tables are too many"),
        *((blocks, 0, f"got '{blocks[:9]}") for blocks in ("0", "65", "many", "6x21", "-6", "9" * 5000)),
    ],
)
def test_blocks_that_make_no_plan_are_refused(blocks: str, distance: int, message: str) -> None:
    with pytest.raises(Refused, match=message):
        chosen_blocks(blocks, distance)
