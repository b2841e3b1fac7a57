from __future__ import annotations

import asyncio

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse

from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.observers.recrawl.cache import _packed, _unpacked
from scrapy_simhash.observers.recrawl.middleware import SimhashRecrawlMiddleware
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


@pytest.mark.parametrize(("headers", "is_smaller"), [({}, True), ({"Content-Encoding": "gzip"}, False)])
def test_a_body_is_compressed_once(headers: dict[str, str], is_smaller: bool) -> None:
    body = b"The ferry left the quay. " * 400
    page = HtmlResponse("https://example.com/", headers=headers, body=body)
    packed = _packed(Request(page.url), page)
    assert _unpacked(packed)[1] == body
    assert (len(packed) < len(body) / 10) is is_smaller
