"""The pipeline, item by item; real crawls are in tests/crawls/test_items.py."""

from pathlib import Path
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import DropItem
from scrapy.http import Response

from scrapy_simhash import (
    NearDuplicateItem,
    NearDuplicatePageItem,
    SimhashItemPipeline,
    StoreUnavailable,
    UnchangedPageItem,
)
from scrapy_simhash.store import Claim, Posting
from tests.crawl.items.test_fingerprint import item
from tests.stand_in import stand_in

FIELDS = ("title", "body")
PAGE = Response("https://example.com/b", request=Request("https://example.com/b"))


def pipeline(**settings: Any) -> SimhashItemPipeline:
    return SimhashItemPipeline.from_crawler(stand_in(**{"item_fields": FIELDS, **settings}))


def is_kept(subject: SimhashItemPipeline, item: dict[str, Any]) -> bool:
    """Return whether *item* is not dropped."""
    try:
        subject.process_item(item)
    except NearDuplicateItem as error:
        subject.item_lost(item, error)
        return False
    return True


def test_a_scraped_item_is_not_lost_because_an_earlier_pipeline_drops_another() -> None:
    subject = pipeline(item_action="drop_items", item_key="url")
    first, again = item(url="/a"), item(url="/a")
    assert is_kept(subject, first)
    subject.item_scraped(first)
    subject.item_lost(again, DropItem("I have that one"))
    assert not is_kept(subject, item(url="/b"))


@pytest.mark.parametrize("error", [NearDuplicatePageItem(PAGE), UnchangedPageItem(PAGE)])
def test_an_item_dropped_with_its_page_does_not_affect_another_with_its_key(
    error: DropItem,
) -> None:
    subject = pipeline(item_action="drop_items", item_key="url")
    assert is_kept(subject, item(url="/a"))
    subject.item_lost(item(url="/a"), error)
    assert not is_kept(subject, item(url="/b"))


def test_a_lost_item_is_identified_by_its_key_if_the_object_was_replaced() -> None:
    subject = pipeline(item_action="drop_items", item_key="url")
    yielded = item(url="/a")
    assert is_kept(subject, {**yielded, "title": "clean"})
    assert is_kept(subject, item(7, url="/other"))
    subject.item_lost(yielded, DropItem("no"))
    assert is_kept(subject, item(url="/b", title="clean"))


def test_an_item_that_could_not_be_compared_is_stored_when_it_is_scraped(tmp_path: Path) -> None:
    subject = pipeline(item_action="drop_items", store=str(tmp_path))
    given = item()

    def away(posting: Posting) -> Claim:
        raise StoreUnavailable("it took too long")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject._store, "look", away)
        assert is_kept(subject, given)
    subject.item_scraped(given)
    assert not is_kept(subject, item())
    subject._store.close()


def test_items_replaced_by_later_pipelines_are_counted_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    subject = pipeline()
    for number in range(2):
        subject.process_item(item(number))
    subject.item_scraped({"other": "values"})
    subject.item_scraped({**item(1), "other": "values"})
    subject.spider_closed(Spider("fields"))
    assert len(subject._store) == 1, "the compared fields are unchanged"
    assert "Later crawls will not recognise 1 item: a later pipeline returned other objects" in caplog.text
