from __future__ import annotations

import asyncio

from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.observers.recrawl.recrawling import SimhashRecrawlMiddleware
from scrapy_simhash.store import Row, Touch
from tests.store.cases import header, posting
from tests.store.remote import RemoteStore


def test_requests_that_write_visits_at_the_same_time_count_each_visit_once() -> None:
    page = posting("ferry", 5)

    async def visited() -> Row | None:
        store = RemoteStore(header(SimilarityRule()))
        await store.claim(page)
        middleware = SimhashRecrawlMiddleware.__new__(SimhashRecrawlMiddleware)
        middleware._store = store
        middleware._visits = {Touch.VISITED: {page.key: page.seen + 60}, Touch.SEEN: {}}
        await asyncio.gather(middleware._write_visits(), middleware._write_visits())
        return await store.get(page.key)

    row = asyncio.run(visited())
    assert row is not None
    assert row.posting.history is not None
    assert row.posting.history.visits == 2
