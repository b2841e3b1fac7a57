"""ChangeReporter: tells which pages changed, moved or are gone: in meta, stats and feed, and by a signal."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.job import job_dir

from scrapy_simhash import names
from scrapy_simhash.crawl.store_factory import changes_file
from scrapy_simhash.crawling import Listener, Once, counted, key_of, share, stats_of
from scrapy_simhash.observers.changes import Change, PageChange, PageText
from scrapy_simhash.observers.changes.book import ChangeBook, Sighting, Source
from scrapy_simhash.observers.changes.feed import Feed
from scrapy_simhash.observers.changes.register import ANSWERED, FAILED, MISSING, Register
from scrapy_simhash.observers.own_file import own_path
from scrapy_simhash.signals import page_changed
from scrapy_simhash.verdict import Reason, Status

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_simhash.config import Config
    from scrapy_simhash.crawling import Page
    from scrapy_simhash.observers.changes.register import FormerPage
    from scrapy_simhash.observers.links import Reader
    from scrapy_simhash.store import Page as Row
    from scrapy_simhash.store import Store


T = TypeVar("T")

logger = logging.getLogger(__name__)

#: The file in JOBDIR with the numbers of the crawl that is resumed, and of the first run there.
CRAWL_FILE = "simhash-crawl"
_GONE = (404, 410)
#: Characters of new paragraphs in a line; their hashes are there in any case.
TEXT_SIZE = 2_000


class ChangeReporter(Listener):
    """Keeps the book of changes of one crawl. What goes wrong in here costs a stat and a warning, never the page."""

    def __init__(self, crawler: Crawler, config: Config) -> None:
        """Raises SettingError for a store that no later crawl can read."""
        self._crawler = crawler
        share(crawler, self)
        self._key_of = key_of(crawler)
        self._config = config
        self._stats = stats_of(crawler)
        self._failed = Once(crawler, logger, names.ERRORS_CHANGES).tell
        self._feed = Feed(own_path(str(config.changes), crawler, "SIMHASH_CHANGES"))
        self._register = changes_file(crawler, config)
        self._book: ChangeBook | None = None
        self._starts: set[bytes] = set()
        self._folder = job_dir(crawler.settings)
        crawler.signals.connect(self.dropped, signal=signals.request_dropped)
        crawler.signals.connect(self.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)

    def store_opened(self, store: Store) -> None:
        """Open the register; a new one begins with the pages of *store*. Raises StoreError."""
        self._book = ChangeBook(
            Register(self._register, reset=self._config.reset, former=_former_pages(store)),
            self._feed,
            self._tell,
            size=TEXT_SIZE,
            on_error=self._cannot_write,
        )

    def spider_opened(self) -> None:
        """Begin a run, and tell what an earlier crawl has left open."""
        if self._book is None:
            return
        file = Path(self._folder, CRAWL_FILE) if self._folder else None
        try:
            number, since = self._book.begin(*_former_run(file))
            if file is not None:
                file.write_text(f"{number} {since}", "ascii")
        except Exception:
            # Without a beginning there is nothing to compare with.
            self._failed("Error while beginning %(about)s: this crawl reports no changes", "SIMHASH_CHANGES")
            self._book.close()
            self._book = None

    def is_gone(self, request: Request) -> bool:
        """Tell whether the page was told as gone: who has removed it then needs its items when it is back."""
        return self._attempt(request, lambda book: book.is_gone(self._key_of(request))) or False

    def found(self, page: Page) -> None:
        """Have a page that was told as gone delivered in full when it is back."""
        if page.verdict.is_delivered and self.is_gone(page.request):
            page.verdict = replace(page.verdict, is_delivered=False)

    def page_compared(self, page: Page) -> None:
        """Take note of an answer, and write into its result what has become of the page."""
        change = self._attempt(page.response, lambda book: self._noted(book, page))
        if change is not None:
            page.request.meta[names.META_RESULT]["change"] = change.value

    def failed(self, request: Request, exception: Exception) -> None:
        """Take note of a request that has no answer: nobody knows what became of its page."""
        if request.callback is NO_CALLBACK:
            return
        if isinstance(exception, IgnoreRequest):
            self._attempt(request, lambda book: book.skip(self._key_of(request)))
        else:
            self._attempt(request, lambda book: self._answer(book, request, FAILED))

    def dropped(self, request: Request) -> None:
        """Take note of a request that the scheduler has dropped: of a redirect there is no answer then."""
        sources = self._sources(request)
        if sources:
            self._attempt(request, lambda book: book.redirect(self._key_of(request), sources))

    def started(self, request: Request) -> None:
        """Take note of a request that came from no page."""
        self._attempt(request, lambda book: self._starts.add(self._key_of(request)))

    def reader_of(self, response: Response) -> Reader | None:
        """Return what takes note of what the callback of *response* has asked for."""
        request = response.request
        asked: list[Request] = []
        if request is None:
            return None

        def read(is_complete: bool) -> None:
            # What did not change leads to what it led to before, whether or not that is yielded again.
            is_all = is_complete and response.status != 304
            keys = map(self._key_of, asked)
            self._attempt(
                response,
                lambda book: book.read(self._key_of(request), response.url, keys, is_complete=is_all),
            )

        return asked.append, read

    def spider_closed(self, reason: str) -> None:
        """Tell what is known now, and let go of the register."""
        book = self._book
        if book is None:
            return
        can_resume = self._folder is not None and reason != "finished"
        unknown = self._attempt(
            "the crawl's end", lambda book: book.end(reason, self._starts, can_resume=can_resume)
        )
        if unknown:
            logger.info(
                "No page is reported as gone because nothing links to it: %(pages)s could not be read, and it is not"
                " known what they link to",
                {"pages": counted(unknown, "page")},
                extra={"spider": self._crawler.spider},
            )
        self._book = None
        book.close()
        told = (
            (change, self._stats.get_value(f"{names.STAT_CHANGES}/{change.value}", 0)) for change in Change
        )
        logger.info(
            "Changes: %(changes)s",
            {
                "changes": ", ".join(f"{number:,} {change.value}" for change, number in told if number)
                or "none"
            },
            extra={"spider": self._crawler.spider},
        )

    def _noted(self, book: ChangeBook, page: Page) -> Change | None:
        verdict, reading, request, response = page.verdict, page.reading, page.request, page.response
        key = page.key or self._key_of(request)
        self._starts.discard(key)
        answer = None
        if response.status in _GONE:
            answer = MISSING
        elif reading is None:
            if (verdict.status, verdict.reason) != (Status.REVISIT, Reason.UNCHANGED):
                answer = ANSWERED if 200 <= response.status < 300 else FAILED
        elif reading.page_hash is None:
            answer = ANSWERED
        if answer is not None:
            self._answer(book, request, answer)
            return None
        text_hash, text, paragraphs = None, None, b""
        if reading is not None:
            text = PageText(lambda: page.document)
            text_hash, paragraphs = reading.page_hash, reading.paragraphs
        is_small = verdict.reason is Reason.SMALL_CHANGE
        seen = Sighting(key, response.url, text_hash, is_small, text, paragraphs)
        change = book.sight(seen, self._sources(request))
        if change is Change.UNCHANGED:
            self._stats.inc_value(f"{names.STAT_CHANGES}/{change.value}")
        return change

    def _answer(self, book: ChangeBook, request: Request, answer: int) -> None:
        book.answer(self._key_of(request), request.url, answer, self._sources(request))

    def _sources(self, request: Request) -> list[Source]:
        """Return the requests that were redirected to *request*, or to its parent, whose meta it may have."""
        urls = request.meta.get("redirect_urls", ())
        return [(self._key_of(request.replace(url=url)), url) for url in urls if url != request.url]

    def _tell(self, change: PageChange) -> None:
        self._stats.inc_value(f"{names.STAT_CHANGES}/{change.change.value}")
        self._crawler.signals.send_catch_log(page_changed, change=change, spider=self._crawler.spider)

    def _cannot_write(self, error: OSError) -> None:
        self._failed("Error while writing %(about)s: what is missing is written with the next change", error)

    def _attempt(self, about: object, step: Callable[[ChangeBook], T]) -> T | None:
        if self._book is None:
            return None
        try:
            return step(self._book)
        except Exception:
            self._failed("Error while noting changes of %(about)s", about)
            return None


def _former_run(file: Path | None) -> tuple[int | None, int | None]:
    """Return the number of the crawl that may be resumed, and of the first run on the folder."""
    if file is None or not file.exists():
        return None, None
    try:
        number, since = map(int, file.read_text("ascii").split())
    except ValueError:
        # A kill came while it was written.
        return None, 0
    return number, since


def _former_pages(store: Store) -> Iterator[FormerPage]:
    if not store.is_remote:
        for page in cast("Iterator[Row]", store.pages()):
            posting = page.posting
            yield posting.key, posting.url, posting.page_hash, posting.seen
