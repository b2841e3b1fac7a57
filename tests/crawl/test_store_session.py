"""The end of a store: in order only if all has been told."""

import asyncio
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from scrapy import Request, signals
from scrapy.http import HtmlResponse

from scrapy_simhash import SimhashDownloaderMiddleware, StoreUnavailable
from scrapy_simhash.store.sqlite import SqliteStore
from tests.crawls.site import article
from tests.stand_in import stand_in

URL = "https://example.com/a"


def crawled(folder: Path, *, fails: bool = False, is_away: bool = False) -> Any:
    """Crawl one page, whose callback may fail, with a store that may be away at the end; return if it was settled."""
    crawler = stand_in(store=str(folder))
    middleware = SimhashDownloaderMiddleware.from_crawler(crawler)
    crawler.signals.send_catch_log(signals.engine_started)
    request = Request(URL)
    page = HtmlResponse(URL, body=article(0).encode(), encoding="utf-8", request=request)
    middleware.process_response(request, page)
    if fails:
        crawler.signals.send_catch_log(signals.spider_error, response=page)
    with pytest.MonkeyPatch.context() as patch:
        if is_away:
            patch.setattr(middleware.detector.store, "unsettle", away)
        asyncio.run(middleware._session._engine_stopped())
    return request.meta["simhash_result"]["confirmed"]


def away(keys: Collection[bytes]) -> None:
    raise StoreUnavailable("nobody answers")


@pytest.mark.parametrize(
    ("fails", "is_away", "is_settled"),
    [(False, False, True), (True, False, False), (False, True, True), (True, True, False)],
)
def test_a_page_whose_callback_failed_is_never_settled_though_the_store_was_away_at_the_end(
    fails: bool, is_away: bool, is_settled: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    crawled(tmp_path, fails=fails, is_away=is_away)
    assert ("does not drop them as unchanged: nobody answers" in caplog.text) == (fails and is_away)
    assert crawled(tmp_path) is is_settled
    # The file was let go of in any case, and the next run ends in order again.
    assert crawled(tmp_path) is True


@pytest.mark.parametrize(
    ("end", "settled"),
    [("in order", [True, False]), ("killed", [False, False]), ("away", [False, False])],
)
def test_a_copy_that_was_dropped_is_not_settled_however_the_crawl_ends(
    end: str, settled: list[bool], tmp_path: Path
) -> None:
    crawler = stand_in(store=str(tmp_path), action="drop_items")
    middleware = SimhashDownloaderMiddleware.from_crawler(crawler)
    crawler.signals.send_catch_log(signals.engine_started)
    for name in "ab":
        request = Request(f"https://example.com/{name}")
        page = HtmlResponse(request.url, body=article(0).encode(), encoding="utf-8", request=request)
        middleware.process_response(request, page)
    store = cast("SqliteStore", middleware.detector.store)
    keys = [
        crawler.request_fingerprinter.fingerprint(Request(f"https://example.com/{name}")) for name in "ab"
    ]
    if end == "killed":
        store._release()
    else:
        with pytest.MonkeyPatch.context() as patch:
            if end == "away":
                patch.setattr(store, "unsettle", away)
            asyncio.run(middleware._session._engine_stopped())
    (path,) = tmp_path.glob("*.sqlite")
    with closing(SqliteStore(path, read_only=True)) as kept:
        pages = [kept.get(key) for key in keys]
    assert [page is not None and page.posting.is_delivered for page in pages] == settled
