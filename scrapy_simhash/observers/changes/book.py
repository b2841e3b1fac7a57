"""ChangeBook: the rules by which a page is new, changed, moved, gone or back.

Each change gets into register and feed once, whatever happens in between.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from scrapy_simhash.observers.changes.feed import Change, Feed, PageChange
from scrapy_simhash.observers.changes.page_text import Difference, PageText, difference, hashes
from scrapy_simhash.observers.changes.register import (
    ANSWERED,
    FAILED,
    GONE,
    MISSING,
    OTHER,
    PRESENT,
    REDIRECTED,
    WAITING,
    Line,
    Register,
    Row,
)

#: A request that was redirected to another one: its key and its URL.
Source: TypeAlias = tuple[bytes, str]


class Sighting(NamedTuple):
    """A page that was answered with a text."""

    key: bytes
    url: str
    text_hash: int | None
    """None for an answer that says that nothing has changed."""
    is_small: bool
    """Whether the page is still a near-duplicate of what it was."""
    text: PageText | None
    """None if it was not sent, because nothing has changed."""
    paragraphs: bytes = b""
    """What is kept of its paragraphs."""


class ChangeBook:
    """Decides what is told, and writes it into register and feed, in one transaction a page. Raises sqlite3.Error.

    *tell* is called with each change, in their order, once it is in the register for good.
    """

    def __init__(
        self,
        register: Register,
        feed: Feed,
        tell: Callable[[PageChange], None],
        *,
        size: int,
        on_error: Callable[[OSError], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """*size* is how many characters of new paragraphs a line has at most.

        *on_error* is called when *feed* cannot be written; what it lacks is written with the next change.
        """
        self._register = register
        self._feed = feed
        self._tell = tell
        self._size = size
        self._on_error = on_error
        self._clock = clock
        self._crawl = self._run = self._since = 0
        # What is told by the step at hand, each with its line.
        self._told: list[tuple[PageChange, Line]] = []
        # The lines that are not in the feed yet.
        self._lines: list[Line] = []
        # The number of the last line that the register need not keep.
        self._forgotten = 0

    def begin(self, resumed: int | None, since: int | None = None) -> tuple[int, int]:
        """Begin a run, of the crawl *resumed* or of a new one. Raises OSError.

        *since* is the number of the first run whose requests Scrapy may still take for seen. Return the number of the
        crawl, and *since* for the next run.
        """
        last = self._register.last_run()
        can_resume = last is not None and last.crawl == resumed and last.reason != "finished"
        if last is not None and last.feed != str(self._feed.path) and Path(last.feed).is_file():
            # What a kill has kept from the former feed belongs there.
            former = Feed(Path(last.feed))
            former.recover(self._register.newest_line)
            former.write(self._register.lines(former.last))
            self._register.written_to(former.last)
            if can_resume:
                self._feed = former
        self._feed.recover(self._register.newest_line)
        with self._step():
            run = self._register.begin_run(str(self._feed.path), resumed if can_resume else None)
            self._run, self._crawl = run.number, run.crawl
        self._since = run.number if since is None else since
        self._lines = self._register.lines(self._feed.last)
        self._write()
        return run.crawl, self._since

    def is_gone(self, key: bytes) -> bool:
        """Tell whether it was told of a page that it is gone or has moved away, and not yet that it is back."""
        row = self._register.get(key)
        return row is not None and row.state == GONE

    def sight(self, seen: Sighting, sources: Sequence[Source] = ()) -> Change | None:
        """Return what has become of a page, and tell it; None if it is not known and was not sent.

        *sources* are redirected to it. *seen.text* learns which of its paragraphs are new.
        """
        now = int(self._clock())
        with self._step():
            self._redirect(sources, REDIRECTED, seen.key)
            row = self._register.get(seen.key)
            if row is None or row.state == OTHER:
                return self._first(seen, row, now)
            return self._again(seen, row, now)

    def redirect(self, key: bytes, sources: Sequence[Source]) -> None:
        """Note that *sources* are redirected to a page that is asked for anyway."""
        with self._step():
            self._redirect(sources, REDIRECTED, key)

    def answer(self, key: bytes, url: str, answer: int, sources: Sequence[Source] = ()) -> None:
        """Note an answer that is no page with a text: ANSWERED, MISSING, or FAILED, also if there was none."""
        with self._step():
            # A redirect to something that is not there says nothing of what it comes from.
            self._redirect(sources, REDIRECTED if answer == ANSWERED else FAILED, key)
            if not self._note(key, answer) and answer == FAILED:
                # One day it may have links.
                self._register.put(Row(key, url, OTHER, self._crawl, FAILED))

    def skip(self, key: bytes) -> None:
        """Note that a page was asked for, and that the crawl did not send the request."""
        with self._step():
            self._note(key, FAILED)

    def read(self, key: bytes, url: str, asked: Iterable[bytes], *, is_complete: bool) -> None:
        """Note the keys of the requests that the callback of a page has yielded.

        Unless its callback came to its end, *is_complete*, the page also leads to what it led to before.
        """
        keys = list(asked)
        new = Row(key, url, OTHER, self._crawl, ANSWERED, was_read=self._crawl if is_complete else 0)
        if is_complete and self._register.put_links(key, self._crawl, new.links_with(keys)):
            return
        with self._step():
            row = self._register.get(key) or (new if keys else None)
            if row is not None:
                self._register.put(row, crawl=self._crawl, links=row.links_with(keys))

    def end(self, reason: str, starts: Collection[bytes], *, can_resume: bool) -> int:
        """End the run, and tell what is known now: what has moved, and what is gone.

        *starts* are the keys of the start requests. Nothing is told of a crawl that was stopped and can be resumed,
        and after a kill, since Scrapy may have lost requests: the next crawl that does not go on from there tells it.
        Return how many pages are the reason why nothing can be told of pages that are no longer linked.
        """
        unknown = 0
        with self._step():
            if reason == "finished":
                if not self._register.was_killed(self._since, self._run):
                    unlinked, unknown = self._register.unlinked(self._crawl, starts)
                    self._settle(unlinked)
                self._register.note_no_links(self._crawl)
            elif not can_resume:
                self._settle(())
            self._register.end_run(self._run, reason)
        self._register.written_to(self._feed.last)
        return unknown

    def close(self) -> None:
        """Let go of the register."""
        self._register.close()

    @contextmanager
    def _step(self) -> Iterator[None]:
        """Keep all that is done inside, or nothing; then tell it."""
        self._told = []
        with self._register.transaction():
            if self._forgotten < self._feed.last:
                self._forgotten = self._feed.last
                self._register.written_to(self._forgotten)
            yield
        if self._told:
            self._lines += [line for _, line in self._told]
            self._write()
            for change, _ in self._told:
                self._tell(change)

    def _write(self) -> None:
        try:
            self._feed.write(self._lines)
        except OSError as error:
            self._on_error(error)
        else:
            self._lines.clear()

    def _first(self, seen: Sighting, row: Row | None, now: int) -> Change | None:
        """Take note of a page that comes for the first time."""
        if seen.text_hash is None or seen.text is None:
            return None
        row = row or Row(seen.key, seen.url, PRESENT, self._crawl, ANSWERED)
        if self._register.may_have_moved(seen.text_hash, self._crawl):
            self._register.put(row, **self._seen(seen, now, state=WAITING))
        else:
            self._say(row, Change.NEW, now, self._seen(seen, now))
        return Change.NEW

    def _again(self, seen: Sighting, row: Row, now: int) -> Change:
        """Take note of a page that has come before."""
        former, text = row.text_hash, seen.text
        if row.state == WAITING:
            self._register.put(row, **self._seen(seen, now, state=WAITING))
            return Change.NEW
        if row.state == PRESENT and (None in (seen.text_hash, former) or seen.text_hash == former):
            if text is not None:
                text.is_unchanged = True
            self._register.put(row, **self._seen(seen, now, has_text=row.paragraphs is None))
            return Change.UNCHANGED
        change = Change.SMALL_CHANGE if seen.is_small else Change.CHANGED
        if row.state == GONE:
            change = Change.BACK
        differs = None
        if text is not None and row.paragraphs is not None:
            differs = difference(row.paragraphs, text.paragraphs)
            if row.state == PRESENT:
                text.known = hashes(row.paragraphs)
        self._say(row, change, now, self._seen(seen, now), former=row, difference=differs)
        return change

    def _seen(
        self, seen: Sighting, now: int, *, state: int = PRESENT, has_text: bool = True
    ) -> dict[str, Any]:
        """Return what changes in the row of a page that was answered; *has_text* tells whether its text may."""
        changes = {"url": seen.url, "state": state, "crawl": self._crawl, "answer": ANSWERED, "seen": now}
        if has_text and seen.text is not None:
            changes |= {"text_hash": seen.text_hash, "paragraphs": seen.paragraphs}
        return changes

    def _note(self, key: bytes, answer: int) -> bool:
        """Note what a request came to, and return whether its page is known."""
        row = self._register.get(key)
        if row is None:
            return False
        if row.state == WAITING and answer == MISSING:
            # It came and went, and was never told.
            self._register.remove(row)
        else:
            self._register.put(row, crawl=self._crawl, answer=answer)
        return True

    def _redirect(self, sources: Sequence[Source], answer: int, target: bytes) -> None:
        """Note that requests came to another one: to which they lead, beside what they led to before."""
        for key, url in sources:
            row = self._register.get(key) or Row(key, url, OTHER, self._crawl, answer)
            self._register.put(row, crawl=self._crawl, answer=answer, links=row.links_with([target]))

    def _settle(self, no_longer_linked: Iterable[Row]) -> None:
        """Tell which pages have moved, which are new after all, and which are gone."""
        gone = [(row, "status") for row in self._register.missing()]
        gone += [(row, "not_linked") for row in no_longer_linked]
        by_text: dict[int | None, deque[Row]] = {}
        for row, _ in gone:
            by_text.setdefault(row.text_hash, deque()).append(row)
        moved: set[bytes] = set()
        for row in self._register.waiting():
            same = by_text.get(row.text_hash)
            former = self._register.redirected_to(row) or (same.popleft() if same else None)
            if former is not None:
                moved.add(former.key)
                self._register.put(former, state=GONE)
            self._say(
                row,
                Change.NEW if former is None else Change.MOVED,
                row.seen,
                {"state": PRESENT},
                former=former,
                previous_url=None if former is None else former.url,
            )
        now = int(self._clock())
        for row, reason in gone:
            if row.key not in moved:
                self._say(row, Change.GONE, now, {"state": GONE}, former=row, reason=reason)

    def _say(
        self,
        row: Row,
        change: Change,
        when: int,
        changes: dict[str, Any],
        *,
        former: Row | None = None,
        previous_url: str | None = None,
        reason: str | None = None,
        difference: Difference | None = None,
    ) -> None:
        """Write *row* with its *changes*, and tell what has become of its page, which was *former* before."""
        row = self._register.put(row, told=change.value, told_in=self._run, **changes)
        told = PageChange(
            row.url,
            change,
            when,
            None if change is Change.GONE else row.text_hash,
            previous_url,
            None if former is None else former.text_hash,
            None if former is None else former.seen,
            reason,
            difference,
        )
        self._told.append((told, self._register.add_line({"crawl": self._crawl, **told.to_dict(self._size)})))
