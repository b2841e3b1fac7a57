"""Skipped requests that may have to be sent, and the note of the rules of a host."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_simhash.observers.url_rules.urls import Rule, parsed_rule, site_of

if TYPE_CHECKING:
    from scrapy import Request

#: Max skipped requests of a rule on a host; the oldest go, since fresh session ids have no end. Max of all traps;
#: beyond it, traps skip nothing more.
MAX_OF_HOST, MAX_KEPT = 1_000, 20_000
#: Max requests that are sent at a time as a check when the spider is idle, and the share of the kept ones.
MAX_SAMPLE, SAMPLED = 20, 80
#: When a sample is sent while the spider is idle: at once, after a half and after all of the time that all kept ones
#: would have taken, in which an outage may end. Max seconds of that, and seconds by which it may be too early.
CHECKED_AT, MAX_WAIT, SOON = (0.0, 0.5, 1.0), 20.0, 0.5
#: Min requests of a trap that are sent before that, and how many it skipped for each further one.
LEAST_CHECKED, CHECKED_WHEN_IDLE = 8, 50
#: What a rule is called that is about the requests whose page was an outage, a login page or the like.
OUTAGE = Rule("outage", "")


class Reason(NamedTuple):
    """Why requests were skipped: a rule on a host."""

    site: str
    rule: Rule


class Idle(NamedTuple):
    """What was sent while the spider was idle."""

    since: float
    """Seconds."""
    left: int = 0
    """Requests that may still be sent at once: each may lead to many more that are skipped."""
    waits: int = 0
    """Samples that were sent then."""


class KeptRequests:
    """The skipped requests, in memory.

    >>> kept, reason = KeptRequests(), Reason("example.com", OUTAGE)
    >>> kept.add(reason, "request", 1), kept.take(reason), kept.take(reason)
    (None, ['request'], [])
    """

    def __init__(self) -> None:
        # By the key under which a request was added, oldest first.
        self._requests: dict[Reason, OrderedDict[int, Request]] = {}
        # What was sent while the spider was idle, since all were taken.
        self._idle: dict[Reason, Idle] = {}
        #: Requests of traps.
        self._number = 0
        #: How many were pushed out.
        self.lost: Counter[Reason] = Counter()

    @property
    def reasons(self) -> list[Reason]:
        """Why requests are kept."""
        return list(self._requests)

    @property
    def is_full(self) -> bool:
        """Whether there is no room for one more of a trap: none of these is ever pushed out."""
        return self._number >= MAX_KEPT

    def number(self, reason: Reason) -> int:
        """Return how many requests are kept for *reason*."""
        return len(self._requests.get(reason, ()))

    def holds(self, reason: Reason, key: int) -> bool:
        """Return whether a request is kept under *key*."""
        return key in self._requests.get(reason, ())

    def add(self, reason: Reason, request: Request, key: int) -> None:
        """Keep a request, whose *key* is a hash of its page's URL; one with the same key stays, too."""
        requests = self._requests.setdefault(reason, OrderedDict())
        while key in requests:
            key += 1
        requests[key] = request
        if reason.rule.kind == "trap":
            self._number += 1
        elif len(requests) > MAX_OF_HOST:
            requests.popitem(last=False)
            self.lost[reason] += 1

    def take(self, reason: Reason, is_wanted: Callable[[Request], bool] | None = None) -> list[Request]:
        """Return the requests that are kept for *reason*, or those that are wanted, and keep them no longer.

        Oldest first.
        """
        requests = self._requests.pop(reason, OrderedDict())
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

    def check(self, reason: Reason, now: float, pace: float) -> list[Request] | None:
        """Return what to send of *reason* as a check while the spider is idle, None if nothing more is to be sent.

        Empty if it is too early. What a check leads to is skipped as well, and sent next time. *now* is in seconds,
        *pace* in seconds per page.
        """
        number, is_trap = self.number(reason), reason.rule.kind == "trap"
        if reason not in self._idle:
            self._idle[reason] = Idle(now, LEAST_CHECKED + number // CHECKED_WHEN_IDLE if is_trap else 0)
        idle = self._idle[reason]
        if number and idle.left > 0:
            sample = self._sample(reason)
            self._idle[reason] = idle._replace(left=idle.left - len(sample))
            return sample
        if idle.waits >= (len(CHECKED_AT) if is_trap or reason.rule == OUTAGE else 1):
            return None
        if now + SOON < idle.since + CHECKED_AT[idle.waits] * min(MAX_WAIT, pace * number):
            return []
        self._idle[reason] = idle._replace(waits=idle.waits + 1)
        return self._sample(reason)

    def _sample(self, reason: Reason) -> list[Request]:
        """Return some requests, from all that are kept for *reason* and the latest among them."""
        requests = list(self._requests.get(reason, {}).values())
        size = min(MAX_SAMPLE, max(2, len(requests) // SAMPLED))
        step = max(1, len(requests) // size)
        chosen = {id(request) for request in requests[::-1][::step][:size]}
        return self.take(reason, lambda request: id(request) in chosen)

    def take_latest(self, site: str, is_wanted: Callable[[Request], bool]) -> list[Request]:
        """Return the latest request of *site* that is wanted, if there is one, and keep it no longer."""
        for reason in self.reasons:
            if reason.site != site:
                continue
            requests = self._requests[reason]
            latest = next((key for key in reversed(requests) if is_wanted(requests[key])), None)
            if latest is not None:
                self._number -= reason.rule.kind == "trap"
                return [requests.pop(latest)]
        return []

    def take_all(self) -> list[Request]:
        """Return all requests, and keep none."""
        return [request for reason in self.reasons for request in self.take(reason)]


# --- Notes.


class Note(NamedTuple):
    """The names of the rules of a host."""

    active: tuple[Rule, ...] = ()
    """Learned by crawls."""
    pinned: tuple[Rule, ...] = ()
    forbidden: tuple[Rule, ...] = ()

    def to_bytes(self) -> bytes:
        """Return the note as it is stored.

        >>> Note.from_bytes(Note((parsed_rule("parameter sid"),)).to_bytes()).active[0].about
        'sid'
        """
        return json.dumps(self.to_dict()).encode()

    def to_dict(self) -> dict[str, list[str]]:
        """Return the texts of the rules."""
        return {name: [str(rule) for rule in getattr(self, name)] for name in self._fields}

    @classmethod
    def from_bytes(cls, data: bytes | None) -> Note:
        """Return the note in *data*, an empty one for None. Raises ValueError for anything else."""
        return cls() if data is None else cls.from_dict(json.loads(data))

    @classmethod
    def from_dict(cls, kept: Any) -> Note:
        """Return the note that to_dict() gave. Raises ValueError for anything else."""
        if not isinstance(kept, dict) or not set(kept) <= set(cls._fields):
            raise ValueError(f"URL rules must be lists of names under {', '.join(cls._fields)}")
        if not all(
            isinstance(texts, list) and all(isinstance(text, str) for text in texts)
            for texts in kept.values()
        ):
            raise ValueError("URL rules must be lists of names")
        return cls(**{name: tuple(map(parsed_rule, texts)) for name, texts in kept.items()})

    def changed(self, *, learned: Iterable[Rule] = (), dropped: Iterable[Rule] = ()) -> Note:
        """Return the note with more active rules, and without some."""
        active = dict.fromkeys((*self.active, *learned))
        return self._replace(active=tuple(rule for rule in active if rule not in set(dropped)))

    def joined(self, other: Note) -> Note:
        """Return the rules of both."""
        return Note(
            *(tuple(dict.fromkeys((*mine, *theirs))) for mine, theirs in zip(self, other, strict=True))
        )


class Choice(NamedTuple):
    """A rule that a user has chosen: for one host, or for all."""

    rule: Rule
    host: str
    """Empty for all hosts."""
    is_forbidden: bool


def choice(text: str) -> Choice:
    """Return the rule of *text*, for the host before it, if one is named. Raises ValueError for the text of no rule.

    >>> choice("-example.com: parameter sort")
    Choice(rule=Rule(kind='parameter', about='sort', shape=''), host='example.com', is_forbidden=True)
    """
    host, separator, rule = text.removeprefix("-").rpartition(": ")
    site = site_of(f"http://{host.strip()}") if separator else ""
    return Choice(parsed_rule(rule.strip()), site, text.startswith("-"))
