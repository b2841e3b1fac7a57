"""Novelty: which groups of a host's URLs bring nothing new any more, as calendars, facets and traps do.

A page brings something new if its content did not come before on the host, or if something new was reached through
it. Of each group the URLs *in a row* that brought nothing new are counted, each URL once, without what has no effect.
After 29, fewer than one in ten brings something new, with 95 % confidence, and others are requested first; after 59,
fewer than one in twenty, and the group is stopped. One page that is new undoes that, and next time it takes twice as
many. Only groups with such a row are remembered, so a host on which each page is new costs nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from scrapy_simhash.observers.url_rules.evidence import Checks, lower_bound
from scrapy_simhash.recent import Recent

#: URLs in a row without anything new, after which a group has to wait, and after which it is stopped.
SLOWED_AFTER, STOPPED_AFTER = 29, 59
#: How often it takes twice as many.
MOST_DOUBLED = 3
#: Groups of a host; beyond it the half with the shortest rows goes.
MOST_GROUPS = 256
#: Pages that brought nothing new, through which something new may still be reached; the oldest goes.
MOST_BARREN = 1_000
#: URLs that a group is shown with.
SAMPLES = 10
#: What a rule about a group begins with.
_BEFORE = "group "


def rule_of(group: str) -> str:
    """Return the rule that says of *group* that it brings nothing new.

    >>> rule_of("/calendar/{number}"), group_in("group /calendar/{number}"), group_in("parameter sid")
    ('group /calendar/{number}', '/calendar/{number}', None)
    """
    return _BEFORE + group


def group_in(rule: str) -> str | None:
    """Return the group that *rule* is about, None if it is about something else."""
    return rule.removeprefix(_BEFORE) if rule.startswith(f"{_BEFORE}/") else None


class Barren(NamedTuple):
    """A page that brought nothing new so far."""

    groups: tuple[str, ...]
    parent: str | None


@dataclass(slots=True)
class Row:
    """The URLs of one group in a row that brought nothing new."""

    length: int = 0
    undone: int = 0
    """How often the group was stopped, and brought something new."""
    since: int = 0
    """When it was first stopped, in seconds of Unix time."""
    skipped: int = 0
    """Requests that were skipped, or would have been."""
    urls: list[str] = field(default_factory=list)
    """The first of them."""
    uses: int = 0
    """What these pages were for, a bit each."""

    @property
    def enough(self) -> int:
        """After how many the group is stopped."""
        return STOPPED_AFTER << min(self.undone, MOST_DOUBLED)

    @property
    def loss(self) -> float:
        """The share of the skipped URLs that would have brought something new, at most, with 95 % confidence."""
        return 1.0 - lower_bound(self.length, 0)

    def add(self, url: str, use: int) -> None:
        """Count one more."""
        self.length += 1
        self.uses |= use
        if len(self.urls) < SAMPLES:
            self.urls.append(url)

    def end(self) -> None:
        """Begin again."""
        self.length = self.uses = 0
        self.urls = []

    def to_list(self) -> list[int]:
        """Return what outlives the crawl, to be shown."""
        return [self.length, self.undone, self.since, self.skipped]

    @classmethod
    def from_list(cls, kept: list[int]) -> Row:
        """Return what to_list() gave. Raises ValueError for anything else."""
        if len(kept) != 4 or not all(isinstance(number, int) and number >= 0 for number in kept):
            raise ValueError(f"a row must be four numbers, got {kept}")
        length, undone, since, skipped = kept
        return cls(length, undone, since, skipped)


class Novelty:
    """The groups of one host.

    >>> novelty = Novelty(Checks())
    >>> for number in range(STOPPED_AFTER):
    ...     stopped = novelty.add_barren(("/calendar/{number}",), number)
    >>> stopped, novelty.stopped_by(("/calendar/{number}",))
    ('/calendar/{number}', '/calendar/{number}')
    >>> novelty.add_new(("/calendar/{number}",)), novelty.stopped_by(("/calendar/{number}",))
    (['group /calendar/{number}'], None)
    """

    __slots__ = ("_checks", "_pinned", "barren", "forbidden", "has_slowed", "rows", "stopped")

    def __init__(self, checks: Checks, pinned: Iterable[str] = (), forbidden: Iterable[str] = ()) -> None:
        """*pinned* rules are always in force, *forbidden* ones never; those that are about no group do not count."""
        self._checks = checks
        # Frozen, as an empty set takes 200 bytes, and nearly every host has none.
        self._pinned = frozenset(group for rule in pinned if (group := group_in(rule)))
        #: The groups that are never stopped: nobody knows what their pages bring.
        self.forbidden = frozenset(group for rule in forbidden if (group := group_in(rule)))
        #: The groups with pages in a row that brought nothing new.
        self.rows: defaultdict[str, Row] = defaultdict(Row)
        #: Whether a group may have to wait.
        self.has_slowed = False
        #: The groups that are stopped.
        self.stopped = self._pinned
        #: By what each is known: pages that brought nothing new.
        self.barren: Recent[int, Barren] | None = None

    @property
    def in_force(self) -> list[str]:
        """The rules about stopped groups that pages have led to."""
        return [rule_of(group) for group in self.stopped - self._pinned]

    @property
    def told(self) -> list[str]:
        """The stopped groups of which requests were skipped, or would have been."""
        return [group for group, row in self.rows.items() if row.skipped and group in self.stopped]

    @property
    def skipped(self) -> int:
        """Requests of all of these."""
        return sum(self.rows[group].skipped for group in self.told)

    @property
    def is_doubted(self) -> bool:
        """Whether a group is stopped once more."""
        return any(row.undone for group, row in self.rows.items() if group in self.stopped)

    def add_new(self, groups: Iterable[str]) -> list[str]:
        """Count a page that brought something new, and return the rules that were undone by that."""
        return [rule_of(group) for group in groups if self._end_row(group)]

    def add_barren(
        self,
        groups: tuple[str, ...],
        key: int,
        url: str = "",
        use: int = 1,
        now: int = 0,
        parent: str | None = None,
    ) -> str | None:
        """Count a page that brought nothing new so far, and return the group that is stopped from now on, if any.

        *groups* has the narrowest first. The narrowest is stopped of those that have enough pages, but where half of
        them came under a narrower one, that one is waited for. *key* is by what the page is known, *use* a bit that
        says what it was for. *parent* is the page that linked to it.
        """
        self.may_lead_on(key, Barren(groups, parent))
        if self.stopped and (stopped := [group for group in groups if group in self.stopped]):
            # What is stopped says nothing about the rest of a wider one.
            self.rows[stopped[0]].add(url, use)
            return None
        longest = 0
        for group in groups:
            row = self.rows[group]
            row.add(url, use)
            self.has_slowed = self.has_slowed or row.length >= SLOWED_AFTER
            if row.length >= row.enough and 2 * longest < row.length and group not in self.forbidden:
                row.since = row.since or now
                self.stopped |= {group}
                for wider in groups[groups.index(group) + 1 :]:
                    # What is known of it says nothing about the rest.
                    others = self.rows[wider]
                    others.length = max(0, others.length - row.length)
                return group
            longest = max(longest, row.length)
        if len(self.rows) > MOST_GROUPS:
            self._forget()
        return None

    def may_lead_on(self, key: int, page: Barren) -> None:
        """Remember *page*, known by *key*: something new may be reached through it."""
        if self.barren is None:
            self.barren = Recent(MOST_BARREN)
        self.barren[key] = page

    def led_on(self, key: int | None) -> Barren | None:
        """Return the page known by *key*, once: something new was reached through it. None if it is not remembered.

        A *key* of None is for a page that nobody knows: it may have been the latest.
        """
        if not self.barren:
            return None
        return self.barren.pop(next(reversed(self.barren)) if key is None else key, None)

    def skips(self, groups: Iterable[str], use: int, *, may_stop: bool = True) -> str | None:
        """Return the rule by which a request for *use* need not be sent, None if it is sent; to be asked once.

        Without *may_stop*, only pinned groups are skipped: no more requests can be kept to be sent after all.
        """
        group = self.stopped_by(groups, use)
        if group is None:
            return None
        if (may_stop or group in self._pinned) and self._skips(group):
            return rule_of(group)
        self._checks.sent += 1
        return None

    def count_unasked(self, groups: Iterable[str], use: int) -> None:
        """Count a page whose request would have been skipped, but was sent, as nobody asks."""
        if self._checks.requests or not self.stopped:
            return
        if (group := self.stopped_by(groups, use)) is not None:
            self._skips(group)

    def stopped_by(self, groups: Iterable[str], use: int = 1) -> str | None:
        """Return which of *groups* is stopped for a request for *use*, None if it is to be sent."""
        for group in groups:
            if group in self.stopped and (group in self._pinned or self.rows[group].uses & use):
                return group
        return None

    def has_to_wait(self, groups: Iterable[str]) -> bool:
        """Tell whether others are to be requested before the URLs of one of *groups*."""
        return any(group in self.rows and self.rows[group].length >= SLOWED_AFTER for group in groups)

    def never_stop(self, group: str) -> None:
        """Let *group* go on, whatever it brings."""
        self.forbidden |= {group}
        self._end_row(group)

    def begin_again(self) -> None:
        """Forget all rows, as URLs are known in another way from now on."""
        for group in self.rows.keys() - self._pinned:
            del self.rows[group]
        self.has_slowed = False
        self.barren = None
        self.stopped = self._pinned

    def _skips(self, group: str) -> bool:
        self._checks.matched += 1
        if group not in self._pinned and (self._checks.is_overdue() or self._checks.is_due()):
            return False
        self.rows[group].skipped += 1
        return True

    def _end_row(self, group: str) -> bool:
        """Begin a new row of *group*, and return whether it was stopped."""
        row = self.rows.get(group)
        if row is None or group in self._pinned:
            return False
        if group in self.stopped:
            self.stopped -= {group}
            row.undone += 1
            row.end()
            return True
        if row.undone:
            row.end()
        else:
            del self.rows[group]
        return False

    def _forget(self) -> None:
        ranked = sorted(self.rows, key=lambda group: (group in self.stopped, self.rows[group].length))
        for group in ranked[: MOST_GROUPS // 2]:
            if group not in self.stopped:
                del self.rows[group]
