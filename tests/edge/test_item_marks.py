"""What was found, in a field of an item."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from scrapy import Field, Item

from scrapy_simhash.edge.item_marks import ItemMarks
from tests.stand_in import simhash_stats, stand_in


class Declared(Item):
    seen = Field()


class Undeclared(Item):
    pass


@dataclass(frozen=True)
class Frozen:
    seen: object = None


def test_an_item_that_can_hold_it_has_a_copy_of_its_own() -> None:
    crawler, values = stand_in(), {"status": "new"}
    marks = ItemMarks(crawler, "seen", "SIMHASH_ITEM_MARK", "simhash/unmarked")
    declared, other = Declared(), {"title": "Kettle"}
    marks.write(declared, values)
    marks.write(other, values)
    values["status"] = "changed"
    assert declared == {"seen": {"status": "new"}}
    assert other == {"title": "Kettle", "seen": {"status": "new"}}
    assert simhash_stats(crawler) == {}


@pytest.mark.parametrize("item", [Undeclared(), Frozen(), object(), "text", None])
def test_one_that_cannot_is_counted_and_warned_of_once(
    item: object, caplog: pytest.LogCaptureFixture
) -> None:
    crawler = stand_in()
    marks = ItemMarks(crawler, "seen", "SIMHASH_ITEM_MARK", "simhash/unmarked")
    marks.write(item, {})
    marks.write(item, {})
    assert simhash_stats(crawler) == {"unmarked": 2}
    (record,) = caplog.records
    name = type(item).__qualname__
    assert record.getMessage() == f"{name} has no field 'seen' (SIMHASH_ITEM_MARK): items go on unmarked"
