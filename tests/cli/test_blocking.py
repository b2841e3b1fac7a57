"""A store whose methods are coroutines does what every store does when somebody waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from scrapy_simhash.cli.stores import BATCH, blocking, pages_of
from scrapy_simhash.store import AsyncStore, Header, Store
from tests.store.cases import posting
from tests.store.contract import StoreContract
from tests.store.remote import RemoteStore


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


class TestBlockingStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _loop(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    def make(self, header: Header) -> Store:
        return blocking(RemoteStore(header), self.loop)


def test_pages_are_asked_for_at_once(loop: asyncio.AbstractEventLoop) -> None:
    remote = RemoteStore(Header())
    assert isinstance(remote, AsyncStore)
    store = blocking(remote, loop)
    postings = [posting(str(number), number << 32) for number in range(2 * BATCH + 3)]
    for one in postings:
        store.claim(one)
    assert [one.key for one in store] == [one.key for one in postings]
    assert remote.most == 1
    keys = [one.key for one in postings[:BATCH]]
    pages = pages_of(store, [*keys, b"unknown"])
    assert [page and page.posting.key for page in pages] == [*keys, None]
    assert pages == pages_of(remote.store, [*keys, b"unknown"])
    assert remote.most == BATCH + 1


def test_a_run_ends_as_it_is_told(loop: asyncio.AbstractEventLoop) -> None:
    store = blocking(RemoteStore(Header()), loop)
    store.close("import")
    (run,) = store.runs()
    assert run.reason == "import"
