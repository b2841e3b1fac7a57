"""Wrong calls to the compiled modules raise exceptions and change nothing; ``fuzz/run.py objects`` tries more."""

from __future__ import annotations

import datetime
from array import array
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from scrapy_simhash import kernel
from scrapy_simhash.index import Match
from scrapy_simhash.index.index import Callbacks
from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.page.compiled.definition import definition
from scrapy_simhash.store import Original
from tests.store.cases import content

pytestmark = pytest.mark.skipif(kernel.native is None, reason=f"pure Python runs: {kernel.REASON}")

HAMMING: Any = kernel.hamming
NATIVE: Any = kernel.native


def native_postings() -> Any:
    return HAMMING.Postings(Callbacks, 3, [], 0)


def look() -> Any:
    return SimilarityRule().native


def numbers(*values: int) -> bytes:
    return array("Q", values).tobytes()


@pytest.mark.parametrize("function", [None, datetime.datetime_CAPI, "swapped"])
def test_a_function_of_another_type_is_refused(function: Any) -> None:
    ours = import_module("scrapy_simhash.kernel._second_look").__pyx_capi__
    decide, threshold = ours["decide"], ours["threshold"]
    wrong = (threshold, decide) if function == "swapped" else (function, threshold)
    for functions in (wrong, (decide, function)):
        with pytest.raises(ValueError, match="PyCapsule"):
            HAMMING.SecondLook(*functions, 0.8, 8, 2)
    with pytest.raises(ValueError, match="PyCapsule"):
        NATIVE.Rules(SimpleNamespace(**{**vars(definition()), "choose_language": decide}))


@pytest.mark.parametrize(
    ("values", "keys", "first"),
    [
        (numbers(1, 2), b"", 0),
        (numbers(1, 2), numbers(7), 0),
        (numbers(1), numbers(7, 8), 0),
        (numbers(1, 2), numbers(7, 2**63), 0),
        (numbers(1, 2), numbers(7, 2**64 - 1), 0),
        (numbers(1, 2), numbers(7, 8)[:-1], 0),
        (numbers(1, 2)[:-1], None, 0),
        (numbers(1, 2), None, 2**63 - 1),
    ],
)
def test_values_with_a_different_number_of_keys_are_refused(
    values: bytes, keys: bytes | None, first: int
) -> None:
    core = native_postings()
    with pytest.raises(ValueError, match=r"key|bytes"):
        core.add_many(values, keys, first)
    assert len(core) == 0
    core.check()
    core.add_many(numbers(1), None, 2**63 - 1)
    core.add_many(b"", b"", 2**63)
    assert core.find(1) == [(2**63 - 1, 1, 0)]


def test_a_match_that_changes_the_index_does_not_affect_the_search() -> None:
    calls: list[list[Match] | None] = []

    class Busy(Callbacks):
        @staticmethod
        def match(key: int, value: int, distance: int) -> Match:  # type: ignore[override]
            if not calls:
                calls.append(None)
                calls[0] = core.find(2**64 - 1)
                core.discard(5, 2)
                core.add_many(numbers(*range(100, 200)), None, 100)
            return Match(key, value, distance)

    core = HAMMING.Postings(Busy, 3, [], 0)
    for value, key in ((5, 1), (5, 2), (7, 3), (2**64 - 1, 4)):
        core.add(value, key)
    # The matches are those at the start of the search.
    assert [match.key for match in core.find(5)] == [1, 2, 3]
    assert [match.key for match in core.find(5)][:2] == [1, 3]
    assert calls == [[(4, 2**64 - 1, 0)]]
    core.check()


def near(read: Callable[[int], Any], most: int = 64) -> Any:
    """Search for a page with a sketch among three originals."""
    core = native_postings()
    for number in range(3):
        core.add(5, number)
    page = content(5)
    return core.near(look(), page.compared_bytes(), 7, most, 256, {}, read, 3, -1, 2)


def test_an_invalid_original_is_refused_and_a_missing_one_is_skipped() -> None:
    def original(number: int) -> Original:
        return Original(number, b"", "", content(5).compared_bytes(), None, 0, 1)

    assert near(original)[3][:2] == (2, True), "of its cluster"
    assert near(lambda number: None)[3] is None
    assert near(lambda number: original(number) if number == 1 else None)[3][0] == 1
    for read in (
        lambda number: (number,),
        lambda number: original(number)._replace(compared=bytes(9)),
        lambda number: original(number)._replace(compared=None),  # type: ignore[arg-type]
        lambda number: original(-1),
        lambda number: number,
    ):
        with pytest.raises((IndexError, TypeError, ValueError, OverflowError)):
            near(read)
    with pytest.raises(ValueError, match="at most"):
        near(original, 65)
