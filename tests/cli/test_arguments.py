from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from scrapy_simhash.cli.find import chosen_plan, parsed_distance
from scrapy_simhash.cli.streams import Refused
from scrapy_simhash.index.plans import Plan, plans_for


@pytest.mark.parametrize("text", ["0", "3", "64", "03"])
def test_a_distance_is_a_number_of_bits(text: str) -> None:
    assert parsed_distance(text) == int(text)


@pytest.mark.parametrize("text", ["", "-1", "65", "3.0", "three", "1_0", "\u0663", "9" * 5000])
def test_any_other_distance_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="must be a number of bits from 0 to 64, got "):
        parsed_distance(text)


@pytest.mark.parametrize(("blocks", "distance"), [("4", 3), ("6", 3), ("11", 10), ("1", 0), ("64", 1)])
def test_a_number_of_blocks_is_the_classic_plan(blocks: str, distance: int) -> None:
    assert chosen_plan(blocks, distance) == Plan.classic(distance, int(blocks))


@pytest.mark.parametrize("distance", [0, 1, 3, 6, 64])
def test_every_plan_for_a_distance_can_be_named(distance: int) -> None:
    assert {name: chosen_plan(name, distance) for name in plans_for(distance)} == plans_for(distance)


def test_auto_is_passed_on() -> None:
    assert chosen_plan("auto", 3) == "auto"


REFUSED = [
    ("3", 3, r"--blocks must be greater than --distance \(3\) and at most 64, got 3"),
    ("0", 0, r"--blocks must be greater than --distance \(0\) and at most 64, got 0"),
    ("65", 3, r"--blocks must be greater than --distance \(3\) and at most 64, got 65"),
    ("64", 64, r"--blocks must be greater than --distance \(64\) and at most 64, got 64"),
    ("64", 3, "--blocks 64 is too large: max_distance 3 with 64 blocks: 41,664 tables are too many"),
    (
        "many",
        3,
        "--blocks must be auto, a number, or one of the plans for a distance of 3 .*6x21.*, got 'many'",
    ),
    ("6x21", 4, "the plans for a distance of 4 .*, got '6x21'"),
    ("-6", 3, "got '-6'"),
    ("9" * 5000, 3, "got '999"),
]


@pytest.mark.parametrize(("blocks", "distance", "message"), REFUSED)
def test_blocks_that_make_no_plan_are_refused(blocks: str, distance: int, message: str) -> None:
    with pytest.raises(Refused, match=message):
        chosen_plan(blocks, distance)
