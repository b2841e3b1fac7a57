"""The action for a page, compared with a naive version; patterns of URLs, and exact copies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_simhash import Config, Reason, Status, Verdict
from scrapy_simhash.action import Action
from scrapy_simhash.config import PROTECTIONS
from scrapy_simhash.judge.policy import Decision, SimhashPolicy, url_matcher

URL, FIRST = "https://example.com/print/copy", "https://example.com/first"
COPY = Verdict(Status.NEAR_DUPLICATE, None, FIRST, 1, 0.9, 0, rank=1)
AGAIN = Verdict(Status.REVISIT, cluster=0, rank=0, reason=Reason.UNCHANGED, last_seen=1, is_delivered=True)
COPY_AGAIN = replace(AGAIN, duplicate_of=FIRST, distance=0, similarity=1.0, rank=1)
#: A second request for the same page, with another key.
ITSELF = replace(COPY, duplicate_of=URL, rank=9)
VERDICTS = [COPY, AGAIN, COPY_AGAIN, ITSELF, replace(AGAIN, is_delivered=False)]
#: The parts of a page that each action drops.
PARTS = {
    "mark": set[str](),
    "drop_items": {"items"},
    "drop_links": {"links"},
    "drop_items,drop_links": {"items", "links"},
    "drop_page": {"items", "links", "callback"},
}


class Seen(NamedTuple):
    """The fields of a page that the policy reads."""

    verdict: Verdict
    url: str
    depth: int
    protections: Callable[[Collection[str]], Collection[str]]
    asked: Mapping[str, Any] = {}


class Choice(NamedTuple):
    """An action from the settings, or from the request if it is explicit."""

    words: str
    is_explicit: bool = False


class Case(NamedTuple):
    """A page, the actions for it, and the settings."""

    verdict: Verdict
    on_copy: Choice
    on_unchanged: Choice
    holding: Sequence[str] = ()
    """The protections that apply, without that of start pages."""
    depth: int = 2
    keep_urls: tuple[str, ...] = ()
    protect: tuple[str, ...] = PROTECTIONS

    def decision(self) -> Decision:
        """Return the decision of the policy."""
        choices = {"action": self.on_copy, "revisit_action": self.on_unchanged}
        config = Config(
            # A rule of the settings must not apply to a request with its own action.
            action="drop_page" if self.on_copy.is_explicit else self.on_copy.words,
            revisit_action="drop_page" if self.on_unchanged.is_explicit else self.on_unchanged.words,
            keep_urls=self.keep_urls,
            protect=self.protect,
        )
        asked = {key: choice.words for key, choice in choices.items() if choice.is_explicit}
        page = Seen(self.verdict, URL, self.depth, self._applying, asked)
        return SimhashPolicy(config).decide(page)

    def _applying(self, wanted: Collection[str]) -> Collection[str]:
        return [name for name in self.holding if name in wanted]


def reduced(case: Case, choice: Choice, is_copy: bool) -> tuple[set[str], set[str], str | None]:
    """Return the parts that an action would drop, those that it drops, and the reason for the difference."""
    wanted = PARTS[choice.words]
    if choice.is_explicit or not wanted:
        return wanted, wanted, None
    if case.keep_urls:
        return wanted, set(), "url"
    if is_copy and case.verdict.duplicate_of == URL:
        return wanted, set(), "itself"
    holding = [name for name in case.holding if name in case.protect]
    whole = [name for name in holding if name in ("pagination", "language", "facts")]
    if is_copy and whole:
        return wanted, set(), whole[0]
    if "links" in wanted and case.depth == 0 and "start" in case.protect:
        return wanted, wanted & {"items"}, "start"
    if "links" in wanted and "listing" in holding:
        return wanted, wanted & {"items"}, "listing"
    return wanted, wanted, None


def naive(case: Case) -> tuple[set[str], str | None, str | None]:
    """Return the dropped parts, the protection, and the reason for the drop, as documented."""
    rules = []
    if case.verdict.is_duplicate:
        rules.append(("near_duplicate", reduced(case, case.on_copy, True)))
    if case.verdict.status is Status.REVISIT and case.verdict.is_delivered:
        rules.append(("unchanged", reduced(case, case.on_unchanged, False)))
    gone = set[str]().union(*(allowed for _, (_, allowed, _) in rules))
    reasons = [reason for _, (wanted, _, reason) in rules if reason and not wanted <= gone]
    dropped_as = [name for name, (_, allowed, _) in rules if allowed]
    return gone, next(iter(reasons), None), next(iter(dropped_as), None)


CHOICES = st.builds(Choice, st.sampled_from(sorted(PARTS)), st.booleans())
PAGE, ITEMS, MARK = map(Choice, ("drop_page", "drop_items", "mark"))


@given(
    st.builds(
        Case,
        st.sampled_from(VERDICTS),
        CHOICES,
        CHOICES,
        st.lists(st.sampled_from([name for name in PROTECTIONS if name != "start"]), max_size=2, unique=True),
        st.sampled_from([0, 1, 2]),
        st.sampled_from([(), (), ("copy",)]),
        st.just(PROTECTIONS) | st.sets(st.sampled_from(PROTECTIONS)).map(tuple),
    )
)
# An unchanged copy gets the actions of both rules; a protected one gets only the action for unchanged pages.
@example(Case(COPY_AGAIN, PAGE, ITEMS, ["language"]))
@example(Case(COPY_AGAIN, ITEMS, PAGE, ["language"]))
@example(Case(COPY_AGAIN, ITEMS, MARK, ["facts"]))
@example(Case(COPY_AGAIN, MARK, PAGE, ["listing"]))
@example(Case(ITSELF, PAGE, MARK, protect=()))
def test_actions_protections_and_reasons_combine_as_in_the_naive_version(case: Case) -> None:
    action, protected, dropped_as = case.decision()
    gone = {
        part for part, flag in (("items", Action.DROP_ITEMS), ("links", Action.DROP_LINKS)) if flag in action
    } | ({"callback"} if action == Action.DROP_PAGE else set())
    assert (gone, protected and protected.value, dropped_as) == naive(case)


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


def test_exact_copies_have_a_separate_action_if_it_is_set() -> None:
    exact = replace(COPY, is_exact=True)
    for verdict, config, action in (
        (COPY, Config(exact_action="drop_page", protect=()), Action.MARK),
        (exact, Config(exact_action="drop_page", protect=()), Action.DROP_PAGE),
        (exact, Config(action="drop_items", protect=()), Action.DROP_ITEMS),
    ):
        page = Seen(verdict, URL, 2, lambda wanted: wanted)
        assert SimhashPolicy(config).decide(page).action is action
