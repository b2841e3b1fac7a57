"""Delivery: let the items of a copy wait until a page with the same text delivers an item, or no page will.

A text is identified by the number of its cluster and a fingerprint. A text is *delivered* once an item of a page with
this text was scraped, *pending* while such a page is in its callback or in the pipelines, and *failed* if the last of
these pages ended without an item. Items of a copy are dropped if its text is delivered, delivered if the text failed,
and otherwise wait until the text is delivered or has failed, or the spider is idle. With ``drop_page`` the callback
of a copy is called until a page with the same text is delivered.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from itemadapter import ItemAdapter, is_item
from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future

from scrapy_simhash import names
from scrapy_simhash.crawl.drops import Drops
from scrapy_simhash.crawl.marks import UNCHANGED, PageResult, result_of
from scrapy_simhash.crawling import Once, internal_of, key_of, stats_of
from scrapy_simhash.exceptions import StoreError

if TYPE_CHECKING:
    from typing import TypeGuard

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

    from scrapy_simhash.crawl.store_session import StoreSession
    from scrapy_simhash.page.fingerprint import Fingerprint
    from scrapy_simhash.verdict import Verdict

logger = logging.getLogger(__name__)

#: Max copies per text whose items wait.
MAX_WAITING_OF_TEXT = 3
#: Max waiting copies of all texts.
MAX_WAITING = 20_000
#: Max texts per cluster that are recorded as delivered, in addition to the text of the original.
MAX_TEXTS = 16
#: Max copies without an item per callback. After that, a callback that also yielded no item for the originals gets no
#: more pages with the action ``drop_page``.
PROBES = 3

#: The state of a cluster, as bits: the original was visited in this crawl; the callback of the original ended; the
#: text of the original was delivered; a page with this text ended without an item; its callback yielded no item,
#: raised no exception and did not request the page again, as for a listing; its callback yielded requests.
_VISITED, _ENDED, _DELIVERED, _FAILED, _IS_EMPTY, _HAS_REQUESTS = (1 << bit for bit in range(6))

#: Keys of internal values in the meta: the request carries an item of a page that is delivered, or of a waiting copy.
OF_NEW, OF_COPY = CARRIED = "of_new", "of_copy"


class _States(dict[int, bytearray]):
    """The state of each cluster as a byte: ``states[number >> 12][number & 4095]``."""

    def __missing__(self, number: int) -> bytearray:
        chunk = self[number] = bytearray(4096)
        return chunk


@dataclass(slots=True, eq=False)
class OpenPage:
    """A page whose callback is running, or whose items are in the pipelines."""

    response: Response
    result: PageResult
    cluster: int
    """Number of the cluster of the text that the page may deliver."""
    is_in_place: bool = False
    """Whether the page is a copy that is delivered instead of its original, regardless of its action."""
    has_waited: bool = False
    """Whether the items of the page have waited, and are now sent by `Deliveries`."""
    open: int = 0
    """Number of items in the pipelines."""
    items: int = 0
    """Number of all items."""
    has_ended: bool = False
    has_raised: bool = False
    has_requests: bool = False
    """Whether the callback yielded a request, except for the page itself."""
    is_retried: bool = False
    """Whether the callback requested the page again, as for an interstitial."""
    is_delivered: bool = False


class WaitingCopy(NamedTuple):
    """The items of a waiting copy, with a response without a body."""

    result: PageResult
    response: Response
    items: Sequence[Any]


class Deliveries:
    """Records which texts are delivered, and lets the items of copies of other texts wait."""

    def __init__(self, crawler: Crawler, session: StoreSession) -> None:
        self._crawler = crawler
        self._session = session
        self._key_of = key_of(crawler)
        self._detector = detector = session.detector
        # Whether deliveries of earlier crawls count, and whether deliveries of this crawl are stored.
        self._keeps_former = detector.config.revisit_action != "mark"
        self._is_stored = session.is_crawl and not session.forgets
        self._is_remote = detector.store.is_remote
        self._log_exception = Once(crawler, logger, names.ERRORS_ACTION).log_exception
        self._states = _States()
        # Fingerprints of copies that were delivered, by cluster.
        self._others: dict[int, list[Fingerprint | None]] = {}
        #: Pages between callback and pipelines, by the id of the response.
        self.pages: dict[int, OpenPage] = {}
        # Number of such pages plus number of requests that carry items of such pages, by cluster.
        self._pending: dict[int, int] = {}
        self._waiting: dict[int, list[WaitingCopy]] = {}
        self._number = 0
        # Callbacks that yielded items, callbacks that yielded an item for a copy instead of its original, and the
        # number of copies without items for each callback.
        self._yielding: set[str] = set()
        self._found: set[str] = set()
        self._misses: Counter[str] = Counter()
        self._tasks: set[Deferred[Any]] = set()
        self._releasing: set[int] = set()
        self.drops = Drops(crawler)
        #: Functions that return requests to queue when a resumable crawl is stopped.
        self.requests_to_queue: list[Callable[[], list[Request]]] = []
        for signal, handler in (
            (signals.item_scraped, self._item_scraped),
            (signals.item_dropped, self._item_lost),
            (signals.item_error, self._item_lost),
            (signals.spider_opened, self._spider_opened),
            (signals.spider_idle, self._spider_idle),
        ):
            crawler.signals.connect(handler, signal=signal)

    # --- Pages, before the spider gets them.

    def note(self, result: PageResult) -> None:
        """Record the text of a page. An original whose text has changed has a new number."""
        verdict = result.verdict
        result.cluster = cluster = verdict.text_number
        if cluster is None:
            return
        state = _DELIVERED if self._keeps_former and verdict.is_delivered else 0
        if verdict.duplicate_of is None:
            state |= _VISITED
        elif verdict.contradicts and verdict.also_near:
            cluster = verdict.also_near[0]
        result.original = cluster
        if state:
            self._states[cluster >> 12][cluster & 4095] |= state

    async def look_up(self, verdict: Verdict) -> None:
        """If the original of a copy was not visited in this crawl, look up in the store whether it was delivered.

        Raises StoreError.
        """
        cluster, key = verdict.text_number, verdict.original_key
        if cluster is None or key is None or self._state(cluster) & (_VISITED | _DELIVERED):
            return
        if await self._session.is_delivered(key):
            self._change(cluster, _DELIVERED)

    def _state(self, cluster: int) -> int:
        return self._states[cluster >> 12][cluster & 4095]

    def _change(self, cluster: int, added: int, removed: int = 0) -> None:
        chunk = self._states[cluster >> 12]
        chunk[cluster & 4095] = chunk[cluster & 4095] & ~removed | added

    # --- The callback.

    def begin(self, response: Response, result: Any, items: int = 0) -> None:
        """Record that the page of *response* is passed to its callback, and that its items will be delivered.

        *items* is the number of items that its callback has yielded.
        """
        cluster, is_in_place = getattr(result, "cluster", None), False
        if cluster is None:
            if not _carried_by(response.request):
                return
            result, cluster = _NO_TEXT, -1
        elif result.get("action") not in (None, "mark"):
            if result.verdict.duplicate_of is not None:
                # A copy that is delivered instead of its original delivers the text of the original.
                cluster, is_in_place = result.original, True
            else:
                # An unchanged page that carries the item of another page: the item may be new.
                result["action"] = "mark"
        self.pages[id(response)] = OpenPage(response, result, cluster, is_in_place, open=items, items=items)
        self._pending[cluster] = self._pending.get(cluster, 0) + 1

    def end(self, response: Response, *, has_raised: bool) -> None:
        """Record that a callback ended, with or without an exception."""
        page = self.pages.get(id(response))
        if page is None:
            return
        page.has_ended, page.has_raised = True, has_raised
        if not has_raised:
            self._states[page.cluster >> 12][page.cluster & 4095] |= _ENDED
        if not page.open:
            self._settle(page)

    def has_ended(self, result: Mapping[str, Any]) -> bool:
        """Return whether the callback of the original of a page has ended, so that its links are known."""
        return isinstance(result, PageResult) and bool(self._state(result.original) & _ENDED)

    def waits(self, result: Mapping[str, Any]) -> TypeGuard[PageResult]:
        """Return whether the action for a copy must wait, because its text is not known to be delivered."""
        if not isinstance(result, PageResult) or result.get("action") in (None, "mark"):
            return False
        verdict, cluster = result.verdict, result.original
        if verdict.duplicate_of is None or result["dropped_as"] == UNCHANGED:
            return False
        if self._states[cluster >> 12][cluster & 4095] & _DELIVERED:
            return False
        others = self._others.get(cluster)
        return not others or not any(self._are_near(verdict.fingerprint, other) for other in others)

    def is_carrying(self, request: Request) -> bool:
        """Return whether *request* carries an item of a page that is delivered, or of a waiting copy."""
        if names.META_INTERNAL not in request.meta:
            return False
        own = internal_of(request)
        return OF_NEW in own or any(not self._state(one) & _DELIVERED for one in own.get(OF_COPY, ()))

    def has_failed(self, copy: PageResult) -> bool:
        """Return whether no page can deliver the text of a waiting copy any more."""
        cluster = copy.original
        is_failed = bool(self._state(cluster) & _FAILED)
        return is_failed and cluster not in self._pending and cluster not in self._waiting

    def yields_nothing(self, request: Request, copy: PageResult) -> bool:
        """Return whether the callback of a copy whose text failed probably yields no item, as for a listing."""
        callback, state = _callback_of(request), self._state(copy.original)
        return (
            bool(state & _IS_EMPTY)
            and (bool(state & _HAS_REQUESTS) or callback not in self._yielding)
            and callback not in self._found
            and self._misses[callback] >= PROBES
        )

    def add_waiting(self, response: Response, copy: PageResult, items: list[Any]) -> bool:
        """Let the items of a copy wait, and return True; False if its text failed or the limit is reached."""
        if self.has_failed(copy):
            return False
        waiting = self._waiting.get(copy.original, [])
        if self._number >= MAX_WAITING or len(waiting) >= MAX_WAITING_OF_TEXT:
            self._count("beyond_limit")
            return False
        # Release the body, which is no longer needed.
        self._waiting[copy.original] = [*waiting, WaitingCopy(copy, response.replace(body=b""), items)]
        self._number += 1
        self._count("items", len(items))
        return True

    def _are_near(self, one: Fingerprint | None, other: Fingerprint | None) -> bool:
        # A page that is too short for a fingerprint belongs to a cluster with only one text.
        if one is None or other is None:
            return one is other
        try:
            return self._detector.fingerprinter.is_near_duplicate(one, other)
        except Exception:
            # Both texts are delivered.
            self._log_exception(
                "Error while comparing %(about)s: both are delivered", "two texts of a cluster"
            )
            return False

    # --- Outcomes.

    def _item_scraped(self, response: Response | None) -> None:
        """Record that the text of a page is delivered, and drop the waiting items of its copies."""
        page = self.pages.get(id(response))
        if page is None:
            return
        page.open -= 1
        if not page.is_delivered:
            page.is_delivered = True
            cluster, request, verdict = page.cluster, page.response.request, page.result.verdict
            chunk, place = self._states[cluster >> 12], cluster & 4095
            delivered = verdict.fingerprint
            # A page whose facts contradict those of its original is also the first page of a cluster.
            if verdict.duplicate_of is None or cluster != page.result.original:
                chunk[place] = chunk[place] & ~_FAILED | _DELIVERED
            elif not chunk[place] & _DELIVERED:
                chunk[place] &= ~_FAILED
                others = self._others.setdefault(cluster, [])
                if len(others) < MAX_TEXTS and not any(self._are_near(delivered, other) for other in others):
                    others.append(delivered)
            if cluster in self._waiting:
                self._drop_waiting(cluster, lambda fingerprint: self._are_near(fingerprint, delivered))
            for carrier in _carried_by(request) if request and names.META_INTERNAL in request.meta else ():
                self._change(carrier, _DELIVERED, _FAILED)
                self._drop_waiting(carrier)
        if page.has_ended and not page.open:
            self._settle(page)

    def _item_lost(self, response: Response | None, failure: object = None) -> None:
        page = self.pages.get(id(response))
        if page is not None and page.open > 0:
            page.open -= 1
            page.has_raised |= failure is not None
            self._settle(page)

    def _drop_waiting(
        self, cluster: int, has_text: Callable[[Fingerprint | None], bool] = lambda fingerprint: True
    ) -> None:
        """Drop the waiting copies of *cluster* for whose fingerprints *has_text* is true."""
        left = []
        for waiting in self._waiting.pop(cluster, []):
            if not has_text(waiting.result.verdict.fingerprint):
                left.append(waiting)
                continue
            self._number -= 1
            self._count("dropped", len(waiting.items))
            for item in waiting.items:
                self.drops.item(item, waiting.response, waiting.result)
        if left:
            self._waiting[cluster] = left

    def _settle(self, page: OpenPage) -> None:
        """Record the outcome of a page whose callback has ended and whose items were processed."""
        if page.open > 0 or not page.has_ended or self.pages.pop(id(page.response), None) is None:
            return
        request, verdict = page.response.request, page.result.verdict
        if request is None:
            return
        callback = _callback_of(request)
        if page.items:
            self._yielding.add(callback)
        is_empty = not (page.items or page.has_raised or page.is_retried)
        if page.is_in_place:
            if page.is_delivered:
                self._found.add(callback)
            self._misses[callback] += is_empty
        if page.result is not _NO_TEXT:
            if not page.is_delivered:
                # No item was scraped: record the kind of page.
                how = _FAILED | (_HAS_REQUESTS if page.has_requests else 0)
                how |= _IS_EMPTY if is_empty else 0
                self._change(page.cluster, how, _IS_EMPTY | _HAS_REQUESTS)
            elif self._is_stored and not page.has_raised:
                self._detector.deliver(self._key_of(request), verdict.page_hash)
        # The page was pending for its text, and for the pages whose item it carries.
        carried = _carried_by(request) if names.META_INTERNAL in request.meta else ()
        for cluster in (page.cluster, *carried):
            pending = self._pending.pop(cluster, 0)
            if pending > 1:
                self._pending[cluster] = pending - 1
            elif not page.is_delivered and cluster in self._waiting:
                self._start(cluster)

    # --- Waiting copies.

    def _start(self, cluster: int) -> None:
        if cluster in self._releasing:
            return
        task = deferred_from_coro(self._release(cluster))
        self._tasks.add(task)
        task.addBoth(lambda _: self._tasks.discard(task))

    async def _release(self, cluster: int) -> None:
        """Send the items of the waiting copies of *cluster*, copy by copy, until one is delivered."""
        self._releasing.add(cluster)
        try:
            waiting = self._waiting.get(cluster)
            if waiting and await self._is_delivered_elsewhere(waiting[0].result.verdict):
                self._change(cluster, _DELIVERED)
                self._drop_waiting(cluster)
            while waiting := self._waiting.get(cluster):
                first = waiting.pop(0)
                self._number -= 1
                if not waiting:
                    del self._waiting[cluster]
                await self._send_items(cluster, first)
        except Exception:
            self._log_exception(
                "Error while sending the waiting items of %(about)s: the remaining items are sent later",
                f"cluster {cluster}",
            )
        finally:
            self._releasing.discard(cluster)
            # Make the engine check now whether the spider is idle; otherwise the engine checks every five seconds.
            call = getattr(getattr(self._crawler.engine, "_slot", None), "nextcall", None)
            if call is not None:
                call.schedule()

    async def _is_delivered_elsewhere(self, copy: Verdict) -> bool:
        """Return whether another crawler has now delivered the original of a copy."""
        key = copy.original_key
        try:
            return key is not None and self._is_remote and await self._session.is_delivered(key)
        except StoreError as error:
            self._session.failed(error)
            return False

    async def _send_items(self, cluster: int, waiting: WaitingCopy) -> None:
        """Send the items of a copy through the pipelines, and wait until they have passed."""
        response, engine = waiting.response, self._crawler.engine
        if engine is None:
            return
        page = OpenPage(response, waiting.result, cluster, has_waited=True)
        page.open = page.items = len(waiting.items)
        self.pages[id(response)] = page
        self._pending[cluster] = self._pending.get(cluster, 0) + 1
        self._count("delivered", len(waiting.items))
        scraper: Any = engine.scraper
        # Scrapy 2.13 has only ``start_itemproc``.
        send = getattr(scraper, "start_itemproc_async", None)
        for item in waiting.items:
            try:
                if send is not None:
                    await send(item, response=response)
                else:
                    await maybe_deferred_to_future(scraper.start_itemproc(item, response=response))
            except Exception:
                self._log_exception(
                    "Error while sending an item of %(about)s: the item may be lost", response
                )
        # Items count as processed even if a pipeline suppressed their signals.
        page.open, page.has_ended = 0, True
        self._settle(page)
        # A scraper that is being stopped checks whether it has finished only when the items of a response have ended.
        closing = getattr(scraper.slot, "closing", None)
        if closing is not None and not closing.called:
            scraper._check_if_closing()

    # --- The end.

    def _spider_opened(self) -> None:
        """Delay the closing of the pipelines until the waiting items are processed."""
        processor: Any = getattr(getattr(self._crawler.engine, "scraper", None), "itemproc", None)
        if processor is None:
            return
        # Scrapy 2.13 has only ``close_spider``, which takes the spider and returns a Deferred.
        is_async = hasattr(processor, "close_spider_async")
        name = "close_spider_async" if is_async else "close_spider"
        close = getattr(processor, name)

        async def finish_and_close(*spider: Spider) -> Any:
            await self.finish()
            closing = close(*spider)
            return await (closing if is_async else maybe_deferred_to_future(closing))

        hook = finish_and_close if is_async else lambda *spider: deferred_from_coro(finish_and_close(*spider))
        setattr(processor, name, hook)

    def _spider_idle(self) -> None:
        """Deliver waiting items whose text no page has delivered."""
        # These pages have ended, even if a middleware removed their items.
        for page in list(self.pages.values()):
            if not page.has_waited:
                page.open, page.has_ended = 0, True
                self._settle(page)
        for cluster in list(self._waiting):
            self._start(cluster)
        if self._tasks:
            raise DontCloseSpider

    async def finish(self) -> None:
        """Before the pipelines close, deliver the waiting items, and return requests to a queue on disk."""
        await self._finish_tasks()
        for cluster in list(self._waiting):
            await self._release(cluster)
        slot = getattr(self._crawler.engine, "_slot", None)
        if self._crawler.settings.get("JOBDIR") and slot is not None:
            for requests_of in self.requests_to_queue:
                try:
                    for request in requests_of():
                        slot.scheduler.enqueue_request(request)
                except Exception:
                    # Otherwise Scrapy would close neither the pipelines nor the queue.
                    self._log_exception(
                        "Error while returning skipped requests to the queue in %(about)s: the resumed crawl may not"
                        " send them",
                        "JOBDIR",
                    )
        await self._finish_tasks()

    async def _finish_tasks(self) -> None:
        # The end of a delivery may start another delivery.
        while self._tasks:
            await maybe_deferred_to_future(next(iter(self._tasks)))

    # --- Items that are collected over several requests.

    def note_request(self, request: Request, response: Response, page: OpenPage | None) -> None:
        """Record that a page yielded *request*. If the request carries an item, the next page has to deliver it.

        Does nothing for a copy whose text is delivered. The text of this page is pending until the next page delivers
        an item.
        """
        result, carried = result_of(response), {*_carried_by(response.request)}
        if not carries_item(request) or (page is None and not self.waits(result)):
            return
        if isinstance(result, PageResult) and result.cluster is not None:
            carried.add(result.original)
        for cluster in carried:
            self._pending[cluster] = self._pending.get(cluster, 0) + 1
        of = OF_COPY if page is None else OF_NEW
        request.meta[names.META_INTERNAL] = {**internal_of(request), of: sorted(carried)}

    def _count(self, what: str, number: int = 1) -> None:
        stats_of(self._crawler).inc_value(f"{names.STAT_WAITING}/{what}", number)


#: The result of a page that was not compared but carries an item.
_NO_TEXT = PageResult()
#: Prefixes of the meta keys that middlewares read.
_NO_ITEMS = ("_", names.META, "cookie", "download", "playwright", "proxy", "splash", "zyte_api")


def _carried_by(request: Request | None) -> Sequence[int]:
    """Return the clusters of the pages whose item *request* carries."""
    own: Mapping[str, Any] = {} if request is None else internal_of(request)
    return (*own.get(OF_NEW, ()), *own.get(OF_COPY, ()))


def carries_item(request: Request) -> bool:
    """Return whether *request* carries an item or an item loader; a category or a proxy does not count."""
    handed_on = [value for name, value in request.meta.items() if not name.startswith(_NO_ITEMS)]
    return any(
        hasattr(value, "load_item") or (is_item(value) and any(ItemAdapter(value)))
        for value in (*request.cb_kwargs.values(), *handed_on)
    )


def _callback_of(request: Any) -> str:
    """Return the name of the callback of a request, with the rule of a CrawlSpider."""
    return f"{getattr(request.callback, '__name__', 'parse')} {request.meta.get('rule', '')}"
