"""Skipped requests that may have to be re-sent."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from scrapy_simhash.observers.url_rules.urls import Rule

if TYPE_CHECKING:
    from scrapy import Request

#: Max skipped requests per rule and host; the oldest are dropped, because a host may create any number of session
#: ids. Max skipped requests of all traps; beyond this limit, traps skip no more requests.
MAX_OF_HOST, MAX_KEPT = 1_000, 20_000
#: A check while the spider is idle sends one in `SAMPLED` of the kept requests, at most `MAX_SAMPLE`.
MAX_SAMPLE, SAMPLED = 20, 80
#: Times of checks while the spider is idle, as shares of the time that all kept requests would take, during which an
#: outage may end. Max length of that time, and max time by which a check may be early, in seconds.
CHECKED_AT, MAX_WAIT, SOON = (0.0, 0.5, 1.0), 20.0, 0.5
#: Min requests of a trap in the first check, and number of skipped requests for each additional request.
MIN_CHECKED, CHECKED_WHEN_IDLE = 8, 50
#: Name of the rule for requests whose page was an outage, a login page or similar.
OUTAGE = Rule("outage", "")


class Reason(NamedTuple):
    """The reason why requests were skipped: a host, and one of its rules."""

    site: str
    rule: Rule


class KeptRequests:
    """The skipped requests, in memory.

    >>> kept, reason = KeptRequests(), Reason("example.com", OUTAGE)
    >>> kept.add(reason, "request", 1), kept.take(reason), kept.take(reason)
    (None, ['request'], [])
    """

    def __init__(self) -> None:
        # Requests by key, oldest first.
        self._requests: dict[Reason, dict[int, Request]] = {}
        # Time at which the spider became idle, number of remaining requests of the first check (each may lead to many
        # skipped requests), and number of later checks.
        self._idle: dict[Reason, tuple[float, int, int]] = {}
        #: Number of kept requests of traps.
        self._number = 0
        #: Number of dropped requests by reason.
        self.lost: Counter[Reason] = Counter()

    @property
    def reasons(self) -> list[Reason]:
        """The reasons for which requests are kept."""
        return list(self._requests)

    @property
    def is_full(self) -> bool:
        """Whether no more requests of traps can be kept; such requests are never dropped."""
        return self._number >= MAX_KEPT

    def holds(self, reason: Reason, key: int) -> bool:
        """Return whether a request is kept under *key*."""
        return key in self._requests.get(reason, ())

    def add(self, reason: Reason, request: Request, key: int) -> None:
        """Keep a request; *key* is a hash of its URL. An earlier request with the same key is kept, too."""
        requests = self._requests.setdefault(reason, OrderedDict())
        while key in requests:
            key += 1
        requests[key] = request
        if reason.rule.kind == "trap":
            self._number += 1
        elif len(requests) > MAX_OF_HOST:
            del requests[next(iter(requests))]
            self.lost[reason] += 1

    def take(self, reason: Reason, is_wanted: Callable[[Request], bool] | None = None) -> list[Request]:
        """Remove and return the requests kept for *reason*, or those for which *is_wanted* is true, oldest first."""
        requests = self._requests.pop(reason, {})
        left: OrderedDict[int, Request] = OrderedDict()
        if is_wanted is None:
            self._idle.pop(reason, None)
        else:
            left.update((key, request) for key, request in requests.items() if not is_wanted(request))
        if left:
            self._requests[reason] = left
        if reason.rule.kind == "trap":
            self._number -= len(requests) - len(left)
        return [request for key, request in requests.items() if key not in left]

    def take_all(self) -> list[Request]:
        """Remove and return all requests."""
        return [request for reason in self.reasons for request in self.take(reason)]

    def check(self, reason: Reason, now: float, pace: float) -> list[Request] | None:
        """Return the requests of *reason* to send as a check while the spider is idle; None if the checks are done.

        Empty if it is too early for a check. Requests for links that a check finds are also skipped, and are sent in
        the next check. *now* is in seconds, *pace* in seconds per page.
        """
        number, is_trap = len(self._requests.get(reason, ())), reason.rule.kind == "trap"
        first = MIN_CHECKED + number // CHECKED_WHEN_IDLE if is_trap else 0
        since, left, checks = self._idle.setdefault(reason, (now, first, 0))
        if number and left > 0:
            sample = self._sample(reason)
            self._idle[reason] = since, left - len(sample), checks
            return sample
        if checks >= (len(CHECKED_AT) if is_trap or reason.rule == OUTAGE else 1):
            return None
        if now + SOON < since + CHECKED_AT[checks] * min(MAX_WAIT, pace * number):
            return []
        self._idle[reason] = since, left, checks + 1
        return self._sample(reason)

    def _sample(self, reason: Reason) -> list[Request]:
        """Take a sample of the requests kept for *reason*, including the latest one."""
        requests = list(self._requests.get(reason, {}).values())
        size = min(MAX_SAMPLE, max(2, len(requests) // SAMPLED))
        step = max(1, len(requests) // size)
        chosen = {id(request) for request in requests[::-1][::step][:size]}
        return self.take(reason, lambda request: id(request) in chosen)
