"""What all that takes part in a crawl has in common: is it one, what is shared, logged once, and read of a page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK
from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.utils.misc import load_object

from scrapy_simhash import names
from scrapy_simhash.config import Config
from scrapy_simhash.judge.hints import Hints, protections, read_hints
from scrapy_simhash.judge.policy import NOTHING, Decision
from scrapy_simhash.verdict import Status, Verdict

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

    from scrapy_simhash.fingerprinter import PageFingerprinter, Reading
    from scrapy_simhash.page.text import Document
    from scrapy_simhash.store import Store
    from scrapy_simhash.waiting import Answer

logger = logging.getLogger(__name__)

T = TypeVar("T")


def config_of(settings: BaseSettings) -> Config:
    """Return what *settings* say of the plugin. Raises SettingError, and NotConfigured if it is switched off."""
    config = Config.from_settings(settings)
    if not config.enabled:
        raise NotConfigured("SIMHASH_ENABLED is off")
    return config


def is_crawl(crawler: Crawler) -> bool:
    """Return whether *crawler* crawls: False under ``scrapy shell``, ``fetch``, ``parse`` and ``check``.

    To be asked while components are built: a crawl that is being stopped no longer counts as one.
    """
    # The shell drives the engine itself, it never calls crawl().
    if not crawler.crawling:
        return False
    # The other commands put a start() of their own into the spider class.
    start = getattr(type(crawler.spider), "start", None)
    return not getattr(start, "__module__", "").startswith("scrapy.commands.")


#: The attribute of a crawler that has what its components share, by class: it ends when the crawler does.
_SHARED = "_simhash_shared"


def share(crawler: Crawler, part: T) -> T:
    """Have `shared` find *part* for all components of *crawler*, and return it."""
    vars(crawler).setdefault(_SHARED, {})[type(part)] = part
    return part


def shared(crawler: Crawler, kind: type[T]) -> T | None:
    """Return what a component of *crawler* shares that is a *kind*; None if none does."""
    found: T | None = vars(crawler).get(_SHARED, {}).get(kind)
    return found


#: The headers that ask whether a page has changed.
VALIDATORS = (b"If-None-Match", b"If-Modified-Since")

#: What the record of a thing says that is shown once.
NO_MORE = " - no more will be shown (see SIMHASH_DEBUG to show all)"


class Once:
    """Logs what may come with every page: of each kind the first record aloud, further ones quietly or not at all."""

    def __init__(self, crawler: Crawler, logger: logging.Logger, stat: str = "") -> None:
        """*stat* is where exceptions are counted."""
        self._crawler = crawler
        self._logger = logger
        self._stat = stat
        self._told: set[str] = set()

    def is_first(self, kind: str) -> bool:
        """Tell whether this is the first of its *kind*; the next one is not."""
        is_first = kind not in self._told
        self._told.add(kind)
        return is_first

    def warn(
        self, kind: str, message: str, values: dict[str, object], error: bool | Exception | None = None
    ) -> None:
        """Log *message* with *values*: at level WARNING if it is the first of its *kind*, else at DEBUG."""
        self._logger.log(
            logging.WARNING if self.is_first(kind) else logging.DEBUG,
            message,
            values,
            exc_info=error,
            extra={"spider": self._crawler.spider},
        )

    def tell(self, message: str, about: object) -> None:
        """Count and log an exception: *message* names what it is *about* as ``%(about)s``; call it in its handler."""
        stats_of(self._crawler).inc_value(self._stat)
        self.warn(
            "exception",
            f"{message}. Further failures are logged at level DEBUG and counted in the stat %(stat)s",
            {"about": about, "stat": self._stat},
            error=True,
        )


def stats_of(crawler: Crawler) -> StatsCollector:
    """Return the stats collector of *crawler*, which it has once its components are built."""
    stats = crawler.stats
    if stats is None:
        raise RuntimeError("the crawler has no stats collector yet")
    return stats


def counted(number: int, noun: str) -> str:
    """Return *number* and *noun*, in the plural unless there is one.

    >>> counted(1, "revisit"), counted(0, "near-duplicate")
    ('1 revisit', '0 near-duplicates')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# --- What is read of a request and its response.


_UNKNOWN = Verdict(Status.UNKNOWN)


@dataclass(slots=True)
class JudgedPage:
    """A page on its way to the spider: what was asked and what came, what was found, and what is done about it."""

    request: Request
    response: Response
    depths: Depths
    verdict: Verdict = _UNKNOWN
    reading: Reading | None = None
    """What was read of it; None if nothing was."""
    key: bytes | None = None
    """Which page the store was asked about; None if it was not asked."""
    document: Document | None = None
    """What a large page says, if it is read again: that takes long, and was done in a thread."""
    since: float | None = None
    """When work on the event loop began, by ``perf_counter()``, as if none of it had been waited for; None for a page
    that was not read."""
    decision: Decision = NOTHING
    preferred: str | None = None
    """The URL of its cluster that is to be preferred, as far as is known."""
    known_hints: Hints | None = None
    """Its `hints`, if somebody has asked for them."""

    @property
    def depth(self) -> int | None:
        """How many links lead to it from the start, 0 for a start page; None where nobody counts."""
        return self.depths.of(self.request)

    @property
    def hints(self) -> Hints:
        """What its head says about its URLs, read when it is first asked for."""
        if self.known_hints is None:
            response = self.response
            self.known_hints = read_hints(tree_of(response), response.url)
        return self.known_hints

    def text(self, fingerprinter: PageFingerprinter) -> Document:
        """Return what the page says, read again unless a thread has done so. Some milliseconds."""
        if self.document is not None:
            return self.document
        return fingerprinter.extract(tree_of(self.response), content_language=language_of(self.response))

    def protections(self, wanted: Collection[str]) -> Iterable[str]:
        """Yield which protections of those *wanted* hold, as :func:`scrapy_simhash.judge.hints.protections` does."""
        verdict, url = self.verdict, self.response.url
        return protections(
            tree_of(self.response),
            url,
            verdict.duplicate_of or url,
            self.hints,
            verdict.hints,
            wanted,
            verdict.contradicts,
        )


#: What is called with each request that a callback yields, and with whether that was all when it has ended.
Reader: TypeAlias = tuple[Callable[["Request"], object], Callable[[bool], None]]


class Observer:
    """A feature that follows a crawl: made only if its settings ask for it.

    A subclass has the hooks that it needs; the others are never called, see `Observers`.
    """

    def keep_in(self, store: Store) -> bool:
        """Take the store of the crawl, before the first page. Return False if there is nothing to do with such a one.

        Raises SettingError and StoreError.
        """
        return True

    def spider_opened(self, spider: Spider) -> None:
        """Begin."""

    def screen(self, request: Request) -> Answer[Request | Response | None]:
        """Return None for a request that is to be sent, else what takes its place; raise IgnoreRequest to skip it."""

    def without_page(self, request: Request, response: Response) -> Request | Response | Verdict | None:
        """Return None for *response* if it has a page, else what is to be passed on, or the verdict on the page."""

    def found(self, page: JudgedPage) -> None:
        """See a page whose verdict is known, before anything is decided; it may change the verdict."""

    def judged(self, page: JudgedPage) -> None:
        """See a page that is decided, marked and counted, before the spider does."""

    def started(self, request: Request) -> None:
        """See a request that came from no page, as the spider yields it."""

    def reader_of(self, response: Response) -> Reader | None:
        """Return what is called with the requests that the callback of *response* yields; None if nothing is."""

    def outcome_lost(self, request: Request) -> None:
        """Note that what was made of the answer to *request* is lost."""

    def failed(self, request: Request, exception: Exception) -> None:
        """Note that *request* has no answer, after all retries."""

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """End."""

    async def finish(self) -> None:
        """Give the store what it has not got yet. Raises StoreError."""


class Observers:
    """Those of one crawl. What a hook raises is counted and logged, and stops neither the next one nor the crawl."""

    def __init__(self, crawler: Crawler, observers: Sequence[Observer]) -> None:
        #: Counts and logs what went wrong; to be called where the exception is handled.
        self.give_up = Once(crawler, logger, names.ERRORS_ACTION).tell
        self._observers = observers

    def hooks(self, name: str) -> tuple[Callable[..., Any], ...]:
        """Return the hook *name* of those that have it, in their order."""
        return tuple(
            getattr(observer, name)
            for observer in self._observers
            if getattr(type(observer), name) is not getattr(Observer, name)
        )

    def tell(self, name: str, *arguments: object) -> list[Any]:
        """Call the hook *name* of those that have it, for what does not come with every page; return the answers."""
        answers = []
        for hook in self.hooks(name):
            try:
                answers.append(hook(*arguments))
            except Exception:
                self.give_up(f"Error in {name} of %(about)s", arguments[0])
        return answers

    async def finish(self) -> None:
        """Have all of them give the store what it has not got yet."""
        for hook in self.hooks("finish"):
            try:
                await hook()
            except Exception:
                self.give_up("Error in finish of %(about)s", "the crawl")


def key_of(crawler: Crawler) -> Callable[[Request], bytes]:
    """Return what tells which page a request asks for: its fingerprint, as Scrapy makes it for *crawler*."""
    fingerprinter = crawler.request_fingerprinter
    if fingerprinter is None:
        raise RuntimeError("the crawler has no request fingerprinter yet")
    return fingerprinter.fingerprint


def is_start(request: Request) -> bool:
    """Tell whether the spider began with *request*."""
    # A spider that passes its meta on passes this on too, and the depth tells.
    return bool(request.meta.get("is_start_request")) and not request.meta.get("depth")


def may_be_skipped(request: Request) -> bool:
    """Tell whether *request* may be skipped at all: not if the spider began with it, or has opted out."""
    return (
        request.method == "GET"
        and request.callback is not NO_CALLBACK
        and not is_start(request)
        and request.meta.get(names.META) is not False
    )


def asked_of(request: Request) -> Mapping[str, Any]:
    """Return what *request* asks for in its meta; empty if that is nothing, or no dictionary."""
    asked = request.meta.get(names.META)
    return asked if isinstance(asked, dict) else {}


def own_of(request: Request) -> Mapping[str, Any]:
    """Return what we have written into the meta of *request* for ourselves."""
    own: Mapping[str, Any] = request.meta.get(names.META_OWN, {})
    return own


def meta_with(request: Request, name: str, value: object) -> dict[str, Any]:
    """Return the meta of *request* with one thing more for ourselves."""
    return {**request.meta, names.META_OWN: {**own_of(request), name: value}}


def take_own(request: Request, name: str) -> Any:
    """Return what we have written by this *name*, None for nothing, and take it out."""
    own = own_of(request)
    if name in own:
        rest = {other: value for other, value in own.items() if other != name}
        if rest:
            request.meta[names.META_OWN] = rest
        else:
            del request.meta[names.META_OWN]
    return own.get(name)


def asked_without_us(request: Request) -> Request:
    """Return *request* once more, as one that is neither skipped nor answered here: its page comes in full."""
    again = request.replace(dont_filter=True, meta={**request.meta, names.META: False})
    for name in VALIDATORS:
        again.headers.pop(name, None)
    return again


def asks_again(request: Request, response: Response) -> bool:
    """Tell whether *request* asks for the page of *response* once more: a retry is no link."""
    if response.request is None:
        return False
    asked = response.request
    if (request.method, request.url, request.body) == (asked.method, asked.url, asked.body):
        return True
    # To a wall, perhaps: the callback asks again at the URL that it wanted.
    redirects = asked.meta.get("redirect_urls")
    return isinstance(redirects, list | tuple) and request.url in redirects


class Depths:
    """Reads the depth of requests, and knows whether anybody counts: that middleware may be switched off."""

    def __init__(self, settings: BaseSettings) -> None:
        # A class and its import path are one middleware, and who comes last is the project.
        orders = {
            load_object(path): order for path, order in settings.getwithbase("SPIDER_MIDDLEWARES").items()
        }
        self.are_counted = any(
            order is not None and isinstance(middleware, type) and issubclass(middleware, DepthMiddleware)
            for middleware, order in orders.items()
        )

    def of(self, request: Request) -> int | None:
        """Return the depth of *request*, 0 for a start page, None where nobody counts."""
        depth = request.meta.get("depth")
        if isinstance(depth, int):
            return depth
        # Whoever counts gives a depth to all that comes from a callback.
        return 0 if self.are_counted or request.meta.get("is_start_request") else None


def tree_of(response: Response) -> Any:
    """Return the root of the tree, the very one that the spider gets; None for JSON that calls itself HTML."""
    root = response.selector.root  # type: ignore[attr-defined]  # who asks knows that it is HTML
    return root if hasattr(root, "iter") else None


#: Values of one header that are read; a server may send any number.
MAX_VALUES = 1_000


def header_values(response: Response, name: bytes) -> list[str]:
    """Return the first `MAX_VALUES` values of an HTTP header; *name* is written as ``Content-Language`` is.

    Read as the dictionary that it is: all names in there are written so, and to ask Scrapy takes ten calls.
    """
    values: list[bytes] = dict.get(response.headers, name, [])
    return [value.decode("latin-1") for value in values[:MAX_VALUES]] if values else []


def last_value(response: Response, name: bytes) -> bytes:
    """Return the last value of an HTTP header as it came, empty if there is none; *name* as for `header_values`."""
    values: list[bytes] = dict.get(response.headers, name, [])
    return values[-1] if values else b""


def language_of(response: Response) -> str:
    """Return the value of ``Content-Language``, empty if there is none."""
    values: list[bytes] = dict.get(response.headers, b"Content-Language", [])
    return values[-1].decode("latin-1") if values else ""
