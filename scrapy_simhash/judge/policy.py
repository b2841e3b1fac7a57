"""Policy: what is to be done about a page, by the settings: what is asked for, less what spares the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from enum import Enum
from typing import NamedTuple

from scrapy_simhash.action import Action
from scrapy_simhash.config import Config
from scrapy_simhash.scope import scope_of
from scrapy_simhash.verdict import Reason, Verdict


class Protection(str, Enum):
    """Why the action that was asked for was not applied to a page, or only a part of it."""

    URL = "url"
    """``SIMHASH_KEEP_URLS`` has its URL, or ``SIMHASH_ACTION_URLS`` has it not."""
    ITSELF = "itself"
    """It has the same URL as the page that it repeats: another request for the same one."""
    BUDGET = "budget"
    """It is among the first ``SIMHASH_KEEP_PER_CLUSTER`` pages of its cluster."""
    START = "start"
    """The links of a start page are followed."""
    LISTING = "listing"
    """The links of a page that lists others are followed."""
    PAGINATION = "pagination"
    """It is another page of the same listing."""
    LANGUAGE = "language"
    """It is the same page for readers of another language or country."""
    FACTS = "facts"
    """It states something beside its sentences that contradicts the page that it repeats: a date, a size, a place."""


class RequestedAction(NamedTuple):
    """What is asked for."""

    action: Action
    is_explicit: bool = False
    """Whether the request itself asks for it, not the settings."""


class Decision(NamedTuple):
    """What is done about a page, and why not more."""

    action: Action | None
    """None when there was no question: the page repeats nothing, and is not known to be as it was."""
    protected: Protection | None = None
    """Why the page was spared what was asked for, or its links were; None if it was not."""
    dropped_as: str | None = None
    """``unchanged`` or ``near_duplicate``, None if nothing is dropped."""


#: Of a page about which there was no question.
NOTHING = Decision(None)


class UrlFilter:
    """URLs that match one of *only*, or any if there is none, and none of *but*.

    Each is a regular expression that may match anywhere in the URL, or ``//example.com`` for a domain and its
    subdomains.

    >>> urls = UrlFilter(only=["//example.com"], but=["/print/"])
    >>> "https://www.example.com/a" in urls, "https://www.example.com/print/a" in urls
    (True, False)
    """

    def __init__(self, only: Iterable[str] = (), but: Iterable[str] = ()) -> None:
        self._only = [_matcher(text) for text in only]
        self._but = [_matcher(text) for text in but]

    def __contains__(self, url: str) -> bool:
        if self._only and not any(matches(url) for matches in self._only):
            return False
        return not any(matches(url) for matches in self._but)


#: Names with dots between, and IPs.
_DOMAIN = re.compile(r"//\.?([\w-]+(?:\.[\w-]+)*|\[[0-9a-f:.]+\])\.?/?", re.ASCII | re.IGNORECASE)


def _matcher(text: str) -> Callable[[str], object]:
    """Return what tells whether a URL matches *text*."""
    found = _DOMAIN.fullmatch(text)
    if found is None:
        return re.compile(text).search
    domain = found[1].strip("[]").lower()

    def is_of_domain(url: str) -> bool:
        host = scope_of(url, "host")
        return host == domain or host.endswith(f".{domain}")

    return is_of_domain


#: Protections of a page that is another one than its text says, so that URLs of its kind are not skipped. That of
#: pagination is not: whether a list goes on is known by what it leads to.
OF_ITS_OWN = ("language", "facts")
#: Protections that leave a page alone; the others keep its links.
WHOLE = ("pagination", *OF_ITS_OWN)


class Case(NamedTuple):
    """A page, as far as the policy asks about it."""

    verdict: Verdict
    url: str
    depth: int | None
    """Links from the start, 0 for a start page; None where nobody counts."""
    protections: Callable[[Collection[str]], Iterable[str]]
    """Yield which of the protections that are asked about hold. Costly: called only if it matters, and read only as
    far as that."""
    on_copy: RequestedAction | None = None
    """The action that is asked for since the page repeats another one; None if it does not."""
    on_unchanged: RequestedAction | None = None
    """The action that is asked for since the page is *done*; None if it is not. See is_done()."""


class Policy:
    """The policy of one crawl. First the exceptions that somebody wrote down, then the budget, then the protections.

    * An action in a request's meta knows no exceptions but the budget.
    * The URL filter spares a page everything; so does its own URL, if it repeats that.
    * A budget spares the first pages of a cluster everything, and those after it nothing.
    * Where there is no budget, protections spare a page everything, or its links.
    * What has not changed since the last crawl, or since another crawler had it, repeats itself and no other: it has
      no budget, and only links are protected.
    """

    def __init__(self, config: Config) -> None:
        self._budget = config.keep_per_cluster
        self._protect = frozenset(config.protect)
        #: Which protections make a page one of its own: URLs of its kind are not skipped.
        self.of_its_own = self._protect.intersection(OF_ITS_OWN)
        self._urls = UrlFilter(config.action_urls, config.keep_urls)

    def decide(self, case: Case) -> Decision:
        """Return what is done about a page.

        If it is a copy and unchanged, what either action drops is dropped. It counts as dropped as a copy, unless the
        copy's action drops nothing.
        """
        as_copy = case.on_copy and self._decide(case, case.on_copy, self._on_copy)
        as_unchanged = case.on_unchanged and self._decide(case, case.on_unchanged, self._keep_links)
        decisions = [each for each in (as_copy, as_unchanged) if each is not None]
        if not decisions:
            return NOTHING
        action = Action.MARK
        for decision in decisions:
            action |= decision.action or Action.MARK
        # What one of them spares the page the other may drop: then it was not spared that.
        requested = ((case.on_copy, as_copy), (case.on_unchanged, as_unchanged))
        protected = next(
            (each.protected for asked, each in requested if asked and each and asked.action not in action),
            None,
        )
        if action is Action.MARK:
            return Decision(action, protected)
        is_as_unchanged = as_copy is None or as_copy.action is Action.MARK
        return Decision(action, protected, "unchanged" if is_as_unchanged else "near_duplicate")

    def _decide(
        self, case: Case, requested: RequestedAction, step: Callable[[Case, RequestedAction], Decision]
    ) -> Decision:
        if requested.action is Action.MARK:
            return Decision(Action.MARK)
        if not requested.is_explicit and case.url not in self._urls:
            return Decision(Action.MARK, Protection.URL)
        return step(case, requested)

    def _on_copy(self, case: Case, requested: RequestedAction) -> Decision:
        # Other plugins put more into a request's fingerprint than what it asks for.
        if case.verdict.duplicate_of == case.url and not requested.is_explicit:
            return Decision(Action.MARK, Protection.ITSELF)
        if self._budget:
            rank = case.verdict.rank
            # A store that does not count cannot tell that the budget is spent.
            if rank is None or rank < self._budget:
                return Decision(Action.MARK, Protection.BUDGET)
            return Decision(requested.action)
        if requested.is_explicit:
            return Decision(requested.action)
        return self._protect_page(case, requested, WHOLE)

    def _keep_links(self, case: Case, requested: RequestedAction) -> Decision:
        return (
            Decision(requested.action) if requested.is_explicit else self._protect_page(case, requested, ())
        )

    def _protect_page(self, case: Case, requested: RequestedAction, whole: Collection[str]) -> Decision:
        kept = requested.action.keeping_links()
        links_matter = kept != requested.action
        is_start = links_matter and case.depth == 0 and "start" in self._protect
        # What a page lists no longer matters when its links are kept anyway.
        asks_for_listing = links_matter and not is_start
        wanted = self._protect.intersection((*whole, "listing") if asks_for_listing else whole)
        protected = Protection.START if is_start else None
        for name in case.protections(wanted) if wanted else ():
            if name in whole:
                return Decision(Action.MARK, Protection(name))
            protected = Protection(name)
        return Decision(requested.action if protected is None else kept, protected)


def is_done(verdict: Verdict) -> bool:
    """Tell whether a page is unchanged since an earlier crawl delivered it."""
    return verdict.reason is Reason.UNCHANGED and verdict.is_delivered
