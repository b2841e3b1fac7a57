from __future__ import annotations

import random
from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index.alternatives import by_guessing, by_halving
from scrapy_simhash.index.alternatives.interpolation import Search, guesses
from tests.index.values import ALL_ONES, fingerprints

both = pytest.mark.parametrize("search", [by_halving, by_guessing])
#: Lists as uneven as can be: guesses go wrong in each by almost all that is left.
UNEVEN = {
    "powers": [1 << bit for bit in range(64)],
    "clusters": sorted({(1 << bit) + more for bit in range(4, 64) for more in range(-8, 8)}),
    "all low": list(range(5000)),
    "all high": list(range(ALL_ONES - 4999, ALL_ONES + 1)),
    "both ends": [*range(2500), *range(ALL_ONES - 2499, ALL_ONES + 1)],
    "squares": [number**4 for number in range(60_000)],
    "all the same": [7] * 1000,
}


def even(count: int) -> list[int]:
    draw = random.Random(count)
    return sorted(draw.getrandbits(64) for _ in range(count))


def mean_steps(search: Search, numbers: list[int]) -> float:
    draw = random.Random(2)
    sought = [draw.getrandbits(64) for _ in range(500)] + [draw.choice(numbers) for _ in range(500)]
    return sum(search(numbers, number).steps for number in sought) / len(sought)


@both
@given(st.lists(fingerprints | st.integers(0, 30)).map(sorted), fingerprints | st.integers(0, 30))
def test_the_place_is_that_of_bisect(search: Search, numbers: list[int], sought: int) -> None:
    assert search(numbers, sought).position == bisect_left(numbers, sought)


@both
@pytest.mark.parametrize("numbers", [*UNEVEN.values(), even(3000), []], ids=[*UNEVEN, "even", "none"])
def test_the_place_is_that_of_bisect_in_long_lists(search: Search, numbers: list[int]) -> None:
    for number in [0, ALL_ONES, *numbers[::7], *numbers[-3:]]:
        for sought in {max(number - 1, 0), number, min(number + 1, ALL_ONES)}:
            assert search(numbers, sought).position == bisect_left(numbers, sought)


@pytest.mark.parametrize("count", [2**8, 2**12, 2**16])
def test_halving_takes_a_step_for_each_bit_of_the_length(count: int) -> None:
    bits = count.bit_length() - 1
    assert bits <= mean_steps(by_halving, even(count)) <= bits + 1


def test_guessing_takes_about_log_log_n_steps_in_an_even_list() -> None:
    # log2(log2(n)) is 3, 3.6, 4: each is less than one step more, where halving takes four more.
    steps = [mean_steps(by_guessing, even(count)) for count in (2**8, 2**12, 2**16)]
    assert steps == sorted(steps)
    assert steps[2] - steps[0] < 1.5
    assert steps[2] < 4 + 1.5


@pytest.mark.parametrize("numbers", UNEVEN.values(), ids=UNEVEN.keys())
def test_guessing_takes_few_steps_more_than_halving_in_the_most_uneven_list(numbers: list[int]) -> None:
    most = max(
        by_guessing(numbers, number + more).steps
        for number in numbers
        for more in (0, 1)
        if number < ALL_ONES
    )
    assert most <= guesses(len(numbers)) + len(numbers).bit_length()


def test_guesses_give_up_where_they_are_worthless() -> None:
    # Without that it would be thousands: each guess in this list excludes one number.
    assert mean_steps(by_guessing, UNEVEN["all low"]) >= guesses(5000)


def test_the_number_of_guesses_is_small() -> None:
    assert [guesses(1 << bits) for bits in (0, 4, 8, 16, 34)] == [2, 6, 8, 10, 12]
