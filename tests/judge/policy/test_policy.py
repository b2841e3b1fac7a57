"""What is done about a page, by the rules of the settings: in single cases, and against the rules as they read."""

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import Config, Reason, Status, Verdict
from scrapy_simhash.action import ACTIONS, Action
from scrapy_simhash.config import PROTECTIONS
from scrapy_simhash.judge.policy import Case, Decision, Exemption, Policy, RequestedAction, is_done

URL, FIRST = "https://example.com/print/copy", "https://example.com/first"
NEW = Verdict(Status.NEW, cluster=0, rank=0)
COPY = Verdict(Status.NEAR_DUPLICATE, None, FIRST, 1, 0.9, 0, rank=1)
AGAIN = Verdict(Status.REVISIT, cluster=0, rank=0, reason=Reason.UNCHANGED, last_seen=1, is_settled=True)
COPY_AGAIN = replace(AGAIN, duplicate_of=FIRST, distance=0, similarity=1.0, rank=1)
COMBINED = (*ACTIONS, "drop_items,drop_links")


class Asked(NamedTuple):
    """What is known about a page."""

    verdict: Verdict = COPY
    depth: int | None = 2
    holding: Collection[str] = ()
    on_copy: RequestedAction = RequestedAction(Action.DROP_PAGE)
    on_unchanged: RequestedAction = RequestedAction(Action.MARK)


def decided(asked: Asked, **settings: object) -> Decision:
    def protections(wanted: Collection[str]) -> Collection[str]:
        return set(asked.holding) & set(wanted)

    case = Case(
        asked.verdict,
        URL,
        asked.depth,
        protections,
        asked.on_copy if asked.verdict.is_duplicate else None,
        asked.on_unchanged if is_done(asked.verdict) else None,
    )
    return Policy(Config(**settings)).decide(case)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "verdict",
    [
        NEW,
        replace(AGAIN, is_settled=False),
        replace(AGAIN, reason=Reason.SMALL_CHANGE),
        Verdict(Status.SKIPPED, reason=Reason.STATUS),
        Verdict(Status.UNKNOWN),
    ],
)
def test_what_is_no_copy_and_not_done_is_not_decided_about(verdict: Verdict) -> None:
    def protections(wanted: Collection[str]) -> Collection[str]:
        raise AssertionError("asked")

    assert not verdict.is_duplicate
    assert not is_done(verdict)
    decision = Policy(Config()).decide(Case(verdict, URL, 0, protections))
    assert (decision.loses_items, decision.loses_links) == (False, False)
    assert decision == (None, None)


@pytest.mark.parametrize(
    ("words", "loses_items", "loses_links"),
    [
        ("mark", False, False),
        ("drop_items", True, False),
        ("drop_links", False, True),
        ("drop_items,drop_links", True, True),
        ("drop_page", True, True),
    ],
)
def test_what_is_lost_by_each_action(words: str, loses_items: bool, loses_links: bool) -> None:
    decision = decided(Asked(on_copy=RequestedAction(Action.named(words))))
    assert (decision.loses_items, decision.loses_links) == (loses_items, loses_links)


def test_of_a_copy_that_is_as_it_was_either_may_drop_a_part() -> None:
    asked = Asked(
        COPY_AGAIN,
        on_copy=RequestedAction(Action.DROP_LINKS),
        on_unchanged=RequestedAction(Action.DROP_ITEMS),
    )
    assert decided(asked) == (Action.DROP_ITEMS | Action.DROP_LINKS, None)


def test_a_copy_that_is_as_it_was_was_not_spared_what_either_rule_drops() -> None:
    def both(copy: Action, again: Action) -> Decision:
        asked = Asked(
            COPY_AGAIN,
            holding=["language"],
            on_copy=RequestedAction(copy),
            on_unchanged=RequestedAction(again),
        )
        return decided(asked)

    assert both(Action.DROP_ITEMS, Action.DROP_ITEMS) == (Action.DROP_ITEMS, None)
    assert both(Action.DROP_ITEMS, Action.DROP_PAGE) == (Action.DROP_PAGE, None)
    assert both(Action.DROP_ITEMS, Action.MARK) == (Action.MARK, Exemption.LANGUAGE)
    assert both(Action.DROP_PAGE, Action.DROP_ITEMS) == (Action.DROP_ITEMS, Exemption.LANGUAGE)


@pytest.mark.parametrize(
    ("depth", "least", "is_spared"),
    [(0, 1, True), (1, 1, False), (1, 2, True), (2, 2, False), (None, 1, True), (0, 0, False)],
)
def test_near_the_start_nothing_is_done(depth: int | None, least: int, is_spared: bool) -> None:
    for asked in (Asked(depth=depth), Asked(AGAIN, depth, on_unchanged=RequestedAction(Action.DROP_PAGE))):
        expected = (Action.MARK, Exemption.MIN_DEPTH) if is_spared else (Action.DROP_PAGE, None)
        assert decided(asked, min_depth=least, protect=()) == expected


@pytest.mark.parametrize(
    ("settings", "is_spared"),
    [
        ({"action_deny": ["/print/"]}, True),
        ({"action_deny": ["/shop/"]}, False),
        ({"action_allow": ["/shop/"]}, True),
        ({"action_allow": ["/shop/", "copy$"]}, False),
        ({"action_allow_domains": ["example.org"]}, True),
        ({"action_deny_domains": ["example.com"]}, True),
    ],
)
def test_something_is_done_only_where_it_may_be(settings: dict[str, object], is_spared: bool) -> None:
    expected = (Action.MARK, Exemption.URL) if is_spared else (Action.DROP_PAGE, None)
    for asked in (Asked(), Asked(AGAIN, on_unchanged=RequestedAction(Action.DROP_PAGE))):
        assert decided(asked, **settings) == expected


@pytest.mark.parametrize(
    ("rank", "budget", "passes"),
    [(1, 0, False), (1, 1, False), (1, 2, True), (2, 2, False), (None, 2, True), (7, 9, True)],
)
def test_the_first_pages_of_a_cluster_pass(rank: int | None, budget: int, passes: bool) -> None:
    expected = (Action.MARK, Exemption.BUDGET) if passes else (Action.DROP_PAGE, None)
    for wish in (RequestedAction(Action.DROP_PAGE), RequestedAction(Action.DROP_PAGE, is_explicit=True)):
        asked = Asked(replace(COPY, rank=rank), on_copy=wish)
        assert decided(asked, cluster_budget=budget) == expected


def test_a_budget_is_about_clusters_and_not_about_what_is_as_it_was() -> None:
    asked = Asked(AGAIN, on_unchanged=RequestedAction(Action.DROP_ITEMS))
    assert decided(asked, cluster_budget=9) == (Action.DROP_ITEMS, None)


def test_beyond_its_budget_no_protection_holds() -> None:
    asked = Asked(replace(COPY, rank=3), depth=0, holding=PROTECTIONS)
    assert decided(asked, cluster_budget=3) == (Action.DROP_PAGE, None)
    assert decided(asked).action == Action.MARK


def test_a_page_is_no_copy_of_itself_under_another_request() -> None:
    itself = replace(COPY, duplicate_of=URL, rank=9)
    for settings in ({}, {"cluster_budget": 2}, {"protect": ()}):
        assert decided(Asked(itself), **settings) == (Action.MARK, Exemption.ITSELF)
    explicit = RequestedAction(Action.DROP_ITEMS, is_explicit=True)
    assert decided(Asked(itself, on_copy=explicit)) == (Action.DROP_ITEMS, None)


@pytest.mark.parametrize("name", ["pagination", "language", "product"])
@pytest.mark.parametrize("words", COMBINED[1:])
def test_some_pages_are_left_alone(name: str, words: str) -> None:
    wish = RequestedAction(Action.named(words))
    asked = Asked(holding=[name], on_copy=wish)
    assert decided(asked) == (Action.MARK, Exemption(name))
    assert decided(asked, protect=set(PROTECTIONS) - {name}) == (wish.action, None)
    # They are about pages that resemble each other, not about one that has stayed as it was.
    assert decided(Asked(AGAIN, holding=[name], on_unchanged=wish)) == (wish.action, None)


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("drop_links", "mark"),
        ("drop_page", "drop_items"),
        ("drop_items,drop_links", "drop_items"),
    ],
)
@pytest.mark.parametrize("name", ["start", "listing"])
def test_of_some_pages_the_links_are_kept(name: str, words: str, kept: str) -> None:
    wish = RequestedAction(Action.named(words))
    depth, holding = (0, []) if name == "start" else (2, ["listing"])
    for asked in (Asked(COPY, depth, holding, wish), Asked(AGAIN, depth, holding, on_unchanged=wish)):
        assert decided(asked) == (Action.named(kept), Exemption(name))
        assert decided(asked, protect=set(PROTECTIONS) - {name}) == (wish.action, None)


@pytest.mark.parametrize(("depth", "holding"), [(0, []), (2, ["listing"])])
def test_items_alone_are_not_what_is_protected_there(depth: int, holding: list[str]) -> None:
    assert decided(Asked(COPY, depth, holding, RequestedAction(Action.DROP_ITEMS))) == (
        Action.DROP_ITEMS,
        None,
    )


@pytest.mark.parametrize(
    ("words", "depth", "is_asked"),
    [("drop_items", 2, False), ("drop_links", 2, True), ("drop_page", 0, False), ("drop_page", None, True)],
)
def test_whether_a_page_is_a_listing_is_asked_only_if_its_links_would_be_lost(
    words: str, depth: int | None, is_asked: bool
) -> None:
    asked_about = list[set[str]]()

    def protections(wanted: Collection[str]) -> Collection[str]:
        asked_about.append(set(wanted))
        return ()

    Policy(Config()).decide(Case(COPY, URL, depth, protections, RequestedAction(Action.named(words))))
    whole = {"pagination", "language", "product"}
    assert asked_about == [whole | {"listing"} if is_asked else whole]


def test_what_the_request_asks_for_knows_no_exceptions() -> None:
    wish = RequestedAction(Action.DROP_PAGE, is_explicit=True)
    asked = Asked(COPY, 0, PROTECTIONS, wish)
    assert decided(asked, min_depth=3, action_deny=["/"]) == (Action.DROP_PAGE, None)
    again = Asked(AGAIN, 0, PROTECTIONS, on_unchanged=wish)
    assert decided(again, min_depth=3, action_deny=["/"]) == (Action.DROP_PAGE, None)


def test_nothing_is_looked_at_when_only_a_mark_is_asked_for() -> None:
    def protections(wanted: Collection[str]) -> Collection[str]:
        raise AssertionError("asked")

    mark = RequestedAction(Action.MARK)
    decision = Policy(Config(min_depth=3)).decide(Case(COPY, URL, 0, protections, mark, mark))
    assert decision == (Action.MARK, None)


def naive(
    asked: Asked, budget: int, least: int, is_denied: bool, protect: set[str]
) -> tuple[bool, bool, bool]:
    """Return whether items, links, and the callback are lost, read off the documentation."""

    def lost(wish: RequestedAction, is_copy: bool) -> set[str]:
        parts = {
            Action.MARK: set(),
            Action.DROP_ITEMS: {"items"},
            Action.DROP_LINKS: {"links"},
            Action.DROP_ITEMS | Action.DROP_LINKS: {"items", "links"},
            Action.DROP_PAGE: {"items", "links", "callback"},
        }[wish.action]
        if not wish.is_explicit and (is_denied or (least and (asked.depth is None or asked.depth < least))):
            return set()
        if is_copy and budget:
            is_within = asked.verdict.rank is None or asked.verdict.rank < budget
            return set() if is_within else parts
        if wish.is_explicit:
            return parts
        holding = protect & (set(asked.holding) | ({"start"} if asked.depth == 0 else set()))
        if is_copy and holding & {"pagination", "language", "product"}:
            return set()
        if "links" in parts and holding & {"start", "listing"}:
            return parts & {"items"}
        return parts

    gone: set[str] = set()
    if asked.verdict.is_duplicate:
        gone |= lost(asked.on_copy, True)
    if asked.verdict.status is Status.REVISIT and asked.verdict.is_settled:
        gone |= lost(asked.on_unchanged, False)
    return "items" in gone, "links" in gone, "callback" in gone


WISHES = st.builds(
    RequestedAction, st.sampled_from([Action.named(words) for words in COMBINED]), st.booleans()
)


@given(
    asked=st.builds(
        Asked,
        st.sampled_from(
            [NEW, COPY, AGAIN, COPY_AGAIN, replace(COPY, rank=None), replace(COPY_AGAIN, rank=4)]
        ),
        st.sampled_from([None, 0, 1, 2]),
        st.sets(st.sampled_from([name for name in PROTECTIONS if name != "start"])),
        WISHES,
        WISHES,
    ),
    budget=st.sampled_from([0, 1, 2, 5]),
    least=st.sampled_from([0, 1, 2]),
    is_denied=st.booleans(),
    protect=st.sets(st.sampled_from(PROTECTIONS)),
)
def test_rules_combine_as_they_read(
    asked: Asked, budget: int, least: int, is_denied: bool, protect: set[str]
) -> None:
    decision = decided(
        asked,
        cluster_budget=budget,
        min_depth=least,
        action_deny=["copy"] if is_denied else (),
        protect=protect,
    )
    action = decision.action or Action.MARK
    assert (
        Action.DROP_ITEMS in action,
        Action.DROP_LINKS in action,
        action == Action.DROP_PAGE,
    ) == naive(asked, budget, least, is_denied, protect)
    # Who was spared is told why, and who got all that was asked for is not.
    if decision.action is not None and not asked.verdict.is_duplicate:
        assert (decision.exemption is None) == (decision.action == asked.on_unchanged.action)
    if decision.action is not None and asked.verdict in (COPY,):
        assert (decision.exemption is None) == (decision.action == asked.on_copy.action)
    if decision.action is not None and asked.verdict == COPY_AGAIN:
        assert (decision.exemption is None) == (
            asked.on_copy.action | asked.on_unchanged.action in decision.action
        )
