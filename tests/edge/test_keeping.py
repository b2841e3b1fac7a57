"""The end of a store: in order only if all has been told."""

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.http import HtmlResponse

from scrapy_simhash import SimhashDownloaderMiddleware, StoreUnavailable
from tests.crawl.site import article
from tests.stand_in import stand_in

URL = "https://example.com/a"


def crawled(folder: Path, *, fails: bool = False, is_away: bool = False) -> Any:
    """Crawl one page, whose callback may fail, with a store that may be away at the end; return if it was settled."""
    crawler = stand_in(dir=str(folder))
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
        asyncio.run(middleware._keeping._engine_stopped())
    return request.meta.get("simhash_settled")


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
    assert ("will come again in the next one: nobody answers" in caplog.text) == (fails and is_away)
    assert crawled(tmp_path) is is_settled
    # The file was let go of in any case, and the next run ends in order again.
    assert crawled(tmp_path) is True
