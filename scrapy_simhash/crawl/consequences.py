"""Consequences: what follows from a verdict, before the spider sees the page."""

from __future__ import annotations

import logging
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from scrapy_simhash import names
from scrapy_simhash.action import Action
from scrapy_simhash.crawl.counts import count_verdict
from scrapy_simhash.crawl.marks import write_result
from scrapy_simhash.crawl.requested_action import RequestedActions
from scrapy_simhash.crawling import NO_MORE, Once, is_crawl, stats_of
from scrapy_simhash.judge.hints import evidence
from scrapy_simhash.judge.policy import Case, Decision, Policy, Protection, is_done
from scrapy_simhash.signals import near_duplicate_found
from scrapy_simhash.verdict import Status, Verdict

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_simhash.crawl.delivery import Deliveries
    from scrapy_simhash.crawl.listeners import Listeners
    from scrapy_simhash.crawl.store_session import StoreSession
    from scrapy_simhash.crawling import Page


logger = logging.getLogger(__name__)


class Consequences:
    """Decides what is done about a page, and makes it known: in meta, flags and stats, to observers, by a signal."""

    def __init__(
        self, crawler: Crawler, session: StoreSession, listeners: Listeners, deliveries: Deliveries
    ) -> None:
        self._crawler = crawler
        self._deliveries = deliveries
        self._session = session
        self._store = session.detector.store
        # Scrapy calls a function for each look at an attribute of a stats collector.
        self._increase, self._set = stats_of(crawler).inc_value, stats_of(crawler).set_value
        self._config = session.detector.config
        # The longest that a page took, and that page, if it was slow.
        self._longest = BUDGET
        self._slowest: str | None = None
        self._is_crawl = is_crawl(crawler)
        self._policy = Policy(self._config)
        self._requested = RequestedActions(crawler, self._config)
        self._once = Once(crawler, logger)
        self._listeners = listeners
        self._found = listeners.former("found")

    def follow(self, page: Page, *, decides: bool = True) -> Response:
        """Do all that follows from the verdict on *page*, note in it what is done about it, and return its response.

        Never raises.
        Without *decides* the page is only marked: its server's word is all there is of it.
        """
        request, response, meta = page.request, page.response, page.request.meta
        try:
            if not names.META_IN.isdisjoint(meta):
                self._requested.check(request, response.url)
            for found in self._found:
                found(page)
            verdict = page.verdict
            # Of other pages no more is asked than which page of a cluster is to be preferred one day.
            if decides and verdict.status is not Status.NEW and (verdict.is_duplicate or is_done(verdict)):
                page.verdict = _with_evidence(page)
                page.action, page.protected, page.dropped_as = self._decide(page)
        except Exception:
            self._listeners.give_up(
                "Error while choosing an action for %(about)s: the page is kept", response
            )
        try:
            verdict = page.verdict
            self._deliveries.note(write_result(page), verdict)
            count_verdict(self._increase, verdict)
            if page.protected is not None:
                self._count_protected(page, page.protected)
        except Exception:
            self._listeners.give_up(LATE_ERROR, response)
        # Without a result nothing is dropped, so listeners are not called.
        if names.META_RESULT in meta:
            self._listeners.page_compared(page)
        else:
            page.action = None
        try:
            if page.verdict.duplicate_of is not None:
                self._announce(page)
            if page.key is not None and page.verdict.status is not Status.SKIPPED:
                self._set(names.STAT_INDEX_SIZE, self._store.index_size)
            if page.since is not None and (seconds := perf_counter() - page.since) > BUDGET:
                self._note_slow(response.url, seconds)
        except Exception:
            self._listeners.give_up(LATE_ERROR, response)
        return response

    def _decide(self, page: Page) -> Decision:
        verdict, request, response = page.verdict, page.request, page.response
        decision = self._policy.decide(
            Case(
                verdict,
                response.url,
                page.depth,
                page.protections,
                self._requested.on_copy(verdict, request, response) if verdict.is_duplicate else None,
                self._requested.on_unchanged(verdict, request, response) if is_done(verdict) else None,
            )
        )
        # Who looks at a single page wants to see it.
        return decision if self._is_crawl or decision.action is None else Decision(Action.MARK)

    def _count_protected(self, page: Page, protected: Protection) -> None:
        self._increase(f"{names.STAT_PROTECTED}/{protected.value}")
        if protected is Protection.START and self._once.is_first("start page"):
            self._tell_of_start_pages(page.verdict, page.response.url)

    def _tell_of_start_pages(self, verdict: Verdict, url: str) -> None:
        """Say once why a spider that has all its URLs from start() loses less than its settings ask for."""
        others = [name for name in self._config.protect if name != Protection.START.value]
        logger.info(
            "Start pages are protected (SIMHASH_PROTECT): %(url)s %(why)s, but its callback runs and its links are"
            " followed. To treat start pages like other pages, set SIMHASH_PROTECT = %(others)r. Further ones are"
            " counted in the stat %(stat)s",
            {
                "url": url,
                "why": "is unchanged"
                if verdict.duplicate_of is None
                else f"is a near-duplicate of {verdict.duplicate_of}",
                "others": others,
                "stat": f"{names.STAT_PROTECTED}/{Protection.START.value}",
            },
            extra={"spider": self._crawler.spider},
        )

    def _announce(self, page: Page) -> None:
        verdict, response = page.verdict, page.response
        if names.FLAG not in response.flags:  # a middleware may answer twice with one response object
            response.flags.append(names.FLAG)
        if self._once.is_first("duplicate") or self._config.debug:
            logger.debug(
                "%(url)s is a near-duplicate of %(original)s (status %(status)s, distance %(distance)s,"
                " similarity %(similarity).2f)%(hint)s",
                {
                    "url": response.url,
                    "original": verdict.duplicate_of,
                    "status": verdict.status.value,
                    "distance": verdict.distance,
                    "similarity": verdict.similarity or 0.0,
                    "hint": "" if self._config.debug else NO_MORE,
                },
                extra={"spider": self._crawler.spider},
            )
        self._crawler.signals.send_catch_log(
            near_duplicate_found,
            request=page.request,
            response=response,
            verdict=verdict,
            preferred=page.preferred,
            spider=self._crawler.spider,
        )

    def _note_slow(self, url: str, seconds: float) -> None:
        """Take note of a page that took *seconds* of the loop's time, more than `BUDGET`.

        Waits and Scrapy's parse are none of it.
        """
        self._increase(names.STAT_SLOW_PAGES)
        if seconds > self._longest:
            self._longest, self._slowest = seconds, url

    def spider_closed(self, spider: Spider) -> None:
        """Log the slowest page, if any was slow."""
        if self._slowest is not None:
            logger.info(
                "Pages that took more than %(budget)d ms of the event loop: %(pages)d (stat %(stat)s); the slowest"
                " took %(longest)d ms: %(url)s",
                {
                    "budget": BUDGET * 1000,
                    "pages": stats_of(self._crawler).get_value(names.STAT_SLOW_PAGES),
                    "stat": names.STAT_SLOW_PAGES,
                    "longest": self._longest * 1000,
                    "url": self._slowest,
                },
                extra={"spider": spider},
            )


#: Said of what goes wrong once it is decided what is done about a page.
LATE_ERROR = "Error while counting, reporting or announcing the result of %(about)s"


#: Seconds that the work on one page may take.
BUDGET = 0.05


def _with_evidence(page: Page) -> Verdict:
    verdict, url = page.verdict, page.response.url
    if verdict.duplicate_of is None:
        return verdict
    redirects = page.request.meta.get("redirect_urls", ())
    found = evidence(page.hints, url, verdict.duplicate_of, redirects)
    return replace(verdict, hints=verdict.hints + found) if found else verdict
