"""ChangeReporter: write the change feed: ``SIMHASH_CHANGES``.

The verdict on a page and the times in its row determine the kind of change. The difference of two versions is the
paragraphs and facts that were added or removed.

A page is gone if its last visit is later than the time at which it was last seen, see `Touch`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from contextlib import suppress
from enum import Enum
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pydispatch import dispatcher  # type: ignore[import-untyped]
from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.job import job_dir
from scrapy.utils.misc import load_object

from scrapy_simhash import names
from scrapy_simhash.crawling import Listener, Once, key_of, stats_of
from scrapy_simhash.notes import PAGE, Note
from scrapy_simhash.observers.output_file import LineFile, line_of, output_path
from scrapy_simhash.page.features.facts import changed_facts
from scrapy_simhash.page.fingerprint import FACTS_AT, digest
from scrapy_simhash.page.reading import KEPT_PARAGRAPH
from scrapy_simhash.recent import Recent
from scrapy_simhash.signals import page_changed
from scrapy_simhash.store import Touch
from scrapy_simhash.times import written
from scrapy_simhash.verdict import Reason, Status
from scrapy_simhash.waiting import maybe_await, run_sync

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.signalmanager import SignalManager

    from scrapy_simhash.config import Config
    from scrapy_simhash.crawling import Page
    from scrapy_simhash.page.reading import Reading
    from scrapy_simhash.page.text import Document
    from scrapy_simhash.store import Row, Store

logger = logging.getLogger(__name__)

#: Max characters of ``text_added`` per line of the feed. The hashes of all paragraphs are written.
MAX_TEXT = 2_000
_PAGE_BYTES = 8


class Reported(NamedTuple):
    r"""The reported state of a page, stored as a note with its row.

    >>> reported = Reported(b"8 bytes.", b"\x02ab", b"paragraphs")
    >>> Reported.from_bytes(reported.to_bytes()) == reported
    True
    """

    page: bytes
    """Hash of the page, 8 bytes. For a page that was reported as gone: 3 zero bytes, a byte that is 1 if the page was
    reported as moved, and the Unix time at which the page was last seen."""
    facts: bytes = b"\0"
    """See page/fingerprint/facts.py."""
    paragraphs: bytes = b""
    """Hash and number of tokens of each paragraph of the main text, see page/reading.py."""

    @classmethod
    def of(cls, reading: Reading) -> Reported:
        """Return the state of a page that was read."""
        fingerprint, page_hash = reading.fingerprint, reading.page_hash
        sketch = b"" if fingerprint is None else fingerprint.sketch
        return cls(_bytes_of(page_hash), sketch[FACTS_AT:] or b"\0", reading.paragraphs)

    def is_of(self, page_hash: int | None) -> bool:
        """Return whether this version of the page was reported."""
        return self.page == _bytes_of(page_hash)

    @property
    def is_gone(self) -> bool:
        """Whether the page was reported as gone."""
        return self.page.startswith(bytes(3))

    @property
    def has_moved(self) -> bool:
        """Whether the page was reported as moved."""
        return self.is_gone and self.page[3:4] == b"\x01"

    def gone(self, seen: int, *, has_moved: bool) -> Reported:
        """Return the note of a page that is gone and was last seen at the time *seen*."""
        return self._replace(page=bytes([0, 0, 0, has_moved]) + seen.to_bytes(4, "big"))

    def to_bytes(self) -> bytes:
        """Return the note as bytes."""
        return self.page + self.facts + self.paragraphs

    @classmethod
    def from_bytes(cls, data: bytes) -> Reported:
        """Return the note in *data*, the result of `to_bytes`. Raises ValueError for other bytes."""
        facts = data[_PAGE_BYTES:]
        if not facts or len(facts) < facts[0] + 1:
            raise ValueError("a note is truncated")
        end = _PAGE_BYTES + 1 + facts[0]
        return cls(data[:_PAGE_BYTES], data[_PAGE_BYTES:end], data[end:])


def _bytes_of(page_hash: int | None) -> bytes:
    return (page_hash or 0).to_bytes(8, "big")


def difference(former: Reported, document: Document, url: str) -> dict[str, Any]:
    """Return the differences between a reported page and its current *document* at *url*.

    A moved paragraph counts as unchanged, and a paragraph with a changed word as removed and added. O(paragraphs).
    """
    known = Counter(key for key, _ in KEPT_PARAGRAPH.iter_unpack(former.paragraphs))
    added, texts, left, words = [], [], MAX_TEXT, 0
    for part in document.main:
        key = digest(part.text)
        if known[key]:
            known[key] -= 1
            continue
        added.append(key.hex())
        words += len(part.tokens)
        if left > 0:
            texts.append(part.text[:left])
        left -= len(part.text)
    removed = []
    for key, count in KEPT_PARAGRAPH.iter_unpack(former.paragraphs):
        if known[key]:
            known[key] -= 1
            removed.append((key.hex(), count))
    return {
        "facts_added": changed_facts(former.facts, document, url),
        "paragraphs_kept": len(former.paragraphs) // KEPT_PARAGRAPH.size - len(removed),
        "paragraphs_added": added,
        "paragraphs_removed": [key for key, _ in removed],
        "words_added": words,
        "words_removed": sum(count for _, count in removed),
        "text_added": texts,
        "is_cut": left < 0,
    }


#: The file in JOBDIR with the start time of the crawl.
BEGAN_FILE = "simhash-began"
_GONE = (404, 410)
#: Max lines that wait for a remote store, and max notes per write. A killed crawl reports these changes again.
TOGETHER = 50
#: Max pages whose hashes are in memory to find moved pages: the latest new pages and copies.
MAX_HASHES = 100_000


class Change(str, Enum):
    """The kind of change of a page since its last visit."""

    NEW = "new"
    CHANGED = "changed"
    SMALL_CHANGE = "small_change"
    """The page is still a near-duplicate of its former text."""
    MOVED = "moved"
    """The page is gone or was not seen, and its text is at a different URL."""
    GONE = "gone"
    """The status of the response is 404 or 410."""
    NOT_SEEN = "not_seen"
    """A complete crawl did not request it."""
    BACK = "back"
    """The page exists again after it was gone or not seen."""


def line_id(key: bytes, change: Change, about: object) -> str:
    """Return 16 hexadecimal digits that are the same if the same change is reported again."""
    text = f"{key.hex()}\0{change._value_}\0{about}"
    return blake2b(text.encode(), digest_size=8).hexdigest()


_CHANGES = {
    Reason.CHANGED: Change.CHANGED,
    Reason.NOW_NEAR_DUPLICATE: Change.CHANGED,
    Reason.SMALL_CHANGE: Change.SMALL_CHANGE,
}


class _Found(NamedTuple):
    """A page whose line is written once the store has replied."""

    key: bytes
    line: dict[str, Any]
    change: Change | None
    """None for a page that is unchanged since a killed run, which may not have reported it."""
    former: Row | None
    page_hash: int | None
    reported: Reported | None
    """None for a page from the cache."""
    document: Document | None
    original: bytes | None
    """Key of the page with the same text."""


class ChangeReporter(Listener):
    """Writes the feed of one crawl. Exceptions are counted and logged, and each loses one line."""

    _store: Store

    def __init__(self, crawler: Crawler, config: Config) -> None:
        """Raises SettingError if the file cannot be written."""
        assert config.changes is not None
        self._crawler = crawler
        self._key_of = key_of(crawler)
        self._stats = stats_of(crawler)
        self._count = self._stats.inc_value
        self._once = Once(crawler, logger, names.ERRORS_CHANGES)
        path = output_path(config.changes, crawler, "SIMHASH_CHANGES")
        self._feed = LineFile(path, "SIMHASH_CHANGES")
        self._waiting: list[_Found] = []
        self._reporting: asyncio.Task[None] | None = None
        self._notes: dict[bytes, Reported] = {}
        self._missing: dict[bytes, dict[str, Any]] = {}
        self._urls: Recent[int | None, str] = Recent(MAX_HASHES)
        #: First and last second of each killed run, whose pages may not have been reported.
        self._killed: list[tuple[int, int]] = []
        self._began = int(time.time())
        self._failures = 0
        self._reason = ""
        folder = job_dir(crawler.settings)
        self._file = None if folder is None else Path(folder, BEGAN_FILE)
        crawler.signals.connect(self.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)
        crawler.signals.connect(self.spider_error, signal=signals.spider_error)

    def store_opened(self, store: Store) -> None:
        """Keep a reference to the store of the crawl."""
        self._store = store

    def spider_opened(self, spider: Spider) -> Coroutine[Any, Any, None] | None:
        """Find killed runs, and the start of a resumed crawl. Scrapy awaits a coroutine."""
        opening = self._open()
        return opening if self._store.is_remote else run_sync(opening)

    async def _open(self) -> None:
        try:
            # This is first, so that a later error does not hide that an earlier run of this crawl was killed.
            if self._file is not None:
                self._resume(self._file)
            self._feed.open()
            runs = await maybe_await(self._store.runs())
            ends = [run.started for run in runs[1:]]
            self._killed = [
                (run.started, end) for run, end in zip(runs, ends, strict=False) if run.ended is None
            ]
        except Exception:
            # Changes may be missing, so this crawl does not count as complete.
            self._failures += 1
            self._failed("Error while opening %(about)s: changes may be missing", "SIMHASH_CHANGES")

    def _resume(self, file: Path) -> None:
        """Read the start time of the crawl, or write it. A killed run may have lost requests."""
        if file.exists():
            began, _, has_ended = file.read_text("ascii").partition(" ")
            self._began = int(began or 0)
            self._failures += not has_ended
        file.write_text(f"{self._began}", "ascii")

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """Record why the crawl ends."""
        self._reason = reason

    def spider_error(self) -> None:
        """Record that a callback failed, so its links are unknown."""
        self._failures += 1

    # --- A page.

    def page_compared(self, page: Page) -> None:
        """Report a page, or record that it is missing."""
        response, verdict = page.response, page.verdict
        if response.status in _GONE:
            self._missing[self._key_of(page.request)] = line_of(page)
            return
        if verdict.status is Status.UNKNOWN or response.status >= 400 or verdict.reason is Reason.TRUNCATED:
            self._failures += 1
            return
        former, key = verdict.former, page.key
        if key is None or (page.reading is None and former is None):
            return
        self._missing.pop(key, None)
        # A page from the cache was not read, because its text is that of the row.
        page_hash = (
            page.reading.page_hash if page.reading is not None else former and former.posting.own_page_hash
        )
        if former is None or verdict.is_duplicate:
            self._urls[page_hash] = response.url
        change = self._change(page)
        if change is None and not self._may_be_unreported(former):
            return
        if change is not None:
            page.request.meta[names.META_RESULT]["change"] = change._value_
        reported = None if page.reading is None else Reported.of(page.reading)
        has_text = page.reading is not None and former is not None
        document = page.document if has_text and change is not Change.NEW else None
        original = verdict.original_key if verdict.is_exact and former is None else None
        self._waiting.append(
            _Found(key, line_of(page), change, former, page_hash, reported, document, original)
        )
        if not self._store.is_remote:
            run_sync(self._report_waiting())
        elif len(self._waiting) >= TOGETHER and (self._reporting is None or self._reporting.done()):
            self._reporting = asyncio.create_task(self._report_waiting())

    def _change(self, page: Page) -> Change | None:
        former, reason = page.verdict.former, page.verdict.reason
        if former is None:
            return Change.NEW
        if former.is_gone:
            return Change.BACK
        if reason is Reason.SHORT_TEXT and page.reading is not None:
            # The verdict on a short page does not show whether the page has changed.
            return None if former.posting.own_page_hash == page.reading.page_hash else Change.CHANGED
        return _CHANGES.get(reason) if reason is not None else None

    def _may_be_unreported(self, former: Row | None) -> bool:
        return former is not None and any(begin <= former.posting.seen <= end for begin, end in self._killed)

    # --- Lines.

    async def _report_waiting(self) -> None:
        """Report the waiting pages in order."""
        while self._waiting:
            found = self._waiting.pop(0)
            try:
                await self._report_page(found)
            except Exception:
                self._failed("Error while reporting %(about)s: its change may be missing", found.line["url"])

    async def _report_page(self, found: _Found) -> None:
        key, change, former = found.key, found.change, found.former
        known = None if change is Change.NEW else await self._reported(key)
        if change is None:
            # The page has not changed since a run that was killed, perhaps before it wrote the line of this page.
            if known is not None and known.is_of(found.page_hash):
                return
            change = Change.NEW if known is None else Change.BACK if known.is_gone else Change.CHANGED
        previous_url = None
        if change is Change.NEW and found.original is not None:
            row = await maybe_await(self._store.get(found.original))
            gone = await self._reported(found.original) or Reported(b"")
            if row is not None and row.is_gone and not gone.has_moved:
                change, previous_url = Change.MOVED, row.posting.url
                self._notes[found.original] = gone.gone(row.posting.seen, has_moved=True)
        history = None if former is None else former.posting.history
        changes = None if history is None else history.changes
        has_changed = found.change not in (None, Change.BACK) and changes is not None
        about = known.page.hex() if change is Change.BACK and known else (changes or 0) + has_changed
        texts = None
        if found.document is not None and known is not None:
            texts = difference(known, found.document, found.line["url"])
        seen = None if former is None else former.posting.seen
        self._write(change, line_id(key, change, about), found.line, previous_url, seen, difference=texts)
        if found.reported is not None:
            self._notes[key] = found.reported
            if len(self._notes) >= TOGETHER:
                await self._keep_notes()

    async def _reported(self, key: bytes) -> Reported | None:
        if key in self._notes:
            return self._notes[key]
        _, data = await maybe_await(self._store.note(PAGE, key))
        # If the note is damaged, the page is reported without its paragraphs.
        with suppress(ValueError):
            return None if data is None else Reported.from_bytes(data)
        return None

    async def _keep_notes(self) -> None:
        notes, self._notes = self._notes, {}
        await maybe_await(
            self._store.replace_notes(PAGE, [Note(key, None, each.to_bytes()) for key, each in notes.items()])
        )

    def _write(
        self,
        change: Change,
        number: str,
        line: dict[str, Any],
        previous_url: str | None,
        seen: int | None,
        **more: Any,
    ) -> None:
        line = {
            "id": number,
            **line,
            "change": change._value_,
            "previous_url": previous_url,
            "previous_time": None if seen is None else written(seen),
            **more,
        }
        self._count(f"{names.STAT_CHANGES}/{change._value_}")
        try:
            self._feed.write(line)
        except OSError as error:
            self._failed("Error while writing %(about)s: its lines are written with the next change", error)
        if _has_receivers(self._crawler.signals, page_changed):
            self._crawler.signals.send_catch_log(page_changed, change=line, spider=self._crawler.spider)

    # --- The end.

    async def closing(self) -> None:
        """Report pages that are gone, and pages that a complete crawl did not see."""
        try:
            await self._report_missing()
        finally:
            self._feed.close()

    async def _report_missing(self) -> None:
        if self._reporting is not None:
            await self._reporting
        await self._report_waiting()
        rows = [await maybe_await(self._store.get(key)) for key in self._missing]
        gone = {row.posting.key: row for row in rows if row is not None and not row.is_gone}
        for key, row in gone.items():
            await self._report_gone(row, Change.GONE, self._missing[key])
        now = int(time.time())
        await maybe_await(self._store.touch([(key, now) for key in self._missing], Touch.GONE))
        if self._is_complete():
            pages = cast("Iterator[Row]", self._store.pages())
            # Only keys are kept in memory, because after a relaunch of a site all its pages may be gone.
            unseen = [row.posting.key for row in pages if row.posting.seen < self._began and not row.is_gone]
            for key in unseen:
                row = cast("Row", self._store.get(key))
                await self._report_gone(row, Change.NOT_SEEN, {"url": row.posting.url, "time": written(now)})
            await maybe_await(self._store.touch([(key, now) for key in unseen], Touch.GONE))
        await self._keep_notes()
        if self._file is not None:
            # The file is not deleted, because Scrapy's duplicates filter in JOBDIR has the requests of ended crawls.
            self._file.write_text(f"{self._began} {'' if self._failures else 'ended'}", "ascii")

    async def _report_gone(self, row: Row, change: Change, line: dict[str, Any]) -> None:
        key, seen = row.posting.key, row.posting.seen
        known = await self._reported(key) or Reported(b"")
        url, previous_url = await self._moved_to(row), None
        self._notes[key] = known.gone(seen, has_moved=url is not None)
        if url is not None:
            change, previous_url, line = Change.MOVED, row.posting.url, {**line, "url": url}
        self._write(change, line_id(key, change, seen), line, previous_url, seen)

    async def _moved_to(self, row: Row) -> str | None:
        """Return the URL of a page of this crawl with the text of *row*; None if unknown."""
        url = self._urls.get(row.posting.own_page_hash)
        if row.posting.own_page_hash is None or url is not None or row.original is None:
            return url
        original = await maybe_await(self._store.get(self._key_of(Request(row.original))))
        if original is None or original.is_gone or original.posting.seen < self._began:
            return None
        return row.original if original.posting.own_page_hash == row.posting.own_page_hash else None

    def _is_complete(self) -> bool:
        """Return whether the crawl has requested every page that it found.

        False with a remote store, to which other crawlers may add pages that this crawl does not visit.
        """
        return (
            self._reason == "finished"
            and not self._failures
            and not self._store.is_remote
            and not _lost_requests(self._stats.get_stats())
            and self._crawler.settings.getbool("DOWNLOADER_STATS")
        )

    def _failed(self, message: str, about: object) -> None:
        self._once.log_exception(message, about)


def _has_receivers(manager: SignalManager, signal: object) -> bool:
    """Return whether *signal* has receivers. Sending it costs half as much as a line, even without receivers."""
    return next(dispatcher.getAllReceivers(manager.sender, signal), None) is not None


def _lost_requests(stats: dict[str, Any]) -> int:
    """Return the number of requests in *stats* without a response after all retries, except ignored requests."""
    failed = retried = 0
    for name, count in stats.items():
        kind, _, path = name.rpartition("/")
        if kind == "downloader/exception_type_count" and not _is_ignored(path):
            failed += count
        # The other reasons are responses, such as "503 Service Unavailable".
        elif kind == "retry/reason_count" and not path[:1].isdigit():
            retried += count
    return failed - retried


def _is_ignored(path: str) -> bool:
    """Return whether an exception means that a request was not sent, as for robots.txt or URL rules."""
    try:
        return issubclass(load_object(path), IgnoreRequest)
    except (ImportError, NameError, AttributeError, TypeError, ValueError):
        return False
