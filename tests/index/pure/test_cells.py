from __future__ import annotations

import random
from array import array
from itertools import pairwise
from math import comb

import pytest

from scrapy_simhash.index.growth import FOREVER, pure_steps
from scrapy_simhash.index.plans import Block, ProbingPlan
from scrapy_simhash.index.pure.cells import BYTES_LIMIT, SIZE, CellTable, flips
from scrapy_simhash.index.pure.postings import Postings

# One that may have a list of cells, one that never has.
both = pytest.mark.parametrize("block", [Block(shift=20, width=16), Block(shift=20, width=17)])


@pytest.mark.parametrize(("width", "radius"), [(1, 0), (1, 3), (5, 2), (5, 9), (16, 2), (22, 3)])
def test_flips_are_all_numbers_with_so_many_ones_each_once(width: int, radius: int) -> None:
    numbers = flips(width, radius)
    assert len(set(numbers)) == len(numbers) == sum(comb(width, ones) for ones in range(radius + 1))
    assert all(number < 1 << width and number.bit_count() <= radius for number in numbers)
    assert all(a.bit_count() <= b.bit_count() for a, b in pairwise(numbers))


@both
@pytest.mark.parametrize("radius", [0, 1, 2])
def test_a_probe_returns_what_differs_by_the_radius_or_less_in_the_block(block: Block, radius: int) -> None:
    draw = random.Random(radius)
    table = CellTable(block, radius)
    query = draw.getrandbits(64)
    values = [draw.getrandbits(64) for _ in range(100)]
    values += [query ^ sum(1 << bit for bit in draw.sample(range(64), 5)) for _ in range(100)]
    for value in values:
        table.insert(value)
    table._check()
    near = [value for value in values if block.of(value ^ query).bit_count() <= radius]
    assert sorted(array("Q", b"".join(table.probe(query)))) == sorted(near)


@both
def test_a_cell_that_outgrows_bytes_keeps_its_values(block: Block) -> None:
    table = CellTable(block, 0)
    values = list(range(3 * BYTES_LIMIT // SIZE))
    for value in values:
        table.insert(value)
    assert table.values() == values
    assert isinstance(table.probe(0)[0], bytearray)
    for value in values[1:]:
        table.remove(value)
    table._check()
    assert table.values() == [0]
    table.remove(0)
    table._check()
    assert table.values() == []
    table.insert(7)
    assert table.values() == [7]


def test_cells_are_a_list_once_an_eighth_of_them_is_in_use() -> None:
    draw = random.Random(8)
    table, wide = CellTable(Block(20, 8), 1), CellTable(Block(20, 17), 1)
    values = []
    for _ in range(300):
        values.append(draw.getrandbits(64))
        for one in (table, wide):
            one.insert(values[-1])
            one._check()
        used = len({value >> 20 & 255 for value in values[:-1]})
        assert isinstance(table._cells, list) == (used >= 32)
        near = [value for value in values if (value >> 20 & 255 ^ 7).bit_count() <= 1]
        assert sorted(array("Q", b"".join(table.probe(7 << 20)))) == sorted(near)
    for value in values:
        table.remove(value)
    assert table.values() == []
    assert isinstance(wide._cells, dict)


def test_an_index_of_a_small_scope_takes_half_a_kilobyte_a_fingerprint() -> None:
    draw = random.Random(8)
    postings = Postings(10, pure_steps([(FOREVER, ProbingPlan.even(10, 4))]))
    for key in range(500):
        postings.add(draw.getrandbits(64), key)
    assert 400 < postings.nbytes / 500 < 600


def test_a_dict_of_cells_forgets_those_that_are_empty() -> None:
    table = CellTable(Block(0, 64), 0)
    for value in range(1000):
        table.insert(value)
        table.remove(value)
    assert len(table._cells) == 0


def test_a_value_is_not_mistaken_for_the_middle_of_two_others() -> None:
    table = CellTable(Block(63, 1), 0)
    for value in (0x0011_2233_4455_6677, 0x0099_AABB_CCDD_EEFF, 0x4455_6677_0099_AABB):
        table.insert(value)
    table.remove(0x4455_6677_0099_AABB)
    assert table.values() == [0x0011_2233_4455_6677, 0x0099_AABB_CCDD_EEFF]
