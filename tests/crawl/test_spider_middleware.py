"""The acting middleware, output by output; real crawls are in tests/crawls/."""

from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response

from scrapy_simhash import (
    NearDuplicate,
    NearDuplicatePageItem,
    SettingError,
    SimhashSpiderMiddleware,
    UnchangedPageItem,
    names,
)
from tests.stand_in import in_loop, simhash_stats, stand_in

URL, FIRST = "https://example.com/copy", "https://example.com/first"
MARKS = {
    names.META_STATUS: "near_duplicate",
    names.META_VALUE: 2**64 - 1,
    names.META_DUPLICATE_OF: FIRST,
    names.META_DISTANCE: 2,
    names.META_SIMILARITY: 0.9,
    names.META_CLUSTER: 7,
}
FIELD = {"status": "near_duplicate", "duplicate_of": FIRST, "distance": 2, "similarity": 0.9, "cluster": 7}
ACTIONS = ("mark", "drop_items", "drop_links", "drop_items,drop_links", "drop_page")


def middleware(**settings: Any) -> SimhashSpiderMiddleware:
    return SimhashSpiderMiddleware.from_crawler(stand_in(**settings))


def response(done: object = "mark", is_duplicate: bool = True, **meta: Any) -> Response:
    new = {names.META_STATUS: "new", names.META_CLUSTER: 7}
    marks = {**MARKS, names.META_DONE: done} if is_duplicate else new
    return Response(URL, request=Request(URL, meta={**marks, **meta}))


def left(subject: SimhashSpiderMiddleware, page: Response) -> set[str]:
    """Return what is left of the page: itself, its item, its link."""
    try:
        subject.process_spider_input(page)
    except NearDuplicate:
        return set()
    item = in_loop(lambda: subject.get_processed_item({"a": 1}, page))
    link = subject.get_processed_request(Request(FIRST), page)
    return {"page", *(["item"] if item else []), *(["link"] if link else [])}


LEFT = {
    "mark": {"page", "item", "link"},
    "drop_items": {"page", "link"},
    "drop_links": {"page", "item"},
    "drop_items,drop_links": {"page"},
    "drop_page": set(),
}


@pytest.mark.parametrize("action", ACTIONS)
def test_an_action_drops_what_its_name_says(action: str) -> None:
    assert left(middleware(), response(action)) == LEFT[action]


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("setting", ACTIONS)
def test_what_was_decided_is_done_whatever_the_settings_ask_for(action: str, setting: str) -> None:
    assert left(middleware(action=setting), response(action, simhash_action=setting)) == LEFT[action]


@pytest.mark.parametrize("words", ["drop", "", 1, None, [], object()])
def test_words_that_a_callback_has_spoilt_drop_nothing(words: object) -> None:
    assert left(middleware(action="drop_page"), response(words)) == LEFT["mark"]


def test_a_callback_can_still_change_what_is_done() -> None:
    subject, page = middleware(), response("drop_items")
    assert in_loop(lambda: subject.get_processed_item({"a": 1}, page)) is None
    page.meta[names.META_DONE] = "mark"
    assert subject.get_processed_item({"a": 1}, page) == {"a": 1}


def test_what_a_callback_drops_of_a_new_page_is_not_called_unchanged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    subject, page = middleware(), response(is_duplicate=False)
    page.meta[names.META_DONE] = "drop_items"
    with caplog.at_level("DEBUG"):
        assert in_loop(lambda: subject.get_processed_item({"a": 1}, page)) is None
    assert simhash_stats(subject.crawler) == {"items_dropped": 1}
    (record,) = [record for record in caplog.records if record.name.startswith("scrapy_simhash")]
    assert f"Dropped: its page {URL} has simhash_done drop_items" in record.getMessage()


@pytest.mark.parametrize("action", ACTIONS)
def test_a_page_that_repeats_no_other_is_left_alone(action: str) -> None:
    subject = middleware(action=action, item_field="copy")
    assert left(subject, response(is_duplicate=False)) == LEFT["mark"]
    assert subject.get_processed_item({}, response(is_duplicate=False)) == {"copy": None}
    assert simhash_stats(subject.crawler) == {}


def test_a_dropped_page_says_what_it_repeats() -> None:
    page = response("drop_page")
    with pytest.raises(NearDuplicate) as caught:
        middleware().process_spider_input(page)
    error = caught.value
    assert isinstance(error, IgnoreRequest)
    assert (error.response, error.duplicate_of, error.distance) == (page, FIRST, 2)
    assert str(error) == f"{URL} repeats {FIRST} (distance 2)"


UNCHANGED = {"simhash_status": "revisit", "simhash_reason": "unchanged", "simhash_settled": True}
DELIVERED = {"simhash_status": "revisit", "simhash_reason": "delivered", "simhash_settled": False}
SETTLED = "is unchanged since an earlier crawl"
ELSEWHERE = "was delivered with the same text by another live crawler"


@pytest.mark.parametrize(
    ("meta", "settings", "why", "is_unchanged"),
    [
        (UNCHANGED, {}, SETTLED, True),
        (DELIVERED, {}, ELSEWHERE, True),
        # Both: what SIMHASH_ACTION, or the request, does not drop was dropped since it is unchanged.
        ({**UNCHANGED, "simhash_duplicate_of": FIRST}, {}, f"repeats {FIRST} and {SETTLED}", True),
        ({**UNCHANGED, "simhash_duplicate_of": FIRST}, {"action": "drop_page"}, None, False),
        ({**UNCHANGED, "simhash_duplicate_of": FIRST}, {"exact_action": "drop_items"}, None, True),
        (
            {**UNCHANGED, "simhash_duplicate_of": FIRST, "simhash_exact": True},
            {"exact_action": "drop_items"},
            None,
            False,
        ),
        ({**UNCHANGED, "simhash_duplicate_of": FIRST, "simhash_action": "drop_page"}, {}, None, False),
        (
            {**DELIVERED, "simhash_duplicate_of": FIRST, "simhash_action": "mark"},
            {"action": "drop_page"},
            f"repeats {FIRST} and {ELSEWHERE}",
            True,
        ),
        # Neither: the callback has asked for it.
        ({**UNCHANGED, "simhash_reason": "changed"}, {}, "has simhash_done {done}", False),
        ({**UNCHANGED, "simhash_settled": False}, {}, "has simhash_done {done}", False),
    ],
)
def test_what_is_dropped_because_its_page_is_unchanged_says_so(
    meta: dict[str, Any], settings: dict[str, Any], why: str | None, is_unchanged: bool
) -> None:
    why = why or f"repeats {FIRST} and {SETTLED}"

    def page(done: str) -> Response:
        return Response(URL, request=Request(URL, meta={**meta, "simhash_distance": 0, "simhash_done": done}))

    subject = middleware(**settings)
    with pytest.raises(NearDuplicate) as caught:
        subject.process_spider_input(page("drop_page"))
    original = meta.get("simhash_duplicate_of")
    if original is None:
        assert str(caught.value) == f"{URL} {why.format(done='drop_page')} (distance 0)"
    assert caught.value.duplicate_of == original
    kind = UnchangedPageItem if is_unchanged else NearDuplicatePageItem
    assert str(kind(page("drop_items"))) == f"its page {URL} {why.format(done='drop_items')}"
    in_loop(lambda: subject.get_processed_item({"a": 1}, page("drop_items")))
    unchanged = {"pages_dropped/unchanged": 1, "items_dropped/unchanged": 1} if is_unchanged else {}
    assert simhash_stats(subject.crawler) == {"pages_dropped": 1, "items_dropped": 1, **unchanged}


def test_only_our_own_exception_ends_quietly() -> None:
    subject = middleware()
    own = NearDuplicate(response(), FIRST, 2)
    assert subject.process_spider_exception(response(), own) == ()
    assert subject.process_spider_exception(response(), IgnoreRequest()) is None
    assert subject.process_spider_exception(response(), ValueError()) is None


@pytest.mark.parametrize("action", ["mark", "drop_links", "drop_page"])
def test_an_item_is_marked_where_the_settings_say_so(action: str) -> None:
    subject = middleware(item_field="copy")
    assert subject.get_processed_item({"a": 1}, response(action)) == {"a": 1, "copy": FIELD}


def test_marks_that_another_middleware_wrote_in_part_will_do() -> None:
    page = Response(URL, request=Request(URL, meta={names.META_DUPLICATE_OF: FIRST}))
    item = middleware(item_field="copy").get_processed_item({}, page)
    assert item["copy"] == dict.fromkeys(FIELD) | {"duplicate_of": FIRST}


@pytest.mark.parametrize("action", ACTIONS)
def test_a_copy_too_short_for_a_fingerprint_is_a_copy_like_any_other(action: str) -> None:
    copy = response(action, simhash_reason="short_text", simhash_value=None)
    assert left(middleware(), copy) == LEFT[action]


@pytest.mark.parametrize("item", [object(), "text", 3, ["list"], (1, 2)])
def test_what_is_no_item_goes_on_without_a_mark(item: object) -> None:
    subject = middleware(item_field="copy")
    assert subject.get_processed_item(item, response()) is item
    assert simhash_stats(subject.crawler) == {"items_unmarked": 1}


@pytest.mark.parametrize("action", ACTIONS)
def test_none_is_no_item(action: str) -> None:
    subject = middleware(item_field="copy")
    assert subject.get_processed_item(None, response(action)) is None
    assert simhash_stats(subject.crawler) == {}


@pytest.mark.parametrize("page", [response(), response(is_duplicate=False), None])
def test_a_request_that_copies_meta_loses_our_marks_and_keeps_the_users(page: Response | None) -> None:
    request = Request(FIRST, meta={**MARKS, "simhash_action": "mark", "simhash": False, "depth": 3})
    assert middleware().get_processed_request(request, page) is request
    parent = {} if page is None else {"simhash_parent": URL}
    assert request.meta == {"simhash_action": "mark", "simhash": False, "depth": 3, **parent}


def test_the_request_of_the_page_itself_keeps_its_marks() -> None:
    page = response()
    assert page.request is not None
    assert middleware().get_processed_request(page.request, page) is page.request
    assert page.meta == {**MARKS, names.META_DONE: "mark"}


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
def test_drop_links_lets_the_page_be_asked_for_again(request_: Request, is_kept: bool) -> None:
    subject = middleware()
    page = response("drop_links")
    assert (subject.get_processed_request(request_, page) is request_) is is_kept
    assert simhash_stats(subject.crawler).get("requests_dropped", 0) == (not is_kept)


@pytest.mark.parametrize(
    ("redirects", "is_kept"), [([FIRST], True), ((FIRST, URL), True), ([], False), (None, False), (7, False)]
)
def test_drop_links_lets_the_address_that_led_here_be_asked_again(redirects: object, is_kept: bool) -> None:
    page = response("drop_links", redirect_urls=redirects)
    again = Request(FIRST, dont_filter=True)
    assert (middleware().get_processed_request(again, page) is again) is is_kept


def test_output_of_the_start_has_no_page() -> None:
    subject = middleware(action="drop_items", item_field="copy")
    assert subject.get_processed_item({"a": 1}, None) == {"a": 1, "copy": None}


def test_switched_off_there_is_no_middleware() -> None:
    with pytest.raises(NotConfigured, match="SIMHASH_ENABLED is off"):
        middleware(enabled=False)


def test_a_wrong_setting_is_refused() -> None:
    with pytest.raises(SettingError, match="SIMHASH_ACTION"):
        middleware(action="drop")
