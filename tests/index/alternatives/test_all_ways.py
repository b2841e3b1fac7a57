"""All ways live the same life and must agree with the linear scan, and so with each other, at every step."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from scrapy_simhash.index import Plan
from scrapy_simhash.index.alternatives import Found, GrowingWay, SortedRuns, Way
from tests.examples import examples
from tests.index.alternatives.every_way import FROZEN, GROWING, PLANS, grown, neighbourhoods, scanned
from tests.index.values import ALL_ONES, bit, fingerprints, flipped

every_growing_way = pytest.mark.parametrize("make", GROWING.values(), ids=GROWING.keys())
MAKE: dict[str, Callable[[Plan, list[int]], Way]] = {
    **{name: partial(grown, make) for name, make in GROWING.items()},
    **FROZEN,
}
every_way = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE.keys())


@every_way
@settings(max_examples=examples(60))
@given(drawn=st.data(), plan=st.sampled_from(PLANS))
def test_a_way_finds_what_the_scan_finds(
    make: Callable[[Plan, list[int]], Way], drawn: st.DataObject, plan: Plan
) -> None:
    values, query = drawn.draw(neighbourhoods(plan.max_distance))
    way = make(plan, values)
    assert way.find(query) == scanned(values, query, plan.max_distance)
    assert sorted(way) == sorted(set(values))
    assert len(way) == len(set(values))


@every_way
def test_a_way_finds_up_to_three_bits_and_no_fourth(make: Callable[[Plan, list[int]], Way]) -> None:
    plan = Plan.classic(max_distance=3, blocks=6)
    # One bit in each block, and all in one; what differs in the highest and the lowest bit.
    far = [(63,), (63, 0), (60, 31, 2), (63, 62, 61), (60, 50, 31, 2), (3, 2, 1, 0)]
    for query in (0, ALL_ONES, 0x4BBB_22FB_BC29_D9B5):
        values = [flipped(query, bits) for bits in far]
        found = make(plan, values).find(query)
        assert [(match.value, match.distance) for match in found] == sorted(
            [(flipped(query, bits), len(bits)) for bits in far if len(bits) <= 3],
            key=lambda match: (match[1], match[0]),
        )


@every_way
def test_a_way_without_fingerprints_finds_nothing(make: Callable[[Plan, list[int]], Way]) -> None:
    way = make(PLANS[3], [])
    assert (way.find(0), way.find(ALL_ONES), len(way), list(way)) == ([], [], 0, [])
    assert way.max_distance == PLANS[3].max_distance


@every_way
@pytest.mark.parametrize(
    ("wrong", "error"), [(-1, ValueError), (2**64, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_what_is_no_fingerprint_is_refused(
    make: Callable[[Plan, list[int]], Way], wrong: int, error: type[Exception]
) -> None:
    way = make(PLANS[2], [7])
    with pytest.raises(error):
        way.find(wrong)
    with pytest.raises(error):
        make(PLANS[2], [3, wrong])
    if isinstance(way, GrowingWay):
        with pytest.raises(error):
            way.add(wrong)
    assert list(way) == [7]


@every_growing_way
def test_to_add_one_by_one_or_many_at_once_is_the_same(make: Callable[[Plan], GrowingWay]) -> None:
    draw = random.Random(4)
    values = [draw.getrandbits(64) for _ in range(50)] * 2
    singly, together = make(PLANS[4]), make(PLANS[4])
    for number in values:
        singly.add(number)
    together.add_many(iter(values))
    assert sorted(singly) == sorted(together) == sorted(set(values))
    queries = [flipped(number, [3, 40]) for number in values]
    assert [singly.find(query) for query in queries] == [together.find(query) for query in queries]


class WaysMachine(RuleBasedStateMachine):
    """One set, in every way that grows; now and then it is frozen."""

    seen = Bundle("seen")

    @initialize(plan=st.sampled_from(PLANS))
    def start(self, plan: Plan) -> None:
        self.plan = plan
        self.ways = {name: make(plan) for name, make in GROWING.items()}
        self.values: set[int] = set()

    @rule(target=seen, number=fingerprints)
    def add(self, number: int) -> int:
        return self._add(number)

    @rule(target=seen, number=seen, bits=st.sets(bit, max_size=4))
    def add_near(self, number: int, bits: set[int]) -> int:
        return self._add(flipped(number, bits))

    def _add(self, number: int) -> int:
        self.values.add(number)
        for way in self.ways.values():
            way.add(number)
        return number

    @rule(target=seen, seed=st.integers(0, 99), count=st.integers(0, 25))
    def add_many(self, seed: int, count: int) -> object:
        draw = random.Random(seed)
        numbers = [draw.getrandbits(64) & draw.getrandbits(64) for _ in range(count)]
        self.values.update(numbers)
        for way in self.ways.values():
            way.add_many(numbers)
        return multiple(*numbers[:5])

    @rule(number=seen, bits=st.sets(bit, max_size=4))
    def find(self, number: int, bits: set[int]) -> None:
        query = flipped(number, bits)
        expected = scanned(self.values, query, self.plan.max_distance)
        found: dict[str, list[Found]] = {name: way.find(query) for name, way in self.ways.items()}
        assert found == dict.fromkeys(found, expected)

    @rule(number=seen, bits=st.sets(bit, max_size=4))
    def freeze_and_find(self, number: int, bits: set[int]) -> None:
        query = flipped(number, bits)
        expected = scanned(self.values, query, self.plan.max_distance)
        for name, make in FROZEN.items():
            # Of any way that has grown, whatever the order in which it holds them.
            assert make(self.plan, self.ways["runs"]).find(query) == expected, name

    @invariant()
    def all_hold_the_same(self) -> None:
        for name, way in self.ways.items():
            assert len(way) == len(self.values), name
            assert sorted(way) == sorted(self.values), name
            if isinstance(way, SortedRuns):
                way._check()


TestWaysMachine = WaysMachine.TestCase
TestWaysMachine.settings = settings(max_examples=examples(16), stateful_step_count=20)
