"""ChangeBook: the rules by which a page is new, changed, moved, gone or back.

Each change gets into register and feed once, whatever happens in between.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias

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
    is_settled: bool
    """Whether the items of its last visit are known to be safe."""
    text: PageText | None
    """None if it was not sent, because nothing has changed."""


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
        self._changes: list[PageChange] = []

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
        links = list(asked)
        with self._step():
            row = self._register.get(key)
            if row is None:
                if not links:
                    return
                row = Row(key, url, OTHER, self._crawl, ANSWERED)
            was_read = self._crawl if is_complete else row.was_read
            row = row._replace(crawl=self._crawl, was_read=was_read)
            self._register.put(row.linked(links, also_as_before=not is_complete))

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
        self._changes = []
        with self._register.transaction():
            self._register.written_to(self._feed.last)
            yield
        if self._changes:
            self._write()
            for change in self._changes:
                self._tell(change)

    def _write(self) -> None:
        try:
            self._feed.write(self._register.lines(self._feed.last))
        except OSError as error:
            self._on_error(error)

    def _first(self, seen: Sighting, row: Row | None, now: int) -> Change | None:
        """Take note of a page that comes for the first time."""
        if seen.text_hash is None or seen.text is None:
            return None
        row = row or Row(seen.key, seen.url, PRESENT, self._crawl, ANSWERED)
        may_have_moved = self._register.may_have_moved(seen.text_hash, self._crawl)
        row = self._seen(row, seen, now)._replace(state=WAITING if may_have_moved else PRESENT)
        if may_have_moved:
            self._register.put(row)
        else:
            self._say(row, Change.NEW, now)
        return Change.NEW

    def _again(self, seen: Sighting, row: Row, now: int) -> Change:
        """Take note of a page that has come before."""
        former, text = row.text_hash, seen.text
        if row.state == WAITING:
            self._register.put(self._seen(row, seen, now))
            return Change.NEW
        # Of what was told by an earlier run, nobody may know what was made of it.
        is_open = row.told is not None and row.told_in != self._run and not seen.is_settled
        if row.state == PRESENT and (None in (seen.text_hash, former) or seen.text_hash == former):
            if text is not None:
                text.is_unchanged = not is_open
            if text is None or row.paragraphs is not None:
                row = row._replace(url=seen.url, seen=now, crawl=self._crawl, answer=ANSWERED)
            else:
                row = self._seen(row, seen, now)
            self._register.put(row._replace(told_in=self._run if is_open else row.told_in))
            return Change(row.told) if is_open else Change.UNCHANGED
        change = Change.SMALL_CHANGE if seen.is_small else Change.CHANGED
        if row.state == GONE:
            change = Change.BACK
        differs = None
        if text is not None and row.paragraphs is not None:
            differs = difference(row.paragraphs, text.paragraphs)
            if row.state == PRESENT and not is_open:
                text.known = hashes(row.paragraphs)
        self._say(
            self._seen(row, seen, now)._replace(state=PRESENT), change, now, former=row, difference=differs
        )
        return change

    def _seen(self, row: Row, seen: Sighting, now: int) -> Row:
        row = row._replace(url=seen.url, seen=now, crawl=self._crawl, answer=ANSWERED)
        if seen.text_hash is not None and seen.text is not None:
            row = row._replace(text_hash=seen.text_hash, paragraphs=seen.text.packed)
        return row

    def _note(self, key: bytes, answer: int) -> bool:
        """Note what a request came to, and return whether its page is known."""
        row = self._register.get(key)
        if row is None:
            return False
        if row.state == WAITING and answer == MISSING:
            # It came and went, and was never told.
            self._register.remove(row)
        else:
            self._register.put(row._replace(crawl=self._crawl, answer=answer))
        return True

    def _redirect(self, sources: Sequence[Source], answer: int, target: bytes) -> None:
        """Note that requests came to another one: to which they lead, beside what they led to before."""
        for key, url in sources:
            row = self._register.get(key) or Row(key, url, OTHER, self._crawl, answer)
            row = row._replace(crawl=self._crawl, answer=answer)
            self._register.put(row.linked([target], also_as_before=True))

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
                self._register.put(former._replace(state=GONE))
            self._say(
                row._replace(state=PRESENT),
                Change.NEW if former is None else Change.MOVED,
                row.seen,
                former=former,
                previous_url=None if former is None else former.url,
            )
        now = int(self._clock())
        for row, reason in gone:
            if row.key not in moved:
                self._say(row._replace(state=GONE), Change.GONE, now, former=row, reason=reason)

    def _say(
        self,
        row: Row,
        change: Change,
        when: int,
        *,
        former: Row | None = None,
        previous_url: str | None = None,
        reason: str | None = None,
        difference: Difference | None = None,
    ) -> None:
        """Write *row*, and tell what has become of its page, which was *former* before."""
        self._register.put(row._replace(told=change.value, told_in=self._run))
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
        self._register.add_line({"crawl": self._crawl, **told.to_dict(self._size)})
        self._changes.append(told)
