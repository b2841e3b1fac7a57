"""Delivery: the output of a copy waits until a page with its text delivers an item, and is delivered if none does.

A text is identified by the number of its cluster and a fingerprint. It is *delivered* once an item of a page with
this text was scraped, *pending* while such a page is in its callback or in the pipelines, and *failed* if the last of
these pages ended without an item. Items of a copy are dropped if its text is delivered, delivered if the text failed,
and otherwise kept until the text is confirmed or the spider is idle.
"""

from __future__ import annotations

import logging
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from itemadapter import ItemAdapter
from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future

from scrapy_simhash import names
from scrapy_simhash.crawl.marks import PageResult, result_of
from scrapy_simhash.crawling import Once, key_of, meta_with, own_of, stats_of
from scrapy_simhash.exceptions import StoreError
from scrapy_simhash.recent import Recent

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

    from scrapy_simhash.crawl.store_session import StoreSession
    from scrapy_simhash.page.fingerprint import Fingerprint
    from scrapy_simhash.verdict import Verdict

logger = logging.getLogger(__name__)

#: Max copies per text whose items or requests are kept.
MOST_OF_A_TEXT = 3
#: Max copies of all texts that are kept.
MOST = 20_000
#: Max texts per cluster that are remembered as delivered, besides that of its original.
MOST_TEXTS = 16
#: Max copies that are requested to test whether a callback that yielded no item for this text yields one now.
PROBES = 3

#: The state of a cluster, as bits: its original came in this crawl, the callback of the original ended, its text was
#: delivered; a page with this text ended without an item; without an error, as for a list; after requests.
_MET, _ENDED, _DELIVERED, _FAILED, _IS_QUIET, _HAS_LED = (1 << bit for bit in range(6))
#: Position of the number of the callback that yielded no item.
_CALLBACK = 8
_MOST_CALLBACKS = 255
_CHUNK = 4_096


class Facts:
    """Two bytes for the number of each cluster, 8 KiB for 4,096 in a row."""

    def __init__(self) -> None:
        self._chunks: dict[int, array[int]] = {}

    def of(self, number: int) -> int:
        """Return the state of a cluster."""
        chunk = self._chunks.get(number // _CHUNK)
        return 0 if chunk is None else chunk[number % _CHUNK]

    def change(self, number: int, given: int, taken: int = 0) -> None:
        """Clear the bits *taken* and set the bits *given* in the state of a cluster."""
        chunk = self._chunks.get(number // _CHUNK)
        if chunk is None:
            chunk = self._chunks[number // _CHUNK] = array("H", bytes(2 * _CHUNK))
        chunk[number % _CHUNK] = chunk[number % _CHUNK] & ~taken | given


class Text(NamedTuple):
    """The text of a page."""

    cluster: int
    """Number of the cluster of the page."""
    repeated: int
    """Number of the cluster of the original; it differs if the facts of the page contradict those of the original."""
    fingerprint: Fingerprint | None
    """None for a page that is too short for a fingerprint; its cluster has only one text."""
    is_original: bool
    page_hash: int | None = None


class Flight:
    """A page between its callback and the end of the pipelines."""

    __slots__ = ("cluster", "has_ended", "has_led", "has_raised", "is_delivered", "is_in_place",
                 "is_kept", "items", "open", "response", "result", "text")  # fmt: skip

    def __init__(self, response: Response, text: Text, cluster: int) -> None:
        """*cluster* is that of the text that it may deliver."""
        self.response = response
        self.text = text
        self.cluster = cluster
        #: The result in the meta of the page.
        self.result: Mapping[str, Any] = {}
        #: Number of items in the pipelines, and of all items.
        self.open = self.items = 0
        self.has_ended = self.has_raised = self.has_led = self.is_delivered = False
        #: Whether it is a copy that is delivered instead of its original, regardless of its action.
        self.is_in_place = False
        #: Whether its items were kept and are sent from here.
        self.is_kept = False


class Kept(NamedTuple):
    """A waiting copy: its items, with a response without a body, or its request."""

    text: Text
    response: Response | None
    items: tuple[Any, ...]
    request: Request | None


class Deliveries:
    """Records which texts are delivered, and keeps the output of copies of other texts."""

    def __init__(self, crawler: Crawler, session: StoreSession) -> None:
        self._crawler = crawler
        self._session = session
        self._key_of = key_of(crawler)
        detector = session.detector
        self._is_near = detector.fingerprinter.is_near_duplicate
        # Whether deliveries of earlier crawls count.
        self._keeps_former = detector.config.revisit_action != "mark"
        self._is_remote = detector.store.is_remote
        # Keys, by cluster, of originals that other crawlers may deliver while copies wait here.
        self._elsewhere: Recent[int, bytes] = Recent(MOST)
        self._give_up = Once(crawler, logger, names.ERRORS_ACTION).tell
        self._facts = Facts()
        # Texts of copies that were delivered.
        self._others: dict[int, list[Text]] = {}
        self._flights: dict[int, Flight] = {}
        # Number of pages by cluster that are in their callbacks or in the pipelines.
        self._pending: dict[int, int] = {}
        self._kept: dict[int, list[Kept]] = {}
        self._number = 0
        self._callbacks: dict[str, int] = {}
        self._giving: set[str] = set()
        self._probes: Counter[str] = Counter()
        self._found: set[str] = set()
        self._tasks: set[Deferred[Any]] = set()
        self._releasing: set[int] = set()
        #: Called with the item and response of each kept item that is dropped.
        self.drop: Callable[[Any, Response], None] = lambda item, response: None
        self._others_given_back: list[Callable[[], list[Request]]] = []
        for signal, handler in (
            (signals.item_scraped, self._item_scraped),
            (signals.item_dropped, self._item_lost),
            (signals.item_error, self._item_failed),
            (signals.spider_opened, self._spider_opened),
            (signals.spider_idle, self._spider_idle),
        ):
            crawler.signals.connect(handler, signal=signal)

    # --- Pages, before the spider gets them.

    def note(self, result: PageResult, verdict: Verdict) -> None:
        """Record the text of a page. An original with a new text has a new number."""
        cluster = verdict.text_number
        if cluster is None:
            return
        is_delivered = self._keeps_former and verdict.is_delivered
        if verdict.duplicate_of is not None:
            repeated = verdict.also_near[0] if verdict.contradicts and verdict.also_near else cluster
            result.text = Text(cluster, repeated, verdict.fingerprint, False, verdict.page_hash)
            if is_delivered:
                self._facts.change(repeated, _DELIVERED)
            return
        result.text = Text(cluster, cluster, verdict.fingerprint, True, verdict.page_hash)
        self._facts.change(cluster, _MET | _DELIVERED if is_delivered else _MET)

    async def look_up(self, verdict: Verdict) -> None:
        """If the original of a copy did not come in this crawl, look up in the store whether it was delivered.

        Raises StoreError.
        """
        cluster, key = verdict.text_number, verdict.original_key
        if cluster is None or key is None or self._facts.of(cluster) & (_MET | _DELIVERED):
            return
        if await self._session.is_delivered(key):
            self._facts.change(cluster, _DELIVERED)
        elif self._is_remote:
            self._elsewhere[cluster] = key

    async def _is_delivered_elsewhere(self, cluster: int) -> bool:
        """Return whether another crawler has delivered the original of *cluster*."""
        key = self._elsewhere.get(cluster)
        try:
            return key is not None and await self._session.is_delivered(key)
        except StoreError as error:
            self._session.failed(error)
            return False

    # --- The callback.

    def take_off(self, response: Response, result: Mapping[str, Any]) -> None:
        """Record that the page of *response* goes to its callback, and that its items are delivered."""
        text: Text | None = getattr(result, "text", None)
        if text is None:
            if not _carried_by(response.request):
                return
            text = _NO_TEXT
        # A copy that is delivered instead of its original delivers the text of the original.
        is_in_place = not text.is_original and result.get("action") not in (None, "mark")
        cluster = text.repeated if is_in_place else text.cluster
        flight = self._flights[id(response)] = Flight(response, text, cluster)
        flight.is_in_place, flight.result = is_in_place, result
        self._pending[cluster] = self._pending.get(cluster, 0) + 1

    def flight_of(self, response: Response | None) -> Flight | None:
        """Return the flight of the page of *response*, None if its items are not delivered."""
        return self._flights.get(id(response))

    def end_of_callback(self, flight: Flight, has_raised: bool) -> None:
        """Record that a callback ended, and whether with an exception."""
        flight.has_ended, flight.has_raised = True, has_raised
        if not has_raised:
            self._facts.change(flight.cluster, _ENDED)
        if not flight.open:
            self._settle(flight)

    def has_ended(self, response: Response) -> bool:
        """Return whether the callback of the original of *response* ended, so that its links are known."""
        text = _text_of(response)
        return text is not None and bool(self._facts.of(text.repeated) & _ENDED)

    def waits(self, response: Response) -> bool:
        """Return whether the text of the copy *response* is not known to be delivered."""
        text = _text_of(response)
        if text is None or text.is_original or self._facts.of(text.repeated) & _DELIVERED:
            return False
        others = self._others.get(text.repeated, ())
        return not any(self._are_near(text, other) for other in others)

    def is_asked_for(self, response: Response) -> bool:
        """Return whether a copy was requested for its items, or carries an item of a page that is delivered."""
        own = own_of(response.request) if response.request is not None else {}
        if ASKED in own or OF_NEW in own:
            return True
        return any(not self._facts.of(cluster) & _DELIVERED for cluster in own.get(OF_COPY, ()))

    def is_owed(self, response: Response, is_page: bool = False) -> bool:
        """Return whether a copy is delivered at once, since its text has failed.

        With *is_page* the callback has not been called; it is called only if it may yield an item.
        """
        text, request = _text_of(response), response.request
        if text is None or request is None:
            return True
        cluster = text.repeated
        if not self._facts.of(cluster) & _FAILED or cluster in self._pending or cluster in self._kept:
            return False
        return not is_page or not self._gives_nothing(cluster, request)

    def keep_items(self, response: Response, items: list[Any]) -> bool:
        """Keep the output of a copy until its text is confirmed; return False if there is no room."""
        # Release the body, which is no longer needed, and the callback, which keeps frames of the spider alive.
        kept = self._kept_of(response, response.replace(body=b""), items)
        if kept:
            self._count("items", len(items))
        return kept

    def keep_request(self, response: Response) -> bool:
        """Keep the request of a copy until its text is confirmed; False without room or if it cannot be resent."""
        request = response.request
        if request is None or request.method not in ("GET", "HEAD") or request.body:
            return False
        return self._kept_of(response, None, (), request)

    def _kept_of(
        self, response: Response, shell: Response | None, items: Iterable[Any], request: Request | None = None
    ) -> bool:
        text = _text_of(response)
        if text is None or not self._has_room(text.repeated):
            return False
        self._kept.setdefault(text.repeated, []).append(Kept(text, shell, tuple(items), request))
        self._number += 1
        return True

    def _has_room(self, cluster: int) -> bool:
        if self._number < MOST and len(self._kept.get(cluster, ())) < MOST_OF_A_TEXT:
            return True
        self._count("beyond_limit")
        return False

    def _are_near(self, one: Text, other: Text) -> bool:
        if one.fingerprint is None or other.fingerprint is None:
            return one.fingerprint is other.fingerprint
        return self._is_near(one.fingerprint, other.fingerprint)

    # --- Outcomes.

    def _item_scraped(self, response: Response | None) -> None:
        flight = self._flights.get(id(response))
        if flight is None:
            return
        flight.open -= 1
        if not flight.is_delivered:
            flight.is_delivered = True
            self._deliver(flight)
        if flight.has_ended and not flight.open:
            self._settle(flight)

    def _item_lost(self, response: Response | None) -> None:
        flight = self._flights.get(id(response))
        if flight is not None and flight.open > 0:
            flight.open -= 1
            self._settle(flight)

    def _item_failed(self, response: Response | None) -> None:
        if (flight := self._flights.get(id(response))) is not None:
            flight.has_raised = True
        self._item_lost(response)

    def _deliver(self, flight: Flight) -> None:
        """Record that a text is delivered, and drop the kept output of its copies."""
        cluster, request, text = flight.cluster, flight.response.request, flight.text
        # A page whose facts contradict those of its original is also the first page of a cluster.
        is_first = text.is_original or cluster != text.repeated
        if is_first:
            self._facts.change(cluster, _DELIVERED, _FAILED)
        elif text is not _NO_TEXT and not self._facts.of(cluster) & _DELIVERED:
            self._facts.change(cluster, 0, _FAILED)
            others = self._others.setdefault(cluster, [])
            if len(others) < MOST_TEXTS and not any(self._are_near(text, other) for other in others):
                others.append(text)
        if cluster in self._kept:
            self._drop_kept(cluster, lambda kept: self._are_near(kept.text, flight.text))
        if request is None or names.META_OWN not in request.meta:
            return
        if ASKED in own_of(request):
            self._found.add(_callback_of(request))
        for carrier in _carried_by(request):
            self._facts.change(carrier, _DELIVERED, _FAILED)
            self._drop_kept(carrier, lambda _: True)

    def _drop_kept(self, cluster: int, has_text: Callable[[Kept], bool]) -> None:
        """Drop the kept copies for which *has_text* is true."""
        left = []
        for kept in self._kept.pop(cluster, []):
            if has_text(kept):
                self._forget(kept)
            else:
                left.append(kept)
        if left:
            self._kept[cluster] = left

    def _forget(self, kept: Kept) -> None:
        self._number -= 1
        if kept.response is None:
            return
        self._count("dropped", len(kept.items))
        for item in kept.items:
            self.drop(item, kept.response)

    def _settle(self, flight: Flight) -> None:
        """End the flight of a page whose callback and items have ended."""
        if flight.open > 0 or not flight.has_ended or self._flights.pop(id(flight.response), None) is None:
            return
        request = flight.response.request
        if flight.items and request is not None:
            self._giving.add(_callback_of(request))
        if request is not None and flight.text is not _NO_TEXT:
            if not flight.is_delivered:
                self._note_failure(flight, request)
            elif not flight.has_raised and self._session.keeps_deliveries:
                self._session.note_delivered(self._key_of(request), flight.text.page_hash)
        self._land(flight.cluster, flight.is_delivered)
        if request is not None and names.META_OWN in request.meta:
            for carrier in _carried_by(request):
                self._land(carrier, flight.is_delivered)

    def _land(self, cluster: int, is_delivered: bool) -> None:
        """Record that a page that could deliver the text of *cluster* has ended."""
        pending = self._pending.get(cluster, 0)
        if pending > 1:
            self._pending[cluster] = pending - 1
            return
        self._pending.pop(cluster, None)
        if not is_delivered and cluster in self._kept:
            self._start(cluster)

    def _note_failure(self, flight: Flight, request: Request) -> None:
        """Record that a page ended without an item, and how."""
        is_quiet = not flight.items and not flight.has_raised
        known = self._callbacks.setdefault(
            _callback_of(request), min(len(self._callbacks) + 1, _MOST_CALLBACKS)
        )
        how = _FAILED | (_IS_QUIET if is_quiet else 0) | (_HAS_LED if flight.has_led else 0)
        self._facts.change(flight.cluster, how | known << _CALLBACK, _IS_QUIET | _HAS_LED | 255 << _CALLBACK)

    def _gives_nothing(self, cluster: int, request: Request) -> bool:
        """Return whether the callback of *request* ended without error and without an item for this text."""
        mine, facts = _callback_of(request), self._facts.of(cluster)
        return (
            bool(facts & _FAILED and facts & _IS_QUIET)
            and facts >> _CALLBACK == self._callbacks.get(mine)
            and mine not in self._found
            and (bool(facts & _HAS_LED) or mine not in self._giving)
        )

    # --- Kept copies.

    def _start(self, cluster: int) -> None:
        if cluster in self._releasing:
            return
        task = deferred_from_coro(self._release(cluster))
        self._tasks.add(task)
        task.addBoth(lambda _: self._tasks.discard(task))

    async def _release(self, cluster: int) -> None:
        """Deliver copies of *cluster* one after another until one is delivered or requested.

        Requests whose callback yielded nothing wait for the end of the crawl.
        """
        self._releasing.add(cluster)
        try:
            if await self._is_delivered_elsewhere(cluster):
                self._facts.change(cluster, _DELIVERED)
                self._drop_kept(cluster, lambda _: True)
            while kept := self._kept.get(cluster):
                first = kept[0]
                if first.request is not None and self._gives_nothing(cluster, first.request):
                    return
                self._take_first(cluster)
                if first.request is not None:
                    self._send_request(first.request)
                    return
                await self._send_items(cluster, first)
        except Exception:
            self._give_up("Error while delivering what was kept of %(about)s", f"cluster {cluster}")
        finally:
            self._releasing.discard(cluster)
            self._wake()

    def _take_first(self, cluster: int) -> Kept:
        kept = self._kept[cluster]
        first = kept.pop(0)
        if not kept:
            del self._kept[cluster]
        self._number -= 1
        return first

    async def _send_items(self, cluster: int, kept: Kept) -> None:
        """Send the items of a copy through the pipelines, and wait until they have passed."""
        response = kept.response
        engine = self._crawler.engine
        if response is None or engine is None:
            return
        flight = Flight(response, kept.text, cluster)
        flight.open = flight.items = len(kept.items)
        flight.is_kept = True
        self._flights[id(response)] = flight
        self._pending[cluster] = self._pending.get(cluster, 0) + 1
        self._count("delivered", len(kept.items))
        scraper: Any = engine.scraper
        # Scrapy 2.13 has only the other one.
        send = getattr(scraper, "start_itemproc_async", None)
        for item in kept.items:
            try:
                if send is not None:
                    await send(item, response=response)
                else:
                    await maybe_deferred_to_future(scraper.start_itemproc(item, response=response))
            except Exception:
                self._give_up("Error while delivering the items of %(about)s", response)
        # Count items even if a pipeline has swallowed their signals.
        flight.open, flight.has_ended = 0, True
        self._settle(flight)
        # A scraper that is being stopped checks for its end only when the items of a response have ended.
        closing = getattr(scraper.slot, "closing", None)
        if closing is not None and not closing.called:
            scraper._check_if_closing()

    def _may_ask(self, cluster: int, request: Request) -> bool:
        if not self._gives_nothing(cluster, request):
            return True
        callback = _callback_of(request)
        self._probes[callback] += 1
        return self._probes[callback] <= PROBES

    def _send_request(self, request: Request) -> None:
        engine = self._crawler.engine
        if engine is not None:
            self._count("requests")
            engine.crawl(request.replace(dont_filter=True, meta=meta_with(request, ASKED, True)))

    def _wake(self) -> None:
        """Let the engine check at once whether the spider is idle; otherwise it checks every five seconds."""
        call = getattr(getattr(self._crawler.engine, "_slot", None), "nextcall", None)
        if call is not None:
            call.schedule()

    # --- The end.

    def _spider_opened(self, spider: Spider) -> None:
        """Delay the closing of the pipelines until the kept items are processed."""
        processor: Any = getattr(getattr(self._crawler.engine, "scraper", None), "itemproc", None)
        if processor is None:
            return
        if hasattr(processor, "close_spider_async"):
            close_async = processor.close_spider_async

            async def close_spider_async() -> None:
                await self.finish()
                await close_async()

            processor.close_spider_async = close_spider_async
            return
        close = processor.close_spider  # Scrapy 2.13

        async def finish_and_close(spider: Spider) -> Any:
            await self.finish()
            return await maybe_deferred_to_future(close(spider))

        processor.close_spider = lambda spider: deferred_from_coro(finish_and_close(spider))

    def _spider_idle(self) -> None:
        """Send kept requests, and deliver kept items whose text no page has delivered."""
        # These pages have ended, even if a middleware has swallowed their items.
        for flight in list(self._flights.values()):
            if not flight.is_kept:
                flight.open, flight.has_ended = 0, True
                self._settle(flight)
        for cluster, kept in list(self._kept.items()):
            if kept[0].request is None:
                self._start(cluster)
        is_asked = False
        while not is_asked and (clusters := self._next_clusters()):
            for cluster in clusters:
                is_asked = self._ask_again(cluster) or is_asked
        if is_asked or self._tasks:
            raise DontCloseSpider

    def _next_clusters(self) -> list[int]:
        """Return the clusters whose copies are requested now; clusters that depend on these probes follow later."""
        sure: list[int] = []
        unsure: list[int] = []
        for cluster, kept in self._kept.items():
            request = kept[0].request
            if request is not None:
                (unsure if self._gives_nothing(cluster, request) else sure).append(cluster)
        probes: dict[str, int] = {}
        for cluster in unsure:
            request = self._kept[cluster][0].request
            if request is not None and self._probes[_callback_of(request)] < PROBES:
                probes.setdefault(_callback_of(request), cluster)
        return sure or list(probes.values()) or unsure

    def _ask_again(self, cluster: int) -> bool:
        """Request the first copy of *cluster* that may be requested; return whether there was one."""
        while (kept := self._kept.get(cluster)) and kept[0].request is not None:
            request = self._take_first(cluster).request
            if request is not None and self._may_ask(cluster, request):
                self._send_request(request)
                return True
        return False

    async def finish(self) -> None:
        """Deliver the items that are still kept before the pipelines close; return requests to a queue on disk."""
        await self._finish_tasks()
        for cluster in list(self._kept):
            requests = [one.request for one in self._kept[cluster] if one.request is not None]
            items = [one for one in self._kept.pop(cluster) if one.request is None]
            if items:
                self._kept[cluster] = items
                await self._release(cluster)
            self._give_back(
                [one.replace(dont_filter=True, meta=meta_with(one, ASKED, True)) for one in requests]
            )
        for requests_of in self._others_given_back:
            try:
                self._give_back(requests_of())
            except Exception:
                # Scrapy would close neither the pipelines nor the queue.
                self._give_up("Error while returning requests to the queue in %(about)s", "JOBDIR")
        await self._finish_tasks()

    def also_give_back(self, requests_of: Callable[[], list[Request]]) -> None:
        """Also queue the requests of *requests_of* when a crawl is stopped that will be resumed."""
        self._others_given_back.append(requests_of)

    async def _finish_tasks(self) -> None:
        # The end of one delivery may start another.
        while self._tasks:
            await maybe_deferred_to_future(next(iter(self._tasks)))

    def _give_back(self, requests: list[Request]) -> None:
        """Queue requests when a crawl is stopped that will be resumed."""
        slot = getattr(self._crawler.engine, "_slot", None)
        if not self._crawler.settings.get("JOBDIR") or slot is None:
            return
        for request in requests:
            slot.scheduler.enqueue_request(request)

    # --- Items that are built over several requests.

    def note_request(self, request: Request, response: Response, flight: Flight | None) -> None:
        """Record that a page yielded *request*. If it carries an item, the next page has to deliver that item.

        Not for a copy whose text is delivered. The text of this page is pending until the next page delivers an item.
        """
        if flight is not None:
            flight.has_led = True
        if not carries_item(request) or (flight is None and not self.waits(response)):
            return
        text, carried = _text_of(response), {*_carried_by(response.request)}
        if text is not None:
            carried.add(text.repeated)
        for cluster in carried:
            self._pending[cluster] = self._pending.get(cluster, 0) + 1
        of = OF_COPY if flight is None else OF_NEW
        request.meta[names.META_OWN] = {**own_of(request), of: sorted(carried)}

    def _count(self, what: str, number: int = 1) -> None:
        stats_of(self._crawler).inc_value(f"{names.STAT_WAITING}/{what}", number)


#: Keys in the plugin's part of a request's meta: the request was kept and is sent again; it carries an item of a
#: delivered page, or of a waiting copy.
ASKED, OF_NEW, OF_COPY = "asked", "of_new", "of_copy"
OWED = frozenset((ASKED, OF_NEW, OF_COPY))
#: For a page that is not compared but carries an item.
_NO_TEXT = Text(-1, -1, None, False)


def _carried_by(request: Request | None) -> Sequence[int]:
    """Return the clusters of the pages whose item *request* carries."""
    own = {} if request is None else own_of(request)
    return (*own.get(OF_NEW, ()), *own.get(OF_COPY, ()))


def carries_item(request: Request) -> bool:
    """Return whether *request* carries an item or an item loader; a category or a proxy does not count."""
    handed_on = [value for name, value in request.meta.items() if not name.startswith(_NO_ITEMS)]
    return any(map(_is_item, (*request.cb_kwargs.values(), *handed_on)))


#: Prefixes of the meta keys that middlewares read.
_NO_ITEMS = ("_", names.META, "cookie", "download", "playwright", "proxy", "splash", "zyte_api")


def _is_item(value: object) -> bool:
    return hasattr(value, "load_item") or (ItemAdapter.is_item(value) and any(_fields_of(value)))


def _fields_of(value: object) -> Iterator[str]:
    yield from ItemAdapter(value).keys()


def _text_of(response: Response) -> Text | None:
    text: Text | None = getattr(result_of(response), "text", None)
    return text


def _callback_of(request: Request) -> str:
    """Return the name of the callback of a request, with the rule of a CrawlSpider."""
    return f"{getattr(request.callback, '__name__', 'parse')} {request.meta.get('rule', '')}"
