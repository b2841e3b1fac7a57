"""Traps: shapes of URLs without new pages, such as calendars, facets and circular paths.

Pages *in a row* without a new text are counted per shape. After 59 such pages, fewer than one page in twenty is new,
with 95 % confidence, and the shape is stopped. A new page ends the row of its shape and of the pages that led to it,
and from then on twice as many pages are needed to stop them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from scrapy_simhash.observers.url_rules.host import Checks, newer_half
from scrapy_simhash.observers.url_rules.urls import Rule
from scrapy_simhash.recent import Recent

#: Pages in a row without a new text after which a shape is stopped, and how often this number may be doubled.
IN_A_ROW, MAX_DOUBLED = 59, 3
#: Max checks: one in this many requests of the host, because each check may lead to hundreds of pages.
BUDGET = 3
#: Max shapes per host; beyond this limit, the half with the shortest rows is dropped. Max pages that may still lead
#: to a new page, and max new pages whose links are followed; older pages are dropped.
MAX_ROWS, MAX_KNOWN_PAGES, MAX_NEW_PAGES = 1_000, 2_000, 20_000
#: Example URLs per trap.
SAMPLES = 5
#: A text with this many shapes of URLs in this many seconds is an outage or a login page.
OUTAGE_SHAPES, OUTAGE_SECONDS = 4, 30.0

#: The value of `Traps.latest` after a page with a new text. Shapes are counted when the text occurs again.
NO_TEXT: tuple[int, float, set[str]] = (0, 0.0, set())

#: The shape of a URL and the callback of its requests, because a different callback may extract different data.
Kind = tuple[str, str]


class Row(Checks):
    """The pages of one shape in a row without a new text."""

    __slots__ = ("length", "resumed", "urls")

    def __init__(self) -> None:
        super().__init__()
        self.length = self.resumed = 0
        self.urls: list[str] = []


class KnownPage(NamedTuple):
    """A page with a known text that has led to no new page so far."""

    kind: Kind
    parent: str | None


class Traps:
    """The traps of one host.

    >>> traps, month = Traps(), ("/calendar/{number}", "parse")
    >>> [traps.add_known(month, f"/calendar/{number}", None) for number in range(IN_A_ROW)][-2:]
    [False, True]
    >>> traps.skips(month), traps.add_new(None, month), traps.skips(month)
    (True, [('/calendar/{number}', 'parse')], False)
    """

    def __init__(self, pinned: Iterable[Rule] = (), forbidden: Iterable[Rule] = ()) -> None:
        """*pinned* shapes are always stopped, and *forbidden* shapes never."""
        self.pinned = frozenset(rule.about for rule in pinned if rule.kind == "trap")
        self.forbidden = frozenset(rule.about for rule in forbidden if rule.kind == "trap")
        self.rows: dict[Kind, Row] = {}
        self.stopped: set[Kind] = set()
        #: Number of requests that were sent as checks.
        self._checks = 0
        self.known_pages: Recent[str, KnownPage] = Recent(MAX_KNOWN_PAGES)
        #: The URLs of new pages.
        self.new_pages: dict[str, None] = {}
        #: The texts of outages and login pages.
        self.outages: set[int] = set()
        #: The latest text, the time of the first page with it, and the shapes of its URLs.
        self.latest: tuple[int, float, set[str]] = NO_TEXT

    def is_outage(self, text: int, shape: str, now: float) -> bool:
        """Record the *text* of a page, and return whether it recently replaced many pages, as in an outage.

        *now* is in seconds.
        """
        latest, since, shapes = self.latest
        if text != latest or now - since > OUTAGE_SECONDS:
            self.latest = text, now, {shape}
        else:
            shapes.add(shape)
            if len(shapes) >= OUTAGE_SHAPES and len(self.outages) < SAMPLES:
                self.outages.add(text)
        return text in self.outages

    def add_new(self, parent: str | None, kind: Kind | None = None) -> list[Kind]:
        """Count a new page, and return the stopped shapes that are resumed: its shape, and those that led to it.

        *parent* is the URL of the page that links to it: empty if unknown, None for a page without a parent.
        """
        if len(self.new_pages) > MAX_NEW_PAGES:
            self.new_pages = newer_half(self.new_pages)
        kinds = [] if kind is None else [kind]
        while parent is not None and self.known_pages:
            # An unknown parent may be the latest page.
            page = self.known_pages.pop(parent or next(reversed(self.known_pages)), None)
            if page is None:
                break
            kinds.append(page.kind)
            parent = page.parent or None
        return [kind for kind in kinds if self._end_row(kind)]

    def add_known(self, kind: Kind, url: str, parent: str | None) -> bool:
        """Count a page with a known text, and return whether this stops its shape."""
        if url in self.known_pages:
            return False
        self.known_pages[url] = KnownPage(kind, parent)
        row = self.rows.get(kind)
        if row is None:
            row = self.rows[kind] = Row()
            if len(self.rows) > MAX_ROWS:
                self._forget()
        row.length += 1
        if len(row.urls) < SAMPLES:
            row.urls.append(url)
        is_enough = row.length >= IN_A_ROW << min(row.resumed, MAX_DOUBLED)
        if kind in self.stopped or kind[0] in self.forbidden or not is_enough:
            return False
        self.stopped.add(kind)
        return True

    def is_stopped(self, kind: Kind) -> bool:
        """Return whether requests of this shape may be skipped."""
        if kind[0] in self.pinned:
            self.stopped.add(kind)
        return kind in self.stopped

    def skips(self, kind: Kind, requests: int = 0) -> bool:
        """Return whether a request is skipped; call it once per request. *requests* is the number that were sent."""
        if not self.is_stopped(kind):
            return False
        row = self.rows.setdefault(kind, Row())
        is_check = row.is_check(requests, self._checks * BUDGET <= requests)
        if not is_check or kind[0] in self.pinned:
            return True
        self._checks += 1
        return False

    def _end_row(self, kind: Kind) -> bool:
        """Begin a new row, and return whether the shape was stopped."""
        row = self.rows.get(kind)
        if row is None or kind[0] in self.pinned:
            return False
        was_stopped = kind in self.stopped
        self.stopped.discard(kind)
        row.length, row.urls = 0, []
        row.resumed += was_stopped
        return was_stopped

    def _forget(self) -> None:
        ranked = sorted(self.rows.keys() - self.stopped, key=lambda kind: self.rows[kind].length)
        for kind in ranked[: MAX_ROWS // 2]:
            del self.rows[kind]
