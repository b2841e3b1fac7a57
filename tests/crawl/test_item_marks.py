"""Results in a field of an item."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Field, Item

from scrapy_simhash.crawl.marks import ItemMarks
from tests.stand_in import simhash_stats, stand_in

MARK = {"status": "near_duplicate", "duplicate_of": "/a", "distance": 0, "similarity": 1.0, "cluster": 0}


class Declared(Item):
    seen = Field()


def test_an_item_gets_its_own_copy_of_the_result() -> None:
    crawler, values = stand_in(), {"status": "new"}
    marks = ItemMarks(crawler, "seen")
    declared, other = Declared(), {"title": "Kettle"}
    marks.write(declared, values)
    marks.write(other, values)
    values["status"] = "changed"
    assert declared == {"seen": {"status": "new"}}
    assert other == {"title": "Kettle", "seen": {"status": "new"}}
    assert simhash_stats(crawler) == {}


def test_existing_values_of_the_item_are_kept_counted_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawler = stand_in()
    marks = ItemMarks(crawler, "seen")
    values: list[object] = ["mine", "", 0, [], {"status": "mine"}]
    for value in values:
        item = {"seen": value}
        marks.write(item, None)
        marks.write(item, MARK)
        assert item == {"seen": value}
    assert simhash_stats(crawler) == {"items/unmarked": 5}
    (record,) = caplog.records
    assert record.getMessage().endswith("to a field that your items declare and do not use")


def test_a_result_is_replaced_or_removed_by_a_later_one() -> None:
    marks = ItemMarks(stand_in(), "seen")
    item: dict[str, Any] = {}
    for mark in (MARK, {**MARK, "status": "revisit", "reason": "unchanged"}, None, MARK):
        marks.write(item, mark)
        assert item == {"seen": mark}
