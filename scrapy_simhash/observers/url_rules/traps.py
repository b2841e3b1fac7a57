"""Traps: shapes of URLs that bring nothing new any more, as calendars, facets and paths in circles do.

Pages *in a row* without a new text are counted for each shape. After 59, fewer than one in twenty brings something
new, with 95 % confidence, and the shape is stopped. One new page ends the row of its shape, and that of the pages
that led to it, and next time it takes twice as many.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scrapy_simhash.observers.url_rules.host import Checks
from scrapy_simhash.observers.url_rules.urls import Rule
from scrapy_simhash.recent import Recent

#: Pages in a row without a new text after which a shape is stopped, and how often that is doubled.
IN_A_ROW, MAX_DOUBLED = 59, 3
#: Max checks are one of so many requests of the host: each may bring back hundreds of pages.
BUDGET = 3
#: Max shapes of a host; beyond it, the half with the shortest rows goes. Max pages through which something new may
#: still be reached, and max new pages whose links are followed; the oldest goes.
MAX_ROWS, MAX_BARREN, MAX_FERTILE = 1_000, 2_000, 20_000
#: URLs that a trap is shown with.
SAMPLES = 5
#: One text that comes with so many shapes of URLs in so many seconds is an outage or a login page.
OUTAGE_SHAPES, OUTAGE_SECONDS = 4, 30.0

#: The shape of a URL, and the callback of its requests: another one may read something else.
Kind = tuple[str, str]


class Row(Checks):
    """The pages of one shape in a row that brought nothing new."""

    __slots__ = ("is_stopped", "length", "undone", "urls")

    def __init__(self) -> None:
        super().__init__()
        self.length = self.undone = 0
        self.is_stopped = False
        self.urls: list[str] = []


class Barren(NamedTuple):
    """A page that brought nothing new so far."""

    kind: Kind
    parent: str | None


class Traps:
    """The traps of one host.

    >>> traps, month = Traps(), ("/calendar/{number}", "parse")
    >>> [traps.add_barren(month, f"/calendar/{number}", None) for number in range(IN_A_ROW)][-2:]
    [False, True]
    >>> traps.skips(month), traps.add_new(month, "/calendar/99", None), traps.skips(month)
    (True, [('/calendar/{number}', 'parse')], False)
    """

    def __init__(self, pinned: Iterable[Rule] = (), forbidden: Iterable[Rule] = ()) -> None:
        """*pinned* traps are always stopped, *forbidden* ones never."""
        self.pinned = frozenset(rule.about for rule in pinned if rule.kind == "trap")
        self.forbidden = {rule.about for rule in forbidden if rule.kind == "trap"}
        self.rows: dict[Kind, Row] = {}
        #: Requests that were sent as checks.
        self._checks = 0
        self.barren: Recent[str, Barren] = Recent(MAX_BARREN)
        #: By the hash of its URL, the shape of the path of each page that brought something new.
        self._fertile: Recent[int, str] = Recent(MAX_FERTILE)
        #: Texts of outages and login pages; the text of the latest pages, since when, and their shapes.
        self.outages: set[int] = set()
        self._latest: tuple[int, float, set[str]] = (0, 0.0, set())

    def is_outage(self, text: int, shape: str, now: float) -> bool:
        """Note the *text* of a page, and return whether it comes instead of many pages of late: it says nothing.

        *now* is in seconds.
        """
        latest, since, shapes = self._latest
        if text != latest or now - since > OUTAGE_SECONDS:
            self._latest = text, now, {shape}
        else:
            shapes.add(shape)
            if len(shapes) >= OUTAGE_SHAPES and len(self.outages) < SAMPLES:
                self.outages.add(text)
        return text in self.outages

    def add_new(self, kind: Kind | None, url: str, parent: str | None) -> list[Kind]:
        """Count the page at *url*, which brought something new, and return what was stopped and goes on.

        *parent* is the URL of the page that led to it: empty if that is not known, None if there is none.
        """
        if kind is not None:
            self._fertile[hash(url)] = _path_of(kind)
        kinds = [] if kind is None else [kind]
        while parent is not None and self.barren:
            # If it is not known, it may have been the latest.
            page = self.barren.pop(parent or next(reversed(self.barren)), None)
            if page is None:
                break
            kinds.append(page.kind)
            parent = page.parent or None
        return [kind for kind in kinds if self._end_row(kind)]

    def add_barren(self, kind: Kind, url: str, parent: str | None) -> bool:
        """Count a page without a new text, and return whether its shape is stopped by that."""
        if url in self.barren:
            return False
        self.barren[url] = Barren(kind, parent)
        row = self.rows.get(kind)
        if row is None:
            row = self.rows[kind] = Row()
            if len(self.rows) > MAX_ROWS:
                self._forget()
        row.length += 1
        if len(row.urls) < SAMPLES:
            row.urls.append(url)
        if row.is_stopped or kind[0] in self.forbidden:
            return False
        row.is_stopped = row.length >= IN_A_ROW << min(row.undone, MAX_DOUBLED)
        return row.is_stopped

    def skips(self, kind: Kind, parent: str | None = None, requests: int = 0) -> bool:
        """Return whether a request need not be sent; to be asked once. *requests* were sent to the host.

        What a new page of the same shape links to is sent: the next month may be reached through this one only.
        """
        if parent and kind[0] not in self.pinned and self._fertile.get(hash(parent)) == _path_of(kind):
            return False
        row = self.rows.get(kind)
        if kind[0] in self.pinned:
            row = row or self.rows.setdefault(kind, Row())
            row.is_stopped = True
        elif row is None or not row.is_stopped:
            return False
        if not row.is_check(requests, self._checks * BUDGET <= requests) or kind[0] in self.pinned:
            return True
        self._checks += 1
        return False

    @property
    def stopped(self) -> Sequence[tuple[Kind, Row]]:
        """The shapes that are stopped, with their rows."""
        return [(kind, row) for kind, row in self.rows.items() if row.is_stopped]

    def never_stop(self, shape: str) -> None:
        """Let *shape* go on, whatever it brings."""
        self.forbidden.add(shape)
        for kind in [kind for kind in self.rows if kind[0] == shape]:
            del self.rows[kind]

    def _end_row(self, kind: Kind) -> bool:
        """Begin a new row, and return whether the shape was stopped."""
        row = self.rows.get(kind)
        if row is None or kind[0] in self.pinned:
            return False
        was_stopped = row.is_stopped
        row.is_stopped, row.length, row.urls = False, 0, []
        row.undone += was_stopped
        return was_stopped

    def _forget(self) -> None:
        ranked = sorted(self.rows, key=lambda kind: (self.rows[kind].is_stopped, self.rows[kind].length))
        for kind in ranked[: MAX_ROWS // 2]:
            if not self.rows[kind].is_stopped:
                del self.rows[kind]


def _path_of(kind: Kind) -> str:
    # Whether the URL has a query depends on the rules that are active.
    return kind[0].partition("?")[0]
