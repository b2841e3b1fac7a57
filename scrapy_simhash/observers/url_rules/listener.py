"""UrlRuleListener: learn URL rules from pages, and skip requests if the setting is ``"skip"``."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from json import dumps
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import DontCloseSpider, IgnoreRequest
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future

from scrapy_simhash import names
from scrapy_simhash.config import setting_name
from scrapy_simhash.crawl.delivery import Deliveries, carries_item
from scrapy_simhash.crawling import (
    Listener,
    Once,
    asked_of,
    internal_of,
    is_start,
    may_be_skipped,
    meta_with,
    shared,
    stats_of,
    take_internal,
)
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.judge.policy import Protection
from scrapy_simhash.notes import RULES, change
from scrapy_simhash.observers.url_rules.contents import (
    Content,
    content_of,
    date_in,
    may_be_dated,
    text_without_date,
)
from scrapy_simhash.observers.url_rules.host import NOTHING, HostRules, newer_half
from scrapy_simhash.observers.url_rules.kept import OUTAGE, KeptRequests, Reason
from scrapy_simhash.observers.url_rules.traps import NO_TEXT, Kind, Traps
from scrapy_simhash.observers.url_rules.urls import (
    Choice,
    CutUrl,
    Note,
    Rule,
    choice,
    cut,
    site_of,
    trap_shape,
)
from scrapy_simhash.recent import Recent
from scrapy_simhash.signals import request_skipped
from scrapy_simhash.waiting import maybe_await, run_sync

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

    from scrapy_simhash.config import Config
    from scrapy_simhash.crawling import Page
    from scrapy_simhash.store import Store

logger = logging.getLogger(__name__)

#: Max hosts whose rules are in memory, and max stored pages of all hosts.
MAX_HOSTS, MAX_KNOWN = 10_000, 400_000
#: Max stored texts per host, and max shapes of URLs with dates per host.
MAX_TEXTS, MAX_DATED = 100_000, 1_000
#: Max stored URLs of redirects, and max stored URLs of requests that were re-sent.
MAX_REDIRECTS, MAX_AGAIN = 20_000, 1_000
#: Max hosts in the summary.
MAX_LOGGED = 5
#: Values in the meta for the reason why a request has dont_filter although the spider did not set it: the request is
#: a check, was skipped before, or is delayed.
_CHECK, _KEPT, _LATE = "check", "kept", "late"
#: Why no more requests of a trap are skipped.
_FULL = "20,000 skipped requests are kept, so no further trap is stopped"


class Host:
    """The state of one host: its rules, traps and pages."""

    __slots__ = ("dated", "pages", "requests", "rules", "saved", "texts", "traps")

    def __init__(self, rules: HostRules, traps: Traps) -> None:
        self.rules = rules
        self.traps = traps
        #: The first URL of each text, by the hash of the text; empty if the URLs of the text have several shapes.
        self.texts: dict[int, str] = {}
        #: Shapes of URLs with dates.
        self.dated: Recent[str, None] = Recent(MAX_DATED)
        #: Number of pages, of sent requests, and of requests that were skipped or would have been skipped.
        self.pages = self.requests = self.saved = 0

    @property
    def has_rules(self) -> bool:
        """Whether any request may be skipped."""
        return bool(self.rules.active or self.traps.stopped or self.traps.pinned)


class UrlRuleListener(Listener):
    """Learns which URLs lead to no new pages, and skips their requests or logs the possible savings.

    Errors are counted and logged, and never lose a page.
    """

    def __init__(self, crawler: Crawler, config: Config) -> None:
        """Raises SettingError for an invalid pinned rule."""
        self._crawler = crawler
        self._stats = stats_of(crawler)
        self.needs_requests = self._skips = config.url_rules == "skip"
        self._began = time.monotonic()
        self._protects_languages = Protection.LANGUAGE.value in config.protect
        try:
            self._choices = [choice(text) for text in config.url_rules_pin]
        except ValueError as error:
            name = setting_name("url_rules_pin")
            raise SettingError(f"{name}: {error}, or 'example.com: parameter sid' for one host") from error
        #: The hosts in memory, with the most recently used host last.
        self.hosts: OrderedDict[str, Host] = OrderedDict()
        self._known = 0
        self.kept = KeptRequests()
        self._store: Store | None = None
        self._tasks: set[Deferred[Any]] = set()
        #: Hashes of redirected URLs.
        self._redirects: Recent[int, None] = Recent(MAX_REDIRECTS)
        #: Requests that were re-sent, by URL.
        self._again: Recent[str, None] = Recent(MAX_AGAIN)
        self._once = Once(crawler, logger, names.ERRORS_ACTION)
        crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)
        if self._skips:
            crawler.signals.connect(self.spider_opened, signal=signals.spider_opened)
            crawler.signals.connect(self.spider_idle, signal=signals.spider_idle)
            crawler.signals.connect(self.page_lost, signal=signals.spider_error)
            crawler.signals.connect(self.page_lost, signal=signals.item_error)

    # --- Hooks.

    def store_opened(self, store: Store) -> None:
        """Use *store* for the active rules, if it stores notes."""
        self._store = store if RULES in store.note_kinds else None

    def request_sent(self, request: Request) -> Request | None:
        """Return None to send *request*, or a copy with a lower priority to send it later. Raises RequestSkipped."""
        mark = take_internal(request, names.WAITED) if names.META_INTERNAL in request.meta else None
        if mark is not None:
            # Redirects and links of the page are filtered like other requests.
            request.dont_filter = False
        if mark == _CHECK:
            self._again[request.url] = None
            return None
        if request.dont_filter or request.body or not may_be_skipped(request):
            return None
        site = site_of(request.url)
        host = self.host_of(site)
        url = cut(request.url) if host.has_rules and asked_of(request).get("url_rules") is not False else None
        if url is None or not self._can_keep(request):
            host.requests += 1
            return None
        skipping = self._matches(host, url, request)
        if not skipping:
            if host.rules.is_under_way(url, hash(self._purpose(request))) and mark != _LATE:
                return _marked(request, _LATE).replace(priority=request.priority - 1)
            host.requests += 1
            return None
        host.saved += 1
        self._stats.inc_value(names.STAT_URL_RULES_SKIPPED)
        if not (host.rules.pinned.issuperset(skipping) or skipping[0].about in host.traps.pinned):
            self._keep(host, site, skipping[0], url, request)
        texts = tuple(map(str, skipping))
        self._crawler.signals.send_catch_log(
            request_skipped, request=request, rules=texts, spider=self._crawler.spider
        )
        raise RequestSkipped(request.url, texts)

    def page_compared(self, page: Page) -> None:
        """Learn from a page."""
        request, response = page.request, page.response
        is_unread = names.FLAG_NOT_MODIFIED in response.flags
        if response.status >= 300 and not is_unread:
            return
        address, meta = request.url, request.meta
        site = site_of(address)
        host = self.host_of(site)
        host.pages += 1
        traps = host.traps
        parent = meta[names.META_INTERNAL].get(names.PARENT) if names.META_INTERNAL in meta else None
        if parent is None and not is_start(request):
            parent = ""
        is_again = bool(self._again) and self._again.pop(address, False) is None
        # Rules apply to the URL before the redirect, because that one is requested.
        url = cut(self._requested_url(request) if "redirect_urls" in meta else address)
        content = None
        if url is not None and request.method == "GET" and not request.body and not is_unread:
            content = content_of(page, url)
        if url is None or content is None:
            # A page that was not compared may be new, so its shape does not count as a trap.
            self._resume(site, traps.add_new(parent))
            return
        first = host.texts.get(content.text)
        if (first is not None or content.is_interstitial) and self._is_outage(host, url, content, first):
            if self._skips and not is_again and not self.kept.is_full and may_be_skipped(request):
                self.kept.add(Reason(site, OUTAGE), request, hash(address))
            if content.is_interstitial:
                # The page may lead to new pages.
                self._resume(site, traps.add_new(parent))
                return
            is_new: bool | None = False
        else:
            if is_again:
                self._send(self.kept.take(Reason(site, OUTAGE)), _KEPT)
            is_new = self._learn(host, site, page, url, content, first)
        if is_new:
            traps.new_pages[address] = None
            kind = self._kind(host, url, request) if traps.rows else None
            self._resume(site, traps.add_new(parent, kind))
        elif is_new is False:
            kind = self._kind(host, url, request)
            if kind is not None and traps.add_known(kind, address, parent):
                self._log_trap(host, site, kind)

    async def closing(self) -> None:
        """Wait until the rules are stored."""
        while self._tasks:
            await maybe_deferred_to_future(next(iter(self._tasks)))

    # --- Learning.

    def host_of(self, site: str) -> Host:
        """Return the state of a host."""
        host = self.hosts.get(site)
        if host is None:
            chosen = [one for one in self._choices if one.host in ("", site)]
            host = self.hosts[site] = _host(chosen)
            if self._store is not None:
                self._wait_for(self._load(self._store, site, chosen))
        else:
            self.hosts.move_to_end(site)
        return host

    def _learn(
        self, host: Host, site: str, page: Page, url: CutUrl, content: Content, first: str | None
    ) -> bool | None:
        """Learn from a page, and return whether its text is new; None if its reduced URL is known.

        *first* is the URL at which this text was first seen; see `Host`.
        """
        request, rules = page.request, host.rules
        # The text of a translation counts as new.
        is_translation = self._protects_languages and "hreflang" in page.verdict.hints
        is_new = is_translation or content.is_silent
        if first is None:
            is_new |= self._is_new(host, page, content)
        elif first and _shape_of(url) != _shape_at(first):
            host.texts[content.text] = ""
        if (
            not self._skips
            and host.has_rules
            and may_be_skipped(request)
            and self._matches(host, url, request)
        ):
            host.saved += 1
            self._stats.inc_value(names.STAT_URL_RULES_WOULD_SKIP)
        former = len(rules.known)
        learned = rules.learn(
            url,
            hash(self._purpose(request)),
            content,
            twin=cut(first) if first else None,
            is_only_page=content.is_short and host.texts[content.text] != "",
            is_evidence=not is_translation,
        )
        self._known += len(rules.known) - former
        while len(self.hosts) > 1 and (len(self.hosts) > MAX_HOSTS or self._known > MAX_KNOWN):
            self._forget_host()
        if learned is NOTHING:
            return is_new
        if learned.deactivated:
            self._note(site, dropped=learned.deactivated)
            self._drop(site, learned.deactivated)
        if learned.activated:
            self._note(site, learned=learned.activated)
        if learned.activated or learned.deactivated:
            self._resend_traps(site)
        return None if learned.is_repeat and not is_new else is_new

    def _is_new(self, host: Host, page: Page, content: Content) -> bool:
        """Store the text of a page, which no earlier page had, and return whether it counts as new."""
        host.traps.latest = NO_TEXT
        if len(host.texts) > MAX_TEXTS:
            host.texts = newer_half(host.texts)
        texts, address = host.texts, page.request.url
        texts[content.text] = address
        if page.reading is None or content.is_interstitial:
            return True
        # Each day of a calendar has a different text.
        parts = cut(address) if may_be_dated(address) else None
        date = None if parts is None else date_in(parts)
        if parts is None or date is None:
            return True
        shape = _shape_of(parts)
        if shape not in host.dated:
            # Most shapes with a date have only one page.
            host.dated[shape] = None
            return True
        undated = text_without_date(page, date)
        is_new = undated not in texts
        texts[undated] = address
        return is_new

    def _forget_host(self) -> None:
        """Drop the least recently used host, and send its skipped requests."""
        site, host = self.hosts.popitem(last=False)
        self._known -= len(host.rules.known)
        for reason in self.kept.reasons:
            if reason.site == site:
                self._send(self.kept.take(reason), _KEPT)

    def _is_outage(self, host: Host, url: CutUrl, content: Content, first: str | None) -> bool:
        """Return whether a page replaces many pages, as in an outage; such a page is not evidence for a rule.

        A path that only serves a login form, such as ``/login?back=/page/7``, does not count.
        """
        shape = _shape_of(url)
        if content.is_interstitial:
            path = shape.partition("?")[0]
            return "{" in path or "*" in path or (first is not None and _shape_at(first) != shape)
        traps, now = host.traps, time.monotonic()
        if first and traps.latest[0] != content.text:
            traps.is_outage(content.text, _shape_at(first), now)
        return traps.is_outage(content.text, shape, now)

    def _matches(self, host: Host, url: CutUrl, request: Request) -> tuple[Rule, ...]:
        """Return the rules by which a request is skipped, empty if it is sent; call it once per request."""
        requests = host.requests or host.pages
        purpose = self._purpose(request)
        if rules := host.rules.would_skip(url, hash(purpose), requests):
            return rules
        traps = host.traps
        if (traps.stopped or traps.pinned) and not self.kept.is_full:
            kind = self._kind(host, url, request)
            if kind is None or not traps.is_stopped(kind) or self._is_linked_by_new(host, kind, request):
                return ()
            if traps.skips(kind, requests):
                return (Rule("trap", kind[0]),)
        return ()

    def _is_linked_by_new(self, host: Host, kind: Kind, request: Request) -> bool:
        """Return whether *request* is a link from a new page of the same shape, such as to the next month."""
        parent = internal_of(request).get(names.PARENT)
        if parent not in host.traps.new_pages or kind[0] in host.traps.pinned:
            return False
        url = cut(parent)
        parent_kind = None if url is None else self._kind(host, url, request)
        # Whether the URL has a query depends on the active rules.
        return parent_kind is not None and parent_kind[0].partition("?")[0] == kind[0].partition("?")[0]

    def _kind(self, host: Host, url: CutUrl, request: Request) -> Kind | None:
        """Return the shape and callback under which *url* is counted; None if the URL cannot belong to a trap."""
        shape = trap_shape(url)
        if shape is None:
            return None
        if host.rules.active:
            shape = trap_shape(host.rules.reduce(url)[0]) or shape
        return shape, self._purpose(request)[0]

    def _can_keep(self, request: Request) -> bool:
        """Return whether *request* could be sent later; log the first request that could not."""
        limit = None
        if not self._purpose(request)[0]:
            limit = "its callback is not a method of the spider"
        elif carries_item(request):
            limit = "it carries an item"
        if (reason := limit or (self.kept.is_full and _FULL)) and self._once.is_first(reason):
            logger.info(
                "URL rules do not skip %(url)s: %(why)s. Further requests are not logged",
                {"url": request.url, "why": reason},
                extra={"spider": self._crawler.spider},
            )
        return limit is None

    def _keep(self, host: Host, site: str, rule: Rule, url: CutUrl, request: Request) -> None:
        """Keep a request that *rule* skipped."""
        key = hash(request.url)
        if rule.kind == "trap":
            reduced, applied = host.rules.reduce(url)
            key = hash((self._purpose(request), reduced))
            if applied and self.kept.holds(Reason(site, rule), key):
                # Only one of the requests that are equal by a rule is kept.
                rule = applied[0]
        self.kept.add(Reason(site, rule), request, key)

    def _log_trap(self, host: Host, site: str, kind: Kind) -> None:
        """Log that a shape of URLs leads to no new pages."""
        row = host.traps.rows[kind]
        self._stats.inc_value(names.STAT_URL_RULES_TRAPS)
        logger.warning(
            "Trap: %(length)d pages in a row of %(shape)s on %(site)s have the text of earlier pages; %(action)s."
            " Some of the URLs: %(urls)s",
            {
                "length": row.length,
                "shape": kind[0],
                "site": site,
                "action": "no more of them are requested, except for checks"
                if self._skips
                else "SIMHASH_URL_RULES = 'skip' would skip them",
                "urls": ", ".join(row.urls),
            },
            extra={"spider": self._crawler.spider},
        )

    def _resume(self, site: str, kinds: Iterable[Kind]) -> None:
        """Send the skipped requests of traps with a new page."""
        if kinds:
            self._drop(site, dict.fromkeys(Rule("trap", shape) for shape, _ in kinds))

    def _resend_traps(self, site: str) -> None:
        """Send the skipped requests of traps, whose shapes depend on the active rules."""
        for reason in self.kept.reasons:
            if reason.site == site and reason.rule.kind == "trap":
                self._send(self.kept.take(reason), _KEPT)

    def _drop(self, site: str, rules: Iterable[Rule]) -> None:
        """Log *rules*, which are no longer active, and send the requests that they skipped."""
        for rule in rules:
            reason = Reason(site, rule)
            again, lost = self.kept.take(reason), self.kept.lost.pop(reason, 0)
            self._stats.inc_value(names.STAT_URL_RULES_GIVEN_UP)
            logger.log(
                logging.WARNING if lost else logging.INFO,
                "Dropped URL rule '%(rule)s' for %(site)s: %(why)s. Re-sending %(number)d skipped requests%(lost)s",
                {
                    "rule": rule,
                    "site": site,
                    "why": "it has new pages" if rule.kind == "trap" else "it changes the page",
                    "number": len(again),
                    "lost": f"; {lost} older requests are lost (limit 1,000)" if lost else "",
                },
                extra={"spider": self._crawler.spider},
            )
            self._send(again, _KEPT)

    def _send(self, requests: Iterable[Request], mark: str) -> None:
        """Send skipped requests."""
        engine = self._crawler.engine
        for request in requests if engine is not None else ():
            self._stats.inc_value(names.STAT_URL_RULES_SENT)
            engine.crawl(_marked(request, mark))

    def _purpose(self, request: Request) -> Purpose:
        """Return the purpose of *request*: its callback with its rule, and its cookies.

        The name of the callback is empty if it is not a method of the spider; such requests are never skipped.
        """
        callback, meta = request.callback, request.meta
        if callback is None:
            name = "parse"
        elif getattr(callback, "__self__", None) is self._crawler.spider:
            name = callback.__name__
        else:
            name = ""
        if "rule" in meta:
            name = f"{name} {meta['rule']}"
        return (
            name,
            f"{meta.get('cookiejar')} {request.cookies}" if request.cookies or "cookiejar" in meta else "",
        )

    def _requested_url(self, request: Request) -> str:
        """Return the URL that the spider requested, before redirects.

        A spider that passes on its meta also passes on these redirects. So each redirect is used only once, by the
        redirected page, which comes before the pages that its callback requests.
        """
        redirects = request.meta["redirect_urls"]
        if not redirects or site_of(str(redirects[0])) != site_of(request.url):
            return request.url
        asked = str(redirects[0])
        if hash(asked) in self._redirects:
            return request.url
        self._redirects[hash(asked)] = None
        return asked

    # --- Notes.

    async def _load(self, store: Store, site: str, chosen: Iterable[Choice]) -> None:
        """Load the rules in the note of a host."""
        _, data = await maybe_await(store.note(RULES, site))
        host = self.hosts.get(site)
        if data is not None and host is not None and not host.rules.active:
            note = Note.from_bytes(data)
            loaded = _host(chosen, note)
            host.rules, host.traps = loaded.rules, loaded.traps

    def _note(self, site: str, *, learned: Iterable[Rule] = (), dropped: Iterable[Rule] = ()) -> None:
        """Store which rules of a host became active or inactive."""

        def changed(data: bytes | None) -> bytes:
            return Note.from_bytes(data).changed(learned=learned, dropped=dropped).to_bytes()

        if self._store is not None:
            self._wait_for(change(self._store, RULES, site, changed))

    def _wait_for(self, coroutine: Any) -> None:
        """Run *coroutine*: to the end with a local store, else in the background."""
        if self._store is not None and not self._store.is_remote:
            try:
                run_sync(coroutine)
            except Exception:
                self._failed("a host")
            return
        task = deferred_from_coro(coroutine)
        self._tasks.add(task)
        task.addErrback(
            lambda failure: self._once.warn(
                "note",
                "URL rules were not stored, so later crawls learn them again: %(error)s",
                {"error": failure.value},
            )
        )
        task.addBoth(lambda _: self._tasks.discard(task))

    # --- Signals.

    def spider_opened(self, spider: Spider) -> None:
        """When a resumable crawl is stopped, return skipped requests to its queue."""
        if (deliveries := shared(self._crawler, Deliveries)) is not None:
            deliveries.requests_to_queue.append(lambda: [_marked(one, _KEPT) for one in self.kept.take_all()])

    def spider_idle(self) -> None:
        """Send some of the skipped requests when no other requests are left, and schedule the next check."""
        now = time.monotonic()
        pace = (now - self._began) / max(1, self._stats.get_value("response_received_count", 0))
        checks = [self.kept.check(reason, now, pace) for reason in self.kept.reasons]
        for requests in checks:
            self._send(requests or (), _CHECK)
        if any(requests is not None for requests in checks):
            raise DontCloseSpider

    def page_lost(self, response: Response | None) -> None:
        """If a callback or pipeline failed, request the page again, at the latest skipped URL of that page."""
        request = None if response is None else response.request
        url = None if request is None else cut(request.url)
        if request is None or url is None:
            return
        try:
            site, purpose = site_of(request.url), self._purpose(request)
            rules = self.host_of(site).rules
            reduced = rules.reduce(url)[0]
            rules.forget(url, hash(purpose))

            def is_same(other: Request) -> bool:
                parts = cut(other.url)
                return (
                    parts is not None
                    and rules.reduce(parts)[0] == reduced
                    and self._purpose(other) == purpose
                )

            for reason in self.kept.reasons:
                if reason.site == site and (same := self.kept.take(reason, is_same)):
                    self._send(same[-1:], _CHECK)
                    return
        except Exception:
            self._failed(request)

    def spider_closed(self, spider: Spider) -> None:
        """Log the savings of rules and traps, actual or possible, and the setting that keeps them."""
        hosts = [(site, host) for site, host in self.hosts.items() if host.saved]
        hosts.sort(key=lambda item: -item[1].saved)
        for site, host in hosts[:MAX_LOGGED]:
            logger.info("%(line)s", {"line": self._closing_line(site, host)}, extra={"spider": spider})

    def _closing_line(self, site: str, host: Host) -> str:
        """Return a line with the rules of a host, their savings, and the setting to paste."""
        traps, rules = host.traps, [rule for rule in host.rules.active if rule.kind != "trap"]
        found = [
            *map(str, rules),
            *(f"trap {kind[0]}" for kind, row in traps.rows.items() if row.skipped and kind in traps.stopped),
        ]
        saved = f"SIMHASH_URL_RULES = 'skip' would have saved {host.saved:,} of {host.pages:,} requests"
        if self._skips:
            saved = f"{host.saved:,} of {host.saved + host.requests:,} requests were skipped"
        pins = dumps([f"{site}: {rule}" for rule in rules])
        return (
            f"URL rules of {site}: {'; '.join(found) or 'none left'}. {saved}"
            f"{f'. To keep them: SIMHASH_URL_RULES_PIN = {pins}' if rules else ''}"
        )

    def _failed(self, about: object) -> None:
        """Count and log an exception; call it in the exception handler."""
        self._once.log_exception("Error while applying URL rules to %(about)s", about)


#: A callback and cookies.
Purpose = tuple[str, str]


_NO_NOTE = Note()


def _host(chosen: Iterable[Choice], note: Note = _NO_NOTE) -> Host:
    """Return a host with the rules *chosen* in settings and the rules in its *note*."""
    pinned = [one.rule for one in chosen if not one.is_forbidden]
    forbidden = [one.rule for one in chosen if one.is_forbidden]
    differences = [rule for rule in pinned if rule.kind != "trap"]
    return Host(HostRules(note.active, differences, forbidden), Traps(pinned, forbidden))


def _shape_of(url: CutUrl) -> str:
    return trap_shape(url) or url.path


def _shape_at(url: str) -> str:
    return _shape_of(parts) if (parts := cut(url)) is not None else ""


def _marked(request: Request, mark: str) -> Request:
    return request.replace(dont_filter=True, meta=meta_with(request, names.WAITED, mark))


class RequestSkipped(IgnoreRequest):
    """A request was not sent because of URL rules: its page is known."""

    def __init__(self, url: str, rules: tuple[str, ...]) -> None:
        is_trap = any(rule.startswith("trap ") for rule in rules)
        reason = (
            "similar URLs lead to no new pages" if is_trap else "its page has been fetched at another URL"
        )
        super().__init__(f"{url} was skipped: {reason} ({', '.join(rules)})")
        self.rules = rules
        """The rules, in the format of ``scrapy-simhash learned``."""
