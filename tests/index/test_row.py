from __future__ import annotations

from array import array
from typing import Any, SupportsIndex

import pytest

from scrapy_simhash.index.values import row_of


class Number:
    """An integer as numpy has them."""

    def __index__(self) -> int:
        return 7


@pytest.mark.parametrize(
    "values",
    [array("Q", [1, 2**64 - 1]), memoryview(array("Q", [1, 2]))[::-1], memoryview(bytes(16)).cast("Q")],
)
def test_a_buffer_of_fingerprints_is_not_copied(values: Any) -> None:
    view = row_of(values)
    assert view.obj is memoryview(values).obj
    assert view.tolist() == list(values)


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ([], []),
        ([3, 0, 3], [3, 0, 3]),
        ({2**64 - 1}, [2**64 - 1]),
        (iter(range(5)), [0, 1, 2, 3, 4]),
        ([Number(), 8], [7, 8]),
        (array("q", [5]), [5]),  # signed numbers could be negative
        (array("I", [5, 6]), [5, 6]),
    ],
)
def test_anything_else_is_taken_number_by_number(values: Any, numbers: list[int]) -> None:
    view = row_of(values)
    assert view.tolist() == numbers
    assert (view.format, view.itemsize) == ("Q", 8)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ([1, -1], ValueError),
        ([2**64], ValueError),
        ([True], TypeError),
        ([1.5], TypeError),
        ("12", TypeError),
    ],
)
def test_what_is_no_fingerprint_is_refused(values: list[SupportsIndex], error: type[Exception]) -> None:
    with pytest.raises(error, match="value must be"):
        row_of(values)
