from __future__ import annotations

import pytest

from scrapy_simhash.index.plans import partition


@pytest.mark.parametrize(
    ("blocks", "widths"),
    [
        (1, [64]),
        (2, [32, 32]),
        (3, [22, 21, 21]),
        (4, [16] * 4),
        (6, [11, 11, 11, 11, 10, 10]),
        (7, [10] + [9] * 6),
        (64, [1] * 64),
    ],
)
def test_blocks_are_as_equal_as_can_be_the_wider_ones_leading(blocks: int, widths: list[int]) -> None:
    assert [block.width for block in partition(blocks)] == widths


@pytest.mark.parametrize("blocks", range(1, 65))
def test_every_bit_is_in_one_block_most_significant_first(blocks: int) -> None:
    cut = partition(blocks)
    bits = [bit for block in cut for bit in reversed(range(block.shift, block.shift + block.width))]
    assert bits == list(range(63, -1, -1))


@pytest.mark.parametrize("blocks", [-1, 0, 65])
def test_there_are_from_1_to_64_blocks(blocks: int) -> None:
    with pytest.raises(ValueError, match=f"blocks must be from 1 to 64, got {blocks}"):
        partition(blocks)
