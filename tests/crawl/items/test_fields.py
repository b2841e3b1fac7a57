"""Fields to text, for all kinds of items and values."""

from collections import OrderedDict
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import attr
import pytest
import scrapy
from itemadapter import is_item

from scrapy_simhash.crawl.items import LARGEST, TooLarge, field_texts

FIELDS = ("name", "body")


class Scraped(scrapy.Item):
    name: Any = scrapy.Field()
    body: Any = scrapy.Field()
    other: Any = scrapy.Field()


@dataclass
class Data:
    name: Any = None
    body: Any = None


@attr.define
class Attrs:
    name: Any = None
    body: Any = None


def models() -> list[Any]:
    """Return a pydantic class, if this itemadapter supports the installed version."""
    try:
        pydantic: Any = import_module("pydantic")
    except ImportError:
        return []
    model = pydantic.create_model("Model", name=(Any, None), body=(Any, None))
    return [model] if is_item(model()) else []


@pytest.mark.parametrize("kind", [dict, Scraped, Data, Attrs, *models()])
def test_items_of_every_kind_have_the_same_text(kind: Any) -> None:
    assert field_texts(kind(name="Kettle", body=["A", 2]), FIELDS) == {"name": "Kettle", "body": "A\n\n2"}
    assert field_texts(kind(name="Kettle"), FIELDS) == {"name": "Kettle"}
    assert field_texts(kind(name=None, body=""), FIELDS) == {}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (" two\n words\t", "two words"),
        ("<p>Salt &amp; pepper</p>", "Salt & pepper"),
        ("Größe".encode(), "Größe"),
        (0, "0"),
        (["b", "a"], "b\n\na"),
        (OrderedDict(size="M", colour="red"), "colour red\n\nsize M"),
    ],
)
def test_values_of_every_kind_have_text_or_none(value: object, expected: str | None) -> None:
    assert field_texts({"name": value}, FIELDS).get("name") == expected


def test_names_that_cannot_be_compared_are_sorted_by_their_text() -> None:
    assert field_texts({"name": {None: 1, (2,): 2, "a": 3}}, FIELDS) == {"name": "(2,) 2\n\nNone 1\n\na 3"}


def test_values_that_contain_themselves_are_too_large() -> None:
    ring: list[Any] = []
    ring.append(ring)
    loop: dict[str, Any] = {}
    loop["self"] = [loop, loop]
    item = Data()
    item.body = item
    for value in (ring, loop, item):
        with pytest.raises(TooLarge):
            field_texts({"name": value}, FIELDS)


def test_nested_lists_with_billions_of_values_are_too_large() -> None:
    for value in ("lol", None):
        lol: Any = value
        for _ in range(12):
            lol = [lol] * 10
        with pytest.raises(TooLarge, match=f"more than {LARGEST} characters and values"):
            field_texts({"name": lol}, FIELDS)
