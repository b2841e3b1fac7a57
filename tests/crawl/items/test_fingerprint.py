"""Items to fingerprints: the compared text."""

from random import Random
from typing import Any
from zlib import crc32

import pytest

from scrapy_simhash.config import Config
from scrapy_simhash.crawl.items import LONGEST_LABEL, ItemFingerprinter, ItemReading, item_header
from scrapy_simhash.judge.rule import rule_of
from scrapy_simhash.store import Posting
from tests.crawls.site import SYLLABLES

FIELDS = ("title", "body")


def config_of(**settings: Any) -> Config:
    return Config(**{"item_fields": FIELDS, **settings})


def words(number: int, count: int = 120) -> list[str]:
    """Return random words, a third of which are short and repeated."""
    random = Random(number)
    return [
        random.choice(SYLLABLES) if place % 3 else "".join(random.choices(SYLLABLES, k=3))
        for place in range(count)
    ]


def item(number: int = 0, **changes: Any) -> dict[str, Any]:
    return {"title": " ".join(words(number + 1_000, 5)), "body": " ".join(words(number)), **changes}


def reading(item: Any, **settings: Any) -> ItemReading:
    found = ItemFingerprinter(config_of(**settings)).read(item)
    assert found is not None
    return found


def read(item: Any, **settings: Any) -> Posting:
    return reading(item, **settings).posting


def alike(a: Any, b: Any, **settings: Any) -> bool:
    config = config_of(**settings)
    one, two = read(a, **settings), read(b, **settings)
    assert not one.is_short
    assert not two.is_short
    return rule_of(config).similarity(one.fingerprint, two.fingerprint) is not None


def test_the_fingerprint_of_an_item_is_fixed_within_a_scheme() -> None:
    body = "one two three four five six seven eight nine ten eleven twelve"
    posting = read({"title": "A kettle", "body": body}, item_fields={"title": 2, "body": 1})
    assert not posting.is_short
    fingerprint = posting.fingerprint
    assert (fingerprint.hex, fingerprint.features) == ("48e0b81b63e2c93c", 26)
    assert crc32(fingerprint.sketch) == 1144646282


@pytest.mark.parametrize(
    ("one", "other"), [("C++", "C#"), ("-5", "5"), ("ab", "a b"), ("★★", "★★★"), ("A", "a")]
)
def test_short_items_differ_by_any_character(one: str, other: str) -> None:
    a, b = read({"title": one}), read({"title": other})
    assert a.is_short
    assert b.is_short
    assert a.page_hash != b.page_hash


def test_an_item_is_identified_by_its_key_else_its_url_else_its_text() -> None:
    given = item(sku=17, url="https://example.com/17")
    assert read(given, item_key="sku").url == "17"
    assert read(given).url == "https://example.com/17"
    assert read({**given, "url": None}, item_key="no").url == given["body"][: LONGEST_LABEL - 1] + "…"
    assert read({"title": "Kettle"}).url == "Kettle"


def test_other_fields_weights_or_keys_need_another_store() -> None:
    header = item_header(config_of(item_fields=FIELDS))
    for other in (
        config_of(item_fields={"title": 2, "body": 1}),
        config_of(item_fields=("title",)),
        config_of(item_fields=FIELDS, item_key="url"),
    ):
        (difference,) = header.differences(item_header(other))
        assert "SIMHASH_ITEM_FIELDS body 1, title 1" in difference


def share_found(changed: Any, **settings: Any) -> float:
    found = [alike(item(number), changed(item(number)), **settings) for number in range(40)]
    return sum(found) / len(found)


def test_items_that_differ_in_a_number_are_near_duplicates_unless_its_field_has_a_weight() -> None:
    def variant(item: dict[str, Any]) -> dict[str, Any]:
        return {**item, "size": 2}

    assert share_found(variant, item_fields=("title", "body", "size")) == 1
    assert share_found(variant, item_fields={"title": 1, "body": 1, "size": 40}) == 0
