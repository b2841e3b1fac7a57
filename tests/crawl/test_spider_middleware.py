"""The spider middleware, output by output; real crawls are in tests/crawls/."""

from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from scrapy_simhash import (
    Fingerprint,
    NearDuplicate,
    SimhashSpiderMiddleware,
    Status,
    Verdict,
    names,
)
from tests.stand_in import acting, in_loop, left_of, simhash_stats, stand_in

URL, FIRST = "https://example.com/copy", "https://example.com/first"
NEW = Verdict(Status.NEW, cluster=7).to_dict()
COPY = Verdict(Status.NEAR_DUPLICATE, Fingerprint(2**64 - 1), FIRST, 2, 0.9, 7).to_dict()
WHOLE = {"page", "item", "link"}


def middleware(**settings: Any) -> SimhashSpiderMiddleware:
    return acting(stand_in(**settings))


def response(action: object = "mark", is_duplicate: bool = True, **meta: Any) -> Response:
    result = {**COPY, "action": action} if is_duplicate else NEW.copy()
    return Response(URL, request=Request(URL, meta={names.META_RESULT: result, **meta}))


def left(subject: SimhashSpiderMiddleware, page: Response) -> set[str]:
    """Return the remaining output of the page: itself, its item, its link."""
    try:
        subject.process_spider_input(page)
    except NearDuplicate:
        return set()
    item = in_loop(lambda: left_of(subject, {"a": 1}, page))
    link = left_of(subject, Request(FIRST), page)
    return {"page", *(["item"] if item else []), *(["link"] if link else [])}


@pytest.mark.parametrize("words", ["drop", "", 1, None, [], object()])
def test_invalid_actions_of_a_callback_drop_nothing(words: object) -> None:
    assert left(middleware(action="drop_page"), response(words)) == WHOLE


@pytest.mark.parametrize("result", [None, "drop_page", {}, {"duplicate_of": FIRST}])
def test_an_invalid_result_drops_nothing(result: object) -> None:
    page = response(simhash_result=result)
    assert left(middleware(action="drop_page", result_field="copy"), page) == WHOLE


@pytest.mark.parametrize("item", [object(), "text", 3, ["list"], (1, 2)])
def test_objects_that_are_not_items_pass_unchanged(item: object) -> None:
    subject = middleware(result_field="copy")
    assert left_of(subject, item, response()) is item
    assert simhash_stats(subject._drops._crawler) == {"items/unmarked": 1}


@pytest.mark.parametrize("url_rules", ["off", "observe"])
def test_internal_meta_is_neither_copied_nor_shared(url_rules: str) -> None:
    page, noted = response(), {"parent": FIRST, "waited": "sent after all"}
    page.meta["_simhash"] = noted
    for request in (Request(FIRST, meta=page.meta), Request(FIRST, meta=page.meta)):
        left_of(middleware(url_rules=url_rules), request, page)
        assert request.meta.get("_simhash") == (None if url_rules == "off" else {"parent": URL})
        assert names.META_RESULT not in request.meta
    again = Request(URL, meta=page.meta, dont_filter=True)
    left_of(middleware(url_rules=url_rules), again, page)
    assert again.meta.get("_simhash") == (None if url_rules == "off" else {"parent": FIRST})
    assert noted == {"parent": FIRST, "waited": "sent after all"}
