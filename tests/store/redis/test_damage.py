"""Damaged records: a page with an unreadable row is refused, no script stops halfway, and other pages are read."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any

import pytest

from scrapy_simhash.cli.stores import SyncStore
from scrapy_simhash.exceptions import RecordDamaged, StoreError
from scrapy_simhash.store.redis import RedisStore
from tests.examples import examples
from tests.store.cases import url
from tests.store.damaged import PAGES, Opened, ask_anything, ask_others, fill, page
from tests.store.redis.stores import HEADER, admin, lose_patience
from tests.store.server import RedisServer


@contextmanager
def opened_at(url: str, prefix: str, **options: Any) -> Iterator[Any]:
    with closing(asyncio.new_event_loop()) as loop:
        store: Any = SyncStore(RedisStore(url, prefix, HEADER, **options), loop)
        with closing(store):
            yield store


@pytest.fixture
def opened(shared: RedisServer, prefix: str) -> Opened:
    opened = partial(opened_at, shared.url, prefix)
    fill(opened)
    return opened


@pytest.fixture
def direct(shared: RedisServer) -> Any:
    return admin(shared.url)


#: Ways to damage the bytes of a row so that it cannot be read.
UNREADABLE: dict[str, Callable[[bytes], bytes]] = {
    "a byte": lambda record: b"?",
    "half its head": lambda record: record[:40],
    "its head only": lambda record: record[:82],
    "ones": lambda record: b"\xff" * len(record),
    "another kind": lambda record: (
        b"the value of another program, long enough to be taken for a record of ours, if nothing is checked"
    ),
}


@pytest.mark.parametrize("way", UNREADABLE)
def test_an_unreadable_row_affects_only_its_page(
    way: str, opened: Opened, direct: Any, shared: RedisServer, prefix: str
) -> None:
    sound = partial(opened_at, shared.url, f"{prefix}:sound")
    fill(sound)
    with sound() as store:
        expected = ask_others(store)
    name = f"{prefix}:pages"
    damaged = UNREADABLE[way](direct.hget(name, "ka"))
    direct.hset(name, "ka", damaged)
    with opened(read_only=True) as store:
        assert [one.key for one in store] == [b"b", b"c", b"d", b"e", b"f"]
        assert store.damaged_records == [f"page with key {b'a'.hex()}"]
    with opened() as store:
        for ask in (store.look, store.claim):
            with pytest.raises(RecordDamaged, match=f"is damaged: page with key {b'a'.hex()}"):
                ask(PAGES[0])
        with suppress(RecordDamaged):
            assert store.get(b"a") is None, "no row"
        assert ask_others(store) == expected
        assert len(store.damaged_records) == 1
        # No page is a near-duplicate of the damaged one.
        assert store.claim(page("x", PAGES[1].fingerprint)).original != url("a")
    assert direct.hget(name, "ka") == damaged


@pytest.mark.parametrize("damaged", [b"", b"?", b"+1234", b"+1234\7", b"\xff" * 60, b"another program"])
def test_a_damaged_event_is_reported_in_one_sentence_and_no_page_is_lost(
    damaged: bytes, opened: Opened, direct: Any, prefix: str
) -> None:
    names = f"{prefix}:log", f"{prefix}:pages"
    pages, events = direct.hgetall(names[1]), direct.xrange(names[0])
    with opened() as running:
        running.look(PAGES[0])
        # A stream accepts events only in order.
        direct.delete(names[0])
        for number, (position, event) in enumerate(events):
            direct.xadd(names[0], event if number else {"e": damaged}, position)
        assert running.claim(PAGES[4]).original == url("c"), "the event of another page"
        claim = running.claim(PAGES[0])
        assert (claim.former is None, claim.original) == (False, None)
        assert running.claim(PAGES[1]).cluster == claim.cluster > 6, "an event of this store again"
    with suppress(StoreError), opened() as store:
        for ask in (store.claim, store.look):
            with pytest.raises(RecordDamaged, match=r"is damaged: its log cannot be read: .*SIMHASH_RESET"):
                ask(PAGES[3])
        assert store.damaged_records == ["the log"]
        # The end of the run cannot be stored.
        lose_patience(store._store, 0.1)
    assert direct.hgetall(names[1]).keys() == pages.keys()


def test_overwritten_bytes_raise_only_store_errors(opened: Opened, direct: Any, prefix: str) -> None:
    draw = random.Random(5)
    names = [f"{prefix}:{kind}" for kind in ("pages", "texts", "header", "runs")]
    kept = {name: {field: row for field, row in direct.hgetall(name).items() if row} for name in names}
    for _ in range(examples(100)):
        name = draw.choice(names)
        field, record = draw.choice(sorted(kept[name].items()))
        damaged = bytearray(record)
        damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        direct.hset(name, field, bytes(damaged[: draw.choice((None, None, draw.randrange(len(damaged))))]))
        with suppress(StoreError), opened(timeout=0.5) as store:
            ask_anything(store)
        direct.hset(name, field, record)
