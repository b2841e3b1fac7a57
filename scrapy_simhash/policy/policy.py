"""Policy: what is asked for, less what spares the page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from scrapy_simhash.action import Action
from scrapy_simhash.config import Config
from scrapy_simhash.policy.decision import Decision, Spared, Wish
from scrapy_simhash.policy.places import Places
from scrapy_simhash.verdict import Reason, Verdict

#: Protections that leave a page alone; the others keep its links.
WHOLE = ("pagination", "language", "product")


class Case(NamedTuple):
    """A page, as far as the policy asks about it."""

    verdict: Verdict
    url: str
    depth: int | None
    """Links from the start, 0 for a start page; None where nobody counts."""
    protections: Callable[[Collection[str]], Iterable[str]]
    """Yield which of the protections that are asked about hold; asked only when it matters, and no further."""


class Policy:
    """The policy of one crawl. First the exceptions that somebody wrote down, then the budget, then the protections.

    * A request's own wish knows no exceptions but the budget.
    * ``SIMHASH_MIN_DEPTH`` and the places spare a page everything; so does its own address, if it repeats that.
    * A budget spares the first pages of a cluster everything, and those after it nothing.
    * Where there is no budget, protections spare a page everything, or its links.
    * What has not changed since the last crawl, or since another crawler had it, repeats itself and no other: it has
      no budget, and only links are protected.
    """

    def __init__(self, config: Config) -> None:
        self._min_depth = config.min_depth
        self._budget = config.cluster_budget
        self._protect = frozenset(config.protect)
        self._places = Places(
            config.action_allow, config.action_deny, config.action_allow_domains, config.action_deny_domains
        )

    def may_act(self, url: str, depth: int | None, wish: Wish) -> bool:
        """Tell whether *wish* may come true for a page of which nothing but this is known."""
        return wish.is_explicit or self._exception(url, depth) is None

    def decide(self, case: Case, on_copy: Callable[[], Wish], on_unchanged: Callable[[], Wish]) -> Decision:
        """Return what is done about a page.

        *on_copy* says what is asked for if it repeats another page, *on_unchanged* if it is as it was in an earlier
        crawl, which finished it, or as another live crawler has handed it on; each is called only if that is so. Both
        may be so: what either drops is dropped.
        """
        rulings: list[tuple[Wish, Decision]] = []
        if case.verdict.is_duplicate:
            wish = on_copy()
            rulings.append((wish, self._decide(case, wish, self._on_copy)))
        if _is_done(case.verdict):
            wish = on_unchanged()
            rulings.append((wish, self._decide(case, wish, self._keep_links)))
        if not rulings:
            return Decision(None)
        action = Action.MARK
        for _, decision in rulings:
            action |= decision.action or Action.MARK
        # What one step spares the page the other may drop: then it was not spared that.
        return Decision(
            action, next((each.spared for wish, each in rulings if wish.action not in action), None)
        )

    def _decide(self, case: Case, wish: Wish, step: Callable[[Case, Wish], Decision]) -> Decision:
        if wish.action is Action.MARK:
            return Decision(Action.MARK)
        if not wish.is_explicit:
            exception = self._exception(case.url, case.depth)
            if exception:
                return Decision(Action.MARK, exception)
        return step(case, wish)

    def _exception(self, url: str, depth: int | None) -> Spared | None:
        # A depth that nobody counts may be any.
        if self._min_depth and (depth is None or depth < self._min_depth):
            return Spared.MIN_DEPTH
        return None if url in self._places else Spared.PLACE

    def _on_copy(self, case: Case, wish: Wish) -> Decision:
        # Other plugins put more into a request's fingerprint than what it asks for.
        if case.verdict.duplicate_of == case.url and not wish.is_explicit:
            return Decision(Action.MARK, Spared.ITSELF)
        if self._budget:
            rank = case.verdict.rank
            # A store that does not count cannot tell that the budget is spent.
            if rank is None or rank < self._budget:
                return Decision(Action.MARK, Spared.BUDGET)
            return Decision(wish.action)
        if wish.is_explicit:
            return Decision(wish.action)
        return self._protect_page(case, wish, WHOLE)

    def _keep_links(self, case: Case, wish: Wish) -> Decision:
        return Decision(wish.action) if wish.is_explicit else self._protect_page(case, wish, ())

    def _protect_page(self, case: Case, wish: Wish, whole: Collection[str]) -> Decision:
        kept = wish.action.keeping_links()
        links_matter = kept != wish.action
        is_start = links_matter and case.depth == 0 and "start" in self._protect
        # What a page lists no longer matters when its links are kept anyway.
        asks_for_listing = links_matter and not is_start
        wanted = self._protect.intersection((*whole, "listing") if asks_for_listing else whole)
        spared = Spared.START if is_start else None
        for name in case.protections(wanted) if wanted else ():
            if name in whole:
                return Decision(Action.MARK, Spared(name))
            spared = Spared(name)
        return Decision(wish.action if spared is None else kept, spared)


def _is_done(verdict: Verdict) -> bool:
    """Tell whether the page is as it was, and whatever was to be made of it is safe, or another crawler's work."""
    return verdict.reason is Reason.HANDED_ON or (verdict.reason is Reason.UNCHANGED and verdict.is_settled)
