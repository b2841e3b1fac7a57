"""The action for a page: single cases, and a comparison with a naive version."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import Config, Reason, Status, Verdict
from scrapy_simhash.action import ACTIONS, Action
from scrapy_simhash.config import PROTECTIONS
from scrapy_simhash.judge.policy import Decision, Judged, Protection, SimhashPolicy, url_matcher

URL, FIRST = "https://example.com/print/copy", "https://example.com/first"
COPY = Verdict(Status.NEAR_DUPLICATE, None, FIRST, 1, 0.9, 0, rank=1)
AGAIN = Verdict(Status.REVISIT, cluster=0, rank=0, reason=Reason.UNCHANGED, last_seen=1, is_delivered=True)
COPY_AGAIN = replace(AGAIN, duplicate_of=FIRST, distance=0, similarity=1.0, rank=1)
Outcome = tuple[Action, Protection | None]
COMBINED = (*ACTIONS, "drop_items,drop_links")


class Wish(NamedTuple):
    """An action from the settings or from the request."""

    action: Action
    is_explicit: bool = False


class Seen(NamedTuple):
    """The fields of a page that the policy reads."""

    verdict: Verdict
    url: str
    depth: int
    protections: Callable[[Collection[str]], Collection[str]]
    asked: Mapping[str, Any] = {}


class Asked(NamedTuple):
    """A page and the actions for it."""

    verdict: Verdict = COPY
    depth: int = 2
    holding: Collection[str] = ()
    on_copy: Wish = Wish(Action.DROP_PAGE)
    on_unchanged: Wish = Wish(Action.MARK)


class Wishing(SimhashPolicy):
    """A policy with its own actions for all pages."""

    def __init__(self, asked: Asked, **settings: object) -> None:
        super().__init__(Config(action="drop_page", **settings))  # type: ignore[arg-type]
        self._asked = asked

    def copy_action(self, page: Judged) -> Action:
        return self._asked.on_copy.action

    def unchanged_action(self, page: Judged) -> Action:
        return self._asked.on_unchanged.action


def decision_on(asked: Asked, **settings: object) -> Decision:
    def protections(wanted: Collection[str]) -> Collection[str]:
        return set(asked.holding) & set(wanted)

    wishes = {"action": asked.on_copy, "revisit_action": asked.on_unchanged}
    words = {key: str(wish.action) for key, wish in wishes.items() if wish.is_explicit}
    page = Seen(asked.verdict, URL, asked.depth, protections, words)
    return Wishing(asked, **settings).decide(page)


def decided(asked: Asked, **settings: object) -> Outcome:
    return decision_on(asked, **settings)[:2]


def spared(what: Protection, action: Action = Action.MARK) -> Outcome:
    return action, what


DROPPED: Outcome = (Action.DROP_PAGE, None)
BOTH = Action.DROP_ITEMS | Action.DROP_LINKS
PAGE_AGAIN = Asked(AGAIN, on_unchanged=Wish(Action.DROP_PAGE))
OTHER_LANGUAGE = Asked(COPY_AGAIN, holding=["language"])


def both_of(copy: Action, again: Action) -> Asked:
    return OTHER_LANGUAGE._replace(on_copy=Wish(copy), on_unchanged=Wish(again))


@pytest.mark.parametrize(
    ("asked", "settings", "decision"),
    [
        # An unchanged copy gets the actions of both rules.
        (both_of(Action.DROP_ITEMS, Action.DROP_ITEMS), {}, (Action.DROP_ITEMS, None)),
        (both_of(Action.DROP_ITEMS, Action.DROP_PAGE), {}, DROPPED),
        (both_of(Action.DROP_ITEMS, Action.MARK), {}, spared(Protection.LANGUAGE)),
        (both_of(Action.DROP_PAGE, Action.DROP_ITEMS), {}, spared(Protection.LANGUAGE, Action.DROP_ITEMS)),
        # Only for some URLs.
        *(
            (page, settings, decision)
            for settings, decision in [
                ({"keep_urls": ["/print/"]}, spared(Protection.URL)),
                ({"keep_urls": ["/shop/"]}, DROPPED),
                ({"keep_urls": ["//example.com"]}, spared(Protection.URL)),
            ]
            for page in (Asked(), PAGE_AGAIN)
        ),
        # Protections of copies, which do not protect unchanged pages.
        *(
            (Asked(holding=[name]), {}, spared(Protection(name)))
            for name in ("pagination", "language", "facts")
        ),
        (PAGE_AGAIN._replace(holding=["pagination", "language", "facts"]), {}, DROPPED),
        # Protections of links.
        *(
            (page._replace(depth=0), {}, spared(Protection.START, Action.DROP_ITEMS))
            for page in (Asked(), PAGE_AGAIN)
        ),
        (Asked(holding=["listing"]), {}, spared(Protection.LISTING, Action.DROP_ITEMS)),
        (
            Asked(holding=["listing"], on_copy=Wish(BOTH)),
            {},
            spared(Protection.LISTING, Action.DROP_ITEMS),
        ),
        (
            Asked(holding=["listing"], on_copy=Wish(Action.DROP_LINKS)),
            {},
            spared(Protection.LISTING),
        ),
    ],
)
def test_a_protected_page_is_explained_with_the_reason(
    asked: Asked, settings: dict[str, object], decision: Outcome
) -> None:
    assert decided(asked, **settings) == decision


def test_a_page_is_not_a_copy_of_itself_under_another_request() -> None:
    itself = replace(COPY, duplicate_of=URL, rank=9)
    for settings in ({}, {"protect": ()}):
        assert decided(Asked(itself), **settings) == (Action.MARK, Protection.ITSELF)
    explicit = Wish(Action.DROP_ITEMS, is_explicit=True)
    assert decided(Asked(itself, on_copy=explicit)) == (Action.DROP_ITEMS, None)


DROP, MARK = Wish(Action.DROP_ITEMS), Wish(Action.MARK)


@pytest.mark.parametrize(
    ("asked", "settings", "dropped_as"),
    [
        (Asked(COPY), {}, "near_duplicate"),
        (Asked(AGAIN, on_unchanged=DROP), {}, "unchanged"),
        (Asked(COPY_AGAIN, on_copy=DROP, on_unchanged=DROP), {}, "near_duplicate"),
        (Asked(COPY_AGAIN, on_copy=MARK, on_unchanged=DROP), {}, "unchanged"),
        # A protected copy is dropped only because it is unchanged.
        (Asked(COPY_AGAIN, holding=["facts"], on_copy=DROP, on_unchanged=DROP), {}, "unchanged"),
        (Asked(COPY_AGAIN, on_copy=DROP, on_unchanged=MARK), {}, "near_duplicate"),
        (Asked(COPY, holding=["facts"]), {}, None),
        (Asked(COPY, on_copy=MARK), {}, None),
        (Asked(AGAIN, on_unchanged=MARK), {}, None),
    ],
)
def test_a_page_is_dropped_as_unchanged_only_if_its_copy_would_be(
    asked: Asked, settings: dict[str, object], dropped_as: str | None
) -> None:
    assert decision_on(asked, **settings).dropped_as == dropped_as


def naive(asked: Asked, is_denied: bool, protect: set[str]) -> tuple[bool, bool, bool]:
    """Return whether items, links and the callback are dropped, as documented."""

    def lost(wish: Wish, is_copy: bool) -> set[str]:
        parts = {
            Action.MARK: set(),
            Action.DROP_ITEMS: {"items"},
            Action.DROP_LINKS: {"links"},
            Action.DROP_ITEMS | Action.DROP_LINKS: {"items", "links"},
            Action.DROP_PAGE: {"items", "links", "callback"},
        }[wish.action]
        if not wish.is_explicit and is_denied:
            return set()
        if wish.is_explicit:
            return parts
        holding = protect & (set(asked.holding) | ({"start"} if asked.depth == 0 else set()))
        if is_copy and holding & {"pagination", "language", "facts"}:
            return set()
        if "links" in parts and holding & {"start", "listing"}:
            return parts & {"items"}
        return parts

    gone: set[str] = set()
    if asked.verdict.is_duplicate:
        gone |= lost(asked.on_copy, True)
    if asked.verdict.status is Status.REVISIT and asked.verdict.is_delivered:
        gone |= lost(asked.on_unchanged, False)
    return "items" in gone, "links" in gone, "callback" in gone


WISHES = st.builds(Wish, st.sampled_from([Action.named(words) for words in COMBINED]), st.booleans())


@given(
    asked=st.builds(
        Asked,
        st.sampled_from([COPY, AGAIN, COPY_AGAIN, replace(COPY, rank=None), replace(COPY_AGAIN, rank=4)]),
        st.sampled_from([0, 1, 2]),
        st.sets(st.sampled_from([name for name in PROTECTIONS if name != "start"])),
        WISHES,
        WISHES,
    ),
    is_denied=st.booleans(),
    protect=st.sets(st.sampled_from(PROTECTIONS)),
)
def test_policy_settings_combine_as_in_the_naive_version(
    asked: Asked, is_denied: bool, protect: set[str]
) -> None:
    decision = decision_on(
        asked,
        keep_urls=["copy"] if is_denied else (),
        protect=protect,
    )
    action = decision.action
    assert (
        Action.DROP_ITEMS in action,
        Action.DROP_LINKS in action,
        action == Action.DROP_PAGE,
    ) == naive(asked, is_denied, protect)
    # A protection is named only if it changed the action.
    if decision.action is not None and not asked.verdict.is_duplicate:
        assert (decision.protected is None) == (decision.action == asked.on_unchanged.action)
    if decision.action is not None and asked.verdict in (COPY,):
        assert (decision.protected is None) == (decision.action == asked.on_copy.action)
    if decision.action is not None and asked.verdict == COPY_AGAIN:
        assert (decision.protected is None) == (
            asked.on_copy.action | asked.on_unchanged.action in decision.action
        )


# --- URL patterns.

LAMPS = "https://www.example.com:8443/shop/lamps?page=2"


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("", True),
        ("lamps", True),
        ("^/shop", False),  # the pattern is searched in the whole URL, not the path
        (r"page=\d+$", True),
        ("//example.com", True),
        ("//.EXAMPLE.com.", True),
        ("//www.example.com/", True),
        ("//ample.com", False),
        ("//com", True),
        ("//shop.example.com", False),
        # Anything that is not a domain is a pattern.
        (r"//www\.example\.com:8443/shop", True),
        ("//example.com:8443", False),
        ("example.com", True),
    ],
)
def test_a_url_matches_a_pattern_or_a_domain(pattern: str, matches: bool) -> None:
    assert bool(url_matcher(pattern)(LAMPS)) is matches


# --- Exact copies.

EXACT = replace(COPY, is_exact=True)


def action_on(verdict: Verdict, asked: Mapping[str, object], **settings: Any) -> Action:
    page = Seen(verdict, URL, 2, lambda wanted: wanted, asked)
    return SimhashPolicy(Config(**{"protect": [], **settings})).decide(page).action


def test_exact_copies_have_a_separate_action_if_it_is_set() -> None:
    assert action_on(COPY, {}, exact_action="drop_page") is Action.MARK
    assert action_on(EXACT, {}, exact_action="drop_page") is Action.DROP_PAGE
    assert action_on(EXACT, {}, action="drop_items") is Action.DROP_ITEMS
