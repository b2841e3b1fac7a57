"""The opening of a store in Redis, failures of a store, and its end: only if all data was stored."""

import asyncio
from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request, signals
from scrapy.http import HtmlResponse

from scrapy_simhash import Config, SimhashDownloaderMiddleware, StoreUnavailable
from scrapy_simhash.crawl.delivery import Deliveries
from scrapy_simhash.crawl.store_session import StoreSession, open_store
from scrapy_simhash.store.sqlite import SqliteStore
from tests.crawls.site import article
from tests.stand_in import in_loop, stand_in

URL = "https://example.com/a"


def crawled(folder: Path, *, delivers: bool = True, end: str = "in order") -> bool:
    """Crawl one page, and end normally (``in order``), by a kill, or without the store; return whether the page
    counts as delivered.
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


def test_a_copy_is_not_known_to_be_delivered_elsewhere_if_the_store_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crawler = stand_in()
    session = StoreSession(crawler, Config())
    deliveries: Any = Deliveries(crawler, session)
    deliveries._is_remote = True
    monkeypatch.setattr(session, "is_delivered", away)
    copy = SimpleNamespace(original_key=b"a")
    assert asyncio.run(deliveries._is_delivered_elsewhere(copy)) is False


def test_texts_that_cannot_be_compared_are_both_delivered(monkeypatch: pytest.MonkeyPatch) -> None:
    crawler = stand_in()
    session = StoreSession(crawler, Config())
    deliveries: Any = Deliveries(crawler, session)

    def fail(*fingerprints: object) -> bool:
        raise ValueError("damaged")

    monkeypatch.setattr(session.detector.fingerprinter, "is_near_duplicate", fail)
    assert deliveries._are_near(object(), object()) is False
    assert crawler.stats.get_value("simhash/errors/action") == 1


@pytest.mark.parametrize(
    ("place", "part", "shards"),
    [
        ("redis+cluster://localhost:7000?shards=12", "", 12),
        ("redis+cluster://localhost:7000?shards=12", "items", 1),
        ("redis+cluster://localhost:7000", "", 1024),
        ("redis://localhost", "", None),
    ],
)
def test_only_the_pages_in_a_cluster_have_shards(
    place: str, part: str, shards: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis = pytest.importorskip("scrapy_simhash.store.redis")
    opened: dict[str, Any] = {}

    def store(server: object, prefix: str, header: object, **options: Any) -> object:
        opened.update(options)
        return SimpleNamespace(check=lambda: None, absence=None)

    monkeypatch.setattr(redis, "RedisStore", store)
    in_loop(lambda: open_store(stand_in(), Config(store=place), part=part))
    assert opened.get("shards") == shards
