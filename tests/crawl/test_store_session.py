"""The end of a store: a run ends only if all data was stored."""

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import cast

import pytest
from scrapy import Request, signals
from scrapy.http import HtmlResponse

from scrapy_simhash import SimhashDownloaderMiddleware, StoreUnavailable
from scrapy_simhash.store.sqlite import SqliteStore
from tests.crawls.site import article
from tests.stand_in import stand_in

URL = "https://example.com/a"


def crawled(folder: Path, *, delivers: bool = True, end: str = "in order") -> bool:
    """Crawl one page, and end in order, by a kill, or without the store; return whether the page counts as
    delivered.
    """
    crawler = stand_in(store=str(folder))
    middleware = SimhashDownloaderMiddleware.from_crawler(crawler)
    crawler.signals.send_catch_log(signals.engine_started)
    request = Request(URL)
    page = HtmlResponse(URL, body=article(0).encode(), encoding="utf-8", request=request)
    middleware.process_response(request, page)
    if delivers:
        page_hash = request.meta["simhash_result"].verdict.page_hash
        middleware.detector.deliver(middleware._key_of(request), page_hash)
    store = cast("SqliteStore", middleware.detector.store)
    if end == "killed":
        store._release()
    else:
        with pytest.MonkeyPatch.context() as patch:
            if end == "away":
                patch.setattr(store, "deliver", away)
            asyncio.run(middleware._session._engine_stopped())
    is_delivered: bool = request.meta["simhash_result"]["delivered"]
    return is_delivered


def away(keys: Collection[bytes]) -> None:
    raise StoreUnavailable("nobody answers")


@pytest.mark.parametrize("end", ["in order", "killed", "away"])
@pytest.mark.parametrize("delivers", [False, True])
def test_a_page_is_delivered_if_its_delivery_was_stored(
    delivers: bool, end: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert not crawled(tmp_path, delivers=delivers, end=end)
    assert ("delivers these pages again: nobody answers" in caplog.text) == (delivers and end == "away")
    assert crawled(tmp_path) is (delivers and end == "in order")
    # The file is unlocked in any case.
    assert crawled(tmp_path) is True
