"""The spider middleware, output by output; real crawls are in tests/crawls/."""

from dataclasses import replace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from scrapy_simhash import (
    Fingerprint,
    NearDuplicate,
    NearDuplicatePageItem,
    Reason,
    SimhashSpiderMiddleware,
    Status,
    UnchangedPageItem,
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


UNCHANGED = Verdict(Status.REVISIT, distance=0, reason=Reason.UNCHANGED, is_delivered=True)
CONFIRMED = "is unchanged since an earlier crawl"
ASKED = "has the action {action} in simhash_result"


def also_copy(verdict: Verdict, **more: Any) -> Verdict:
    return replace(verdict, duplicate_of=FIRST, **more)


@pytest.mark.parametrize(
    ("verdict", "dropped_as", "why", "is_unchanged"),
    [
        (UNCHANGED, "unchanged", CONFIRMED, True),
        # An unchanged copy, with the action that drops copies.
        (also_copy(UNCHANGED), "unchanged", CONFIRMED, True),
        (also_copy(UNCHANGED), "near_duplicate", f"is a near-duplicate of {FIRST}", False),
        # Only the callback set the action.
        (UNCHANGED, None, ASKED, False),
        (also_copy(UNCHANGED), None, f"is a near-duplicate of {FIRST}", False),
        (replace(UNCHANGED, reason=Reason.CHANGED), None, ASKED, False),
        (replace(UNCHANGED, is_delivered=False), None, ASKED, False),
    ],
)
def test_drops_of_unchanged_pages_have_that_reason(
    verdict: Verdict, dropped_as: str | None, why: str, is_unchanged: bool
) -> None:
    def page(action: str) -> Response:
        result = {**verdict.to_dict(), "action": action, "dropped_as": dropped_as}
        return Response(URL, request=Request(URL, meta={"simhash_result": result}))

    subject = middleware()
    with pytest.raises(NearDuplicate) as caught:
        subject.process_spider_input(page("drop_page"))
    if verdict.duplicate_of is None:
        assert str(caught.value) == f"{URL} {why.format(action='drop_page')} (distance 0)"
    assert caught.value.duplicate_of == verdict.duplicate_of
    kind = UnchangedPageItem if is_unchanged else NearDuplicatePageItem
    assert str(kind(page("drop_items"))) == f"its page {URL} {why.format(action='drop_items')}"
    in_loop(lambda: left_of(subject, {"a": 1}, page("drop_items")))
    unchanged = {"dropped/pages/unchanged": 1, "dropped/items/unchanged": 1} if is_unchanged else {}
    assert simhash_stats(subject._drops._crawler) == {"dropped/pages": 1, "dropped/items": 1, **unchanged}


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
    again = Request(URL, meta=page.meta, dont_filter=True)
    left_of(middleware(url_rules=url_rules), again, page)
    assert again.meta.get("_simhash") == (None if url_rules == "off" else {"parent": FIRST})
    assert noted == {"parent": FIRST, "waited": "sent after all"}


@pytest.mark.parametrize(
    ("request_", "is_kept"),
    [
        (Request(URL, dont_filter=True), True),
        (Request(URL, priority=9, meta={"retry_times": 1}), True),
        (Request(FIRST), False),
        (Request(URL, method="POST"), False),
        (Request(URL, body="q=1"), False),
    ],
)
def test_drop_links_keeps_a_retry_of_the_page(request_: Request, is_kept: bool) -> None:
    subject = middleware()
    page = response("drop_links")
    assert (left_of(subject, request_, page) is request_) is is_kept
    assert simhash_stats(subject._drops._crawler).get("dropped/requests", 0) == (not is_kept)


@pytest.mark.parametrize(
    ("redirects", "is_kept"), [([FIRST], True), ((FIRST, URL), True), ([], False), (None, False), (7, False)]
)
def test_drop_links_keeps_a_retry_of_the_redirected_url(redirects: object, is_kept: bool) -> None:
    page = response("drop_links", redirect_urls=redirects)
    again = Request(FIRST, dont_filter=True)
    assert (left_of(middleware(), again, page) is again) is is_kept
