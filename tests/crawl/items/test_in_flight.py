"""Which items are waited for."""

from typing import Any

from scrapy_simhash.crawl.items.checker import MOST, InFlight


def key_of(item: Any) -> bytes | None:
    key: bytes | None = item.get("key")
    return key


def waiting_for(*keys: bytes) -> tuple[InFlight, list[dict[str, Any]]]:
    on_the_way = InFlight()
    items: list[dict[str, Any]] = [{"key": key} for key in keys]
    for item in items:
        on_the_way.add(item, item["key"])
    return on_the_way, items


def test_another_object_is_known_by_its_key_as_often_as_it_is_waited_for() -> None:
    on_the_way, _items = waiting_for(b"1", b"1", b"2")
    assert [on_the_way.lose({"key": b"1"}, key_of) for _ in range(3)] == [b"1", b"1", None]
    assert on_the_way.lose({}, key_of) is None


def test_nobody_waits_for_ever() -> None:
    keys = [number.to_bytes(4, "big") for number in range(MOST + 1)]
    on_the_way, items = waiting_for(*keys)
    assert len(on_the_way) == MOST
    assert on_the_way.lose(items[0], key_of) is None
    assert on_the_way.lose(items[-1], key_of) == keys[-1]
