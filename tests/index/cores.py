"""Indexes with either core, which use tables from the first fingerprint on."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from scrapy_simhash import kernel
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.index.index import Callbacks
from scrapy_simhash.index.plans import Key, classic, probing
from scrapy_simhash.index.scan import Scan
from tests.index.oracle import Oracle

#: The available cores: only one without the C extension.
CORES = ["scan", *(["native"] if kernel.hamming is not None else [])]
every_core = pytest.mark.parametrize("core", CORES)


def over(core: str, max_distance: int, plan: list[Key], row_limit: int = 0) -> SimhashIndex:
    """Return an index over the tables of *plan*, which are filled once there are *row_limit* records."""
    index = SimhashIndex(max_distance, "auto")
    if core == "scan":
        index.core = Scan(max_distance)
    else:
        assert kernel.hamming is not None
        index.core = kernel.hamming.Postings(Callbacks, max_distance, plan, row_limit)
    return index


def tables(core: str, max_distance: int, blocks: int, row_limit: int = 0) -> SimhashIndex:
    """Return an index over the classic plan."""
    return over(core, max_distance, classic(max_distance, blocks), row_limit)


def probes(core: str, max_distance: int, blocks: int) -> SimhashIndex:
    """Return an index that probes each of *blocks* blocks."""
    return over(core, max_distance, probing(max_distance, blocks))


def assert_finds_what_comparing_all_finds(
    index: SimhashIndex, values: Sequence[int], queries: Sequence[int]
) -> None:
    """Store *values* in the index and the oracle, two thirds of them as one batch, and search both for *queries*."""
    oracle = Oracle(index.max_distance)
    together = len(values) * 2 // 3
    for searched in (index, oracle):
        searched.add_many(values[:together])
        for key, value in enumerate(values[together:], start=together):
            searched.add(value, key)
    index._check()
    assert [index.find(query) for query in queries] == [oracle.find(query) for query in queries]
