"""Indexes over either core, with the limits set so low that a few fingerprints meet the rare cases."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from scrapy_simhash import kernel
from scrapy_simhash.index import LinearScan, Plan, ProbingIndex, ProbingPlan, SimhashIndex
from scrapy_simhash.index.growth import FOREVER, Step, keys_of
from scrapy_simhash.index.index import Door
from scrapy_simhash.index.pure.postings import Postings

#: The cores there are: without the kernel there is one.
CORES = ["pure", *(["native"] if kernel.hamming is not None else [])]
every_core = pytest.mark.parametrize("core", CORES)

Steps = Sequence[tuple[int, "Plan | ProbingPlan | None"]]


def core_of(core: str, max_distance: int, steps: Steps, leaf_size: int = 4) -> Postings:
    """Return a core that goes through *steps*, each with the number of values up to which it serves."""
    if core == "pure":
        return Postings(max_distance, [Step(*step) for step in steps], leaf_size)
    assert kernel.hamming is not None
    stages = [(upto, [] if plan is None else keys_of(plan)) for upto, plan in steps]
    made: Postings = kernel.hamming.Postings(Door, max_distance, stages)
    return made


def over(core: str, plan: Plan, leaf_size: int = 4, steps: Steps = ()) -> SimhashIndex:
    """Return an index over the tables of *plan* from the first fingerprint on, or over *steps*."""
    index = SimhashIndex.from_plan(plan)
    index.core = core_of(core, plan.max_distance, steps or [(FOREVER, plan)], leaf_size)
    return index


def probing(core: str, max_distance: int, blocks: int) -> ProbingIndex:
    """Return an index that probes from the first fingerprint on."""
    return probing_over(core, ProbingPlan.even(max_distance, blocks))


def probing_over(core: str, plan: ProbingPlan) -> ProbingIndex:
    """Return the same over any plan."""
    index = ProbingIndex.from_plan(plan)
    index.core = core_of(core, plan.max_distance, [(FOREVER, plan)])
    return index


def assert_finds_what_linear_scan_finds(
    index: SimhashIndex | ProbingIndex, values: Sequence[int], queries: Sequence[int]
) -> None:
    """Tell both of *values*, the greater part as one batch, and ask both for *queries*."""
    scan = LinearScan(index.max_distance)
    together = len(values) * 2 // 3
    for searched in (index, scan):
        searched.add_many(values[:together])
        for key, value in enumerate(values[together:], start=together):
            searched.add(value, key)
    index._check()
    assert [index.find(query) for query in queries] == [scan.find(query) for query in queries]
