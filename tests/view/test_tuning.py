"""From pairs that were judged to precision and recall by threshold."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from scrapy_simhash.view.tuning import (
    EDGES,
    Band,
    Pair,
    Sample,
    bands_of,
    estimates,
    least_for,
    pairs_of,
    to_judge,
)

NEAR: dict[str, Any] = {
    "url": "http://a.example/2",
    "status": "near_duplicate",
    "duplicate_of": "http://a.example/1",
    "distance": 2,
    "similarity": 0.9,
    "threshold": 0.87,
}
MISS: dict[str, Any] = {
    "url": "http://a.example/3",
    "status": "new",
    "near_miss": {"url": "http://a.example/1", "distance": 6, "similarity": 0.7, "threshold": 0.66},
}


def test_a_report_has_pairs_of_near_duplicates_and_near_misses() -> None:
    assert list(pairs_of([NEAR, MISS])) == [
        Pair("http://a.example/2", "http://a.example/1", 0.87, 2, 0.9),
        Pair("http://a.example/3", "http://a.example/1", 0.66, 6, 0.7),
    ]
    (identical,) = pairs_of([{**NEAR, "exact": True}])
    assert identical.is_same_text
    (revisit,) = pairs_of([{**NEAR, "status": "revisit"}])
    assert revisit.distance is None


@pytest.mark.parametrize(
    "line",
    [
        {"url": "http://a.example/", "status": "new", "near_miss": None},
        {**NEAR, "threshold": None},
        {**NEAR, "threshold": "much"},
        {**NEAR, "threshold": 7},
        {**NEAR, "duplicate_of": None},
        {**MISS, "near_miss": {"url": 3, "threshold": 0.5}},
    ],
)
def test_other_lines_have_none(line: dict[str, Any]) -> None:
    assert list(pairs_of([line])) == []


@pytest.mark.parametrize(
    ("line", "told_by", "is_kept"),
    [
        ({**NEAR, "protected": "pagination"}, "pagination", True),
        ({**NEAR, "protected": "language", "hints": ["hreflang"]}, None, True),
        ({**NEAR, "protected": "facts"}, None, True),
        ({**NEAR, "hints": ["canonical"]}, "canonical", False),
        ({**NEAR, "hints": ["redirect", "new in a later version"]}, "redirect", False),
        ({**NEAR, "hints": "canonical"}, None, False),
        # That page 2 names page 1 is a common mistake.
        ({**NEAR, "url": "http://a.example/1?page=2", "hints": ["canonical"]}, "pagination", False),
        ({**MISS, "url": "http://www.a.example/1"}, "address", False),
        ({**MISS, "url": "https://a.example/1"}, "address", False),
        ({**NEAR, "status": "revisit", "duplicate_of": None}, "refetched", True),
        ({**NEAR, "status": "revisit", "duplicate_of": None, "threshold": None}, "refetched", True),
    ],
)
def test_what_pages_say_of_themselves_is_told_and_who_is_kept_is_in_no_band(
    line: dict[str, Any], told_by: str | None, is_kept: bool
) -> None:
    (pair,) = pairs_of([line])
    assert (pair.told_by, pair.is_kept) == (told_by, is_kept)
    assert sum(band.pairs for band in bands_of([pair], {})) == (not is_kept)


def test_a_sample_is_the_same_whatever_the_order_and_does_not_grow() -> None:
    keys = [f"http://a.example/{number}" for number in range(1_000)]
    samples = [Sample[str](100), Sample[str](100), Sample[str](1_000)]
    for key in keys:
        samples[0].add(key, key)
        samples[2].add(key, key)
    for key in [*reversed(keys), *keys]:
        samples[1].add(key, key)
    assert sorted(samples[0].values()) == sorted(samples[1].values())
    assert [len(sample) for sample in samples] == [100, 100, 1_000]
    assert [sample.is_part for sample in samples] == [True, True, False]


def drawn(size: int, random: Random, error: float = 0.0) -> tuple[list[Pair], dict[tuple[str, str], bool]]:
    """Return pairs and what is true of them: the same page from 0.7 on, but for some errors."""
    pairs = [Pair(str(number), "0", random.randrange(500, 1001) / 1000) for number in range(size)]
    return pairs, {pair.key: (pair.threshold >= 0.7) is not (random.random() < error) for pair in pairs}


def test_a_pair_is_in_the_band_of_its_threshold() -> None:
    pairs = [Pair(str(edge), "0", edge) for edge in (0.0, 0.499, *EDGES, 1.0)]
    bands = bands_of(pairs, {("0", "0.5"): True, ("0", "0.55"): False})
    assert [band.begin for band in bands] == list(EDGES)
    assert [band.pairs for band in bands] == [1] * 9 + [2]
    assert [(band.same, band.different) for band in bands[:3]] == [(1, 0), (0, 1), (0, 0)]
    assert [pair.threshold for pair in bands[-1].unjudged] in ([0.95, 1.0], [1.0, 0.95])
    (identical,) = [band for band in bands_of([Pair("1", "0", 0.93, is_same_text=True)], {}) if band.pairs]
    assert (identical.identical, identical.unjudged) == (1, [])


def test_with_every_answer_estimates_are_the_truth() -> None:
    pairs, truth = drawn(400, Random(1), 0.1)
    for one in estimates(bands_of(pairs, truth)):
        called = [pair for pair in pairs if pair.threshold >= one.threshold]
        right = sum(truth[pair.key] for pair in called)
        assert one.pairs == len(called)
        assert one.precision is not None
        assert one.recall is not None
        assert tuple(one.precision) == pytest.approx([right / len(called)] * 3)
        assert tuple(one.recall) == pytest.approx([right / sum(truth.values())] * 3)


def test_intervals_hold_the_truth_in_nine_of_ten_cases() -> None:
    held, widths = [], []
    for seed in range(8):
        random = Random(seed)
        pairs, truth = drawn(2_000, random, 0.05)
        bands = bands_of(pairs, {})
        for band in bands:
            random.shuffle(band.unjudged)
        asked = {pair.key: truth[pair.key] for pair in to_judge(bands, 0.8, 10)}
        assert 80 <= len(asked) <= 120
        for one in estimates(bands_of(pairs, asked)):
            called = [truth[pair.key] for pair in pairs if pair.threshold >= one.threshold]
            assert one.precision is not None
            held.append(one.precision.low <= sum(called) / len(called) <= one.precision.high)
            widths.append(one.precision.high - one.precision.low)
    assert sum(held) >= 0.85 * len(held)
    # They say something, too.
    assert sum(widths) / len(widths) < 0.35


def test_the_lowest_threshold_that_is_shown_to_be_precise_is_chosen() -> None:
    bands = [
        Band(0.7, 0.8, same=5, different=45),
        Band(0.8, 0.9, identical=900),
        Band(0.9, 1.001, identical=10),
    ]
    chosen = least_for(0.95, estimates(bands))
    assert chosen is not None
    # 45 of 960 are different pages.
    assert chosen.threshold == 0.7
    stricter = least_for(0.96, estimates(bands))
    assert stricter is not None
    assert stricter.threshold == 0.8
    assert least_for(0.95, estimates([Band(0.8, 1.0, unjudged=[Pair("a", "b", 0.9)])])) is None
    # Of what a lower one would add nobody knows anything.
    bands = [Band(0.7, 0.8, unjudged=[Pair("a", "b", 0.7)]), Band(0.8, 1.0, identical=900)]
    unknown = least_for(0.95, estimates(bands))
    assert unknown is not None
    assert unknown.threshold == 0.8


def test_what_is_near_the_threshold_is_judged_first_and_what_is_most_is_judged_most() -> None:
    pairs = [Pair(f"{edge} {number}", "0", edge) for edge in EDGES for number in range(40)]
    pairs += [Pair(f"more {number}", "0", 0.97) for number in range(1_000)]
    asked = to_judge(bands_of(pairs, {}), 0.8, 10)
    counts = {edge: sum(pair.threshold == edge for pair in asked) for edge in EDGES[:-1]}
    assert asked[0].threshold in (0.75, 0.8)
    assert set(counts.values()) == {6}
    assert 30 <= sum(pair.threshold == 0.97 for pair in asked) <= 50
    labels = {pair.key: True for pair in asked}
    assert to_judge(bands_of(pairs, labels), 0.8, 10) == []
