from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple
from enum import Enum, IntEnum
from typing import Any

import pytest

from scrapy_simhash.observers.recrawl.kept_links import packed, unpacked, use_of


class Word(str, Enum):
    A = "a"


class Number(IntEnum):
    ONE = 1


class Text(str):
    pass


Place = namedtuple("Place", "row column")
CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)
#: Each would come back as something that is merely equal, or not at all.
NOT_KEPT = [
    Word.A,
    Number.ONE,
    Text("a"),
    OrderedDict(a=1),
    defaultdict(int, a=1),
    Place(1, 2),
    (1, 2),
    {1: "a"},
    {Word.A: 1},
    {Text("a"): 1},
    {1, 2},
    b"a",
    float("nan"),
    CIRCLE,
]


@pytest.mark.parametrize("value", NOT_KEPT, ids=repr)
@pytest.mark.parametrize("is_deep", [False, True])
def test_what_json_does_not_give_back_with_its_type_is_not_kept(value: Any, is_deep: bool) -> None:
    held = {"a": [{"b": value}]} if is_deep else {"a": value}
    assert packed([{"url": "https://example.com/", "meta": held}]) is None


@pytest.mark.parametrize("empty", [OrderedDict(), defaultdict(list)])
def test_an_empty_mapping_of_another_type_is_not_kept(empty: Any) -> None:
    assert packed([{"url": "https://example.com/", "meta": empty}]) is None
    assert packed([{"url": "https://example.com/", "meta": {"a": empty}}]) is None


def test_what_json_gives_back_is_kept() -> None:
    value: dict[str, Any] = {"a": [1, 1.0, True, None, "a", "\ud800", {"b": []}, {}, -0.0, 1 << 70]}
    (request,) = unpacked(packed([{"url": "https://example.com/", "meta": value}]) or b"")
    assert repr(request["meta"]) == repr(value)


def test_what_is_empty_or_none_is_kept_of_a_request_of_another_class() -> None:
    asked: dict[str, Any] = {
        "url": "https://example.com/",
        "_class": "shop.Asked",
        "method": "GET",
        "tags": [],
        "limit": None,
    }
    assert unpacked(packed([asked]) or b"") == [asked]


@pytest.mark.parametrize("value", [Word.A, Text("a")])
def test_a_use_tells_equal_values_of_two_types_apart(value: Any) -> None:
    assert use_of({"meta": {"kind": value}}, True, 1) != use_of({"meta": {"kind": "a"}}, True, 1)


def test_a_use_does_not_depend_on_the_order_of_meta() -> None:
    assert use_of({"a": 1, "b": {"c": 1, "d": 2}}, True, 1) == use_of(
        {"b": {"d": 2, "c": 1}, "a": 1}, True, 1
    )
