"""Results in a field of an item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import attr
import pytest
from itemadapter import ItemAdapter
from scrapy import Field, Item

from scrapy_simhash.crawl.marks import ItemMarks
from tests.stand_in import simhash_stats, stand_in

MARK = {"status": "near_duplicate", "duplicate_of": "/a", "distance": 0, "similarity": 1.0, "cluster": 0}


class Declared(Item):
    seen = Field()


class Undeclared(Item):
    title = Field()


@dataclass
class Data:
    seen: Any = None


@dataclass
class DataWithoutField:
    title: str = ""


@dataclass(frozen=True)
class FrozenData:
    seen: Any = None


@attr.define
class Attrs:
    seen: Any = None


@attr.define(frozen=True)
class FrozenAttrs:
    seen: Any = None


@pytest.mark.parametrize("kind", [dict, Declared, Data, Attrs])
def test_an_item_of_any_kind_gets_its_own_copy_of_the_result(kind: Any) -> None:
    crawler, values, item = stand_in(), {"status": "new"}, kind()
    ItemMarks(crawler, "seen").write(item, values)
    values["status"] = "changed"
    assert ItemAdapter(item).asdict() == {"seen": {"status": "new"}}
    assert simhash_stats(crawler) == {}


@pytest.mark.parametrize("kind", [Undeclared, DataWithoutField, FrozenData, FrozenAttrs])
def test_an_item_that_cannot_store_the_result_is_unchanged_and_counted(kind: Any) -> None:
    crawler, item = stand_in(), kind()
    marks = ItemMarks(crawler, "seen")
    marks.write(item, None)
    assert simhash_stats(crawler) == {}
    marks.write(item, MARK)
    assert item == kind()
    assert simhash_stats(crawler) == {"items/unmarked": 1}


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
