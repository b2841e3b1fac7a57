"""Page, Listener, and functions that middlewares and listeners share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK

from scrapy_simhash import names
from scrapy_simhash.config import Config
from scrapy_simhash.judge.hints import Hints, protections, read_hints
from scrapy_simhash.verdict import Status, Verdict

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

    from scrapy_simhash.action import Action
    from scrapy_simhash.fingerprinter import PageFingerprinter, Reading
    from scrapy_simhash.judge.policy import Protection
    from scrapy_simhash.page.text import Document
    from scrapy_simhash.store import Store
    from scrapy_simhash.waiting import MaybeAwaitable

T = TypeVar("T")


def config_of(settings: BaseSettings) -> Config:
    """Return the configuration in *settings*. Raises SettingError, and NotConfigured if the plugin is off."""
    config = Config.from_settings(settings)
    if not config.enabled:
        raise NotConfigured("SIMHASH_ENABLED is off")
    return config


def is_crawl(crawler: Crawler) -> bool:
    """Return whether *crawler* runs a crawl: False for ``scrapy shell``, ``fetch``, ``parse`` and ``check``.

    Call it while components are created: the result is False once a crawl is stopping.
    """
    # scrapy shell uses the engine directly and never calls crawl().
    if not crawler.crawling:
        return False
    # The other commands replace start() of the spider class.
    start = getattr(type(crawler.spider), "start", None)
    return not getattr(start, "__module__", "").startswith("scrapy.commands.")


#: Attribute of a crawler with the objects that its components share, by class.
_SHARED = "_simhash_shared"


def share(crawler: Crawler, part: T) -> T:
    """Share *part* with all components of *crawler*, see `shared`, and return it."""
    vars(crawler).setdefault(_SHARED, {})[type(part)] = part
    return part


def shared(crawler: Crawler, kind: type[T]) -> T | None:
    """Return the shared object of class *kind*; None if no component of *crawler* shares one."""
    found: T | None = vars(crawler).get(_SHARED, {}).get(kind)
    return found


class Once:
    """Logs messages that could repeat for every page: the first of each kind as a warning, later ones at DEBUG."""

    def __init__(self, crawler: Crawler, logger: logging.Logger, stat: str = "") -> None:
        """*stat* is the name of the stat that counts exceptions, see `log_exception`."""
        self._crawler = crawler
        self._logger = logger
        self._stat = stat
        self._is_debug = crawler.settings.getbool("SIMHASH_DEBUG")
        self._logged: set[str] = set()

    def is_first(self, kind: str) -> bool:
        """Return whether this is the first call for *kind*."""
        is_first = kind not in self._logged
        self._logged.add(kind)
        return is_first

    def show(self, kind: str, message: str, values: Mapping[str, object]) -> None:
        """Log *message* with *values* at DEBUG: only the first of each *kind*, or all with ``SIMHASH_DEBUG``."""
        if self.is_first(kind) or self._is_debug:
            hint = "" if self._is_debug else " - no more will be shown (see SIMHASH_DEBUG to show all)"
            self._logger.debug(message + hint, values, extra={"spider": self._crawler.spider})

    def warn(
        self, kind: str, message: str, values: dict[str, object], error: bool | Exception | None = None
    ) -> None:
        """Log *message* with *values*: the first of its *kind* at level WARNING, others at DEBUG."""
        level = logging.WARNING if self.is_first(kind) else logging.DEBUG
        self._logger.log(level, message, values, exc_info=error, extra={"spider": self._crawler.spider})

    def log_exception(self, message: str, about: object) -> None:
        """Count and log the exception being handled; *message* contains ``%(about)s`` for *about*."""
        stats_of(self._crawler).inc_value(self._stat)
        further = "Further failures are logged at level DEBUG and counted in the stat %(stat)s"
        self.warn("exception", f"{message}. {further}", {"about": about, "stat": self._stat}, error=True)


def stats_of(crawler: Crawler) -> StatsCollector:
    """Return the stats collector of *crawler*. Raises RuntimeError before Scrapy has created it."""
    stats = crawler.stats
    if stats is None:
        raise RuntimeError("the crawler has no stats collector yet")
    return stats


def counted(number: int, noun: str) -> str:
    """Return *number* and *noun*, in the plural unless *number* is 1.

    >>> counted(1, "revisit"), counted(0, "near-duplicate")
    ('1 revisit', '0 near-duplicates')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# --- Reading a request and its response.


_UNKNOWN = Verdict(Status.UNKNOWN)


@dataclass
class Page:
    """A response on its way to the spider, with its reading, verdict and action.

    Costly attributes are computed once, at their first use.
    """

    request: Request
    response: Response
    fingerprinter: PageFingerprinter
    verdict: Verdict = _UNKNOWN
    reading: Reading | None = None
    """The fingerprint and the hashes of the text; None for a response that was not read, such as an image."""
    key: bytes | None = None
    """The key of the page's row in the store; None if the page was not looked up."""
    is_kept: bool = False
    """Whether the page comes from the HTTP cache: then it was not read, and its verdict is the stored one."""
    action: Action | None = None
    """The action; None for a page that is neither a near-duplicate nor unchanged."""
    protected: Protection | None = None
    """Why the page or its links are kept although the action would drop them; None if no protection applies."""
    dropped_as: str | None = None
    """``near_duplicate`` or ``unchanged``, None if nothing is dropped."""

    @property
    def url(self) -> str:
        """The URL of the response."""
        return self.response.url

    @property
    def asked(self) -> Mapping[str, Any]:
        """The dictionary in ``meta["simhash"]``."""
        return asked_of(self.request)

    @property
    def depth(self) -> int:
        """Number of links followed from a start page to this page; always 0 if DepthMiddleware is off."""
        depth: int = self.request.meta.get("depth", 0)
        return depth

    @cached_property
    def tree(self) -> Any:
        """The root of the lxml tree, shared with the spider; None for JSON served as HTML."""
        return tree_of(self.response)

    @cached_property
    def hints(self) -> Hints:
        """The URLs in the head of the page, such as the canonical URL."""
        return read_hints(self.tree, self.response.url)

    @cached_property
    def document(self) -> Document:
        """The paragraphs and the main text. Takes a few milliseconds."""
        return self.fingerprinter.extract(self.tree, content_language=language_of(self.response))

    def protections(self, wanted: Collection[str]) -> Iterable[str]:
        """Yield the *wanted* protections that apply, see `scrapy_simhash.judge.hints.protections`."""
        verdict, url = self.verdict, self.response.url
        return protections(
            self.tree,
            url,
            verdict.duplicate_of or url,
            self.hints,
            verdict.hints,
            wanted,
            verdict.contradicts,
        )


class Listener:
    """A feature that observes a crawl, created only if its setting is on; see ``crawl/listeners.py``.

    A subclass overrides the hooks that it needs, and can connect to Scrapy's signals. Unless stated otherwise, an
    exception in a hook is counted and logged, and affects neither the page nor other listeners.
    """

    needs_requests = True
    """Whether `request_sent` is called, which costs a coroutine for each request."""

    def __init__(self, crawler: Crawler, config: Config) -> None:
        """Create the listener. Raises SettingError for a wrong setting, to stop the crawl."""

    def store_opened(self, store: Store) -> None:
        """Called with the store before the first page. Raises SettingError or StoreError to stop the crawl."""

    def request_sent(self, request: Request) -> MaybeAwaitable[Request | Response | None]:
        """Called before a request is downloaded, like ``process_request`` of a downloader middleware.

        Return None to send *request*, or a request or response that replaces it; raise IgnoreRequest to drop it.
        """

    def page_compared(self, page: Page) -> None:
        """Called for each response, including skipped pages, before the spider gets it: see ``page.verdict``.

        The verdict and the action are known, and the result is in the meta.
        """

    async def closing(self) -> None:
        """Called at the end of the crawl, while the store is open."""


def key_of(crawler: Crawler) -> Callable[[Request], bytes]:
    """Return the function that returns the key of a request, from the request fingerprinter of *crawler*."""
    fingerprinter = crawler.request_fingerprinter
    if fingerprinter is None:
        raise RuntimeError("the crawler has no request fingerprinter yet")
    return fingerprinter.fingerprint


def is_start(request: Request) -> bool:
    """Return whether *request* is a start request of the spider."""
    # A request that copies the meta of a start request also has a depth.
    return bool(request.meta.get("is_start_request")) and not request.meta.get("depth")


def may_be_skipped(request: Request) -> bool:
    """Return whether *request* is neither a start request nor has ``simhash: False`` in the meta."""
    return (
        request.method == "GET"
        and request.callback is not NO_CALLBACK
        and not is_start(request)
        and request.meta.get(names.META) is not False
    )


def asked_of(request: Request) -> Mapping[str, Any]:
    """Return ``meta["simhash"]`` of *request*; empty if it is missing or not a dictionary."""
    asked = request.meta.get(names.META)
    return asked if isinstance(asked, dict) else {}


def internal_of(request: Request) -> Mapping[str, Any]:
    """Return the plugin's internal values in the meta of *request*."""
    values: Mapping[str, Any] = request.meta.get(names.META_INTERNAL, {})
    return values


def meta_with(request: Request, name: str, value: object) -> dict[str, Any]:
    """Return the meta of *request* with the internal value *name* set to *value*."""
    return {**request.meta, names.META_INTERNAL: {**internal_of(request), name: value}}


def take_internal(request: Request, name: str) -> Any:
    """Remove the internal value *name* from the meta and return it; None if it is missing."""
    values = internal_of(request)
    if name in values:
        rest = {other: value for other, value in values.items() if other != name}
        if rest:
            request.meta[names.META_INTERNAL] = rest
        else:
            del request.meta[names.META_INTERNAL]
    return values.get(name)


def asks_again(request: Request, response: Response) -> bool:
    """Return whether *request* retries the request of *response*, and does not follow a link."""
    if response.request is None:
        return False
    asked = response.request
    if request.url == asked.url and (request.method, request.body) == (asked.method, asked.body):
        return True
    # The redirect may lead to an interstitial, and the callback may then retry the redirected URL.
    redirects = asked.meta.get("redirect_urls")
    return isinstance(redirects, list | tuple) and request.url in redirects


def tree_of(response: Response) -> Any:
    """Return the root of the tree, shared with the spider; None for JSON served as HTML."""
    root = response.selector.root  # type: ignore[attr-defined]  # called for HTML only
    return root if hasattr(root, "iter") else None


def main_text(response: Response) -> str:
    """Return the main text of an HTML page, one paragraph per line; empty for any other response.

    Pages are compared by this text, which has no navigation, advertisements and footers. The call takes a few
    milliseconds. :meth:`PageFingerprinter.extract() <scrapy_simhash.PageFingerprinter.extract>` also returns the
    title and the language.
    """
    root = tree_of(response) if isinstance(response, HtmlResponse) else None
    return "" if root is None else _reader().extract(root, content_language=language_of(response)).text


@cache
def _reader() -> PageFingerprinter:
    from scrapy_simhash.fingerprinter import PageFingerprinter

    return PageFingerprinter()


def language_of(response: Response) -> str:
    """Return the value of ``Content-Language``; empty if the header is missing."""
    values: list[bytes] = dict.get(response.headers, b"Content-Language", [])
    return values[-1].decode("latin-1") if values else ""
