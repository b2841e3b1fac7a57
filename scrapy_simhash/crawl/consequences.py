"""Consequences: what follows from a verdict, before the spider sees the page."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.utils.misc import load_object

from scrapy_simhash import names
from scrapy_simhash.action import Action
from scrapy_simhash.crawl.counts import count_decision, count_verdict
from scrapy_simhash.crawl.drops import advice_of
from scrapy_simhash.crawl.marks import write_marks
from scrapy_simhash.crawl.requested_action import RequestedActions
from scrapy_simhash.crawl.store_factory import changes_file
from scrapy_simhash.crawling import NO_MORE, Checked, Once, header_values, stats_of, tree_of
from scrapy_simhash.judge.clusters import ClusterBook
from scrapy_simhash.judge.hints import Hints, evidence, protections, read_canonical, read_hints
from scrapy_simhash.judge.policy import Case, Decision, Exemption, Policy, is_done
from scrapy_simhash.signals import cluster_closed, near_duplicate_found
from scrapy_simhash.values import loopback
from scrapy_simhash.verdict import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from scrapy_simhash.config import Config
    from scrapy_simhash.crawl.store_session import StoreSession
    from scrapy_simhash.fingerprinter import PageFingerprinter
    from scrapy_simhash.observers.changes.reporter import ChangeReporter
    from scrapy_simhash.observers.report import Report
    from scrapy_simhash.observers.url_rules.guard import UrlRuleGuard
    from scrapy_simhash.page.text import Document
    from scrapy_simhash.view.live import LiveView


logger = logging.getLogger(__name__)


class Consequences:
    """Decides what is done about a page, and makes known what was found: in meta, flags, stats, and by a signal."""

    def __init__(self, crawler: Crawler, fingerprinter: PageFingerprinter, is_crawl: bool) -> None:
        config = fingerprinter.config
        self._crawler = crawler
        self._stats = stats_of(crawler)
        # Scrapy calls a function for each look at an attribute of a stats collector.
        self._increase = self._stats.inc_value
        self._config = config
        self._is_crawl = is_crawl
        self._policy = Policy(config)
        self._requested = RequestedActions(crawler, config)
        self._depths = Depths(crawler.settings)
        self._clusters = ClusterReporter(crawler, config)
        self._changes = _changes(crawler, fingerprinter, is_crawl)
        report = _report(crawler, config, is_crawl)
        self._advice = advice_of(crawler)
        self._advice.report = None if report is None else report.path
        live = _live_view(crawler, config, is_crawl)
        #: Those who get a line for each page.
        self._readers = [reader for reader in (report, live) if reader is not None]
        self._fingerprinter = fingerprinter
        self._url_rules = _url_rules(crawler, fingerprinter, is_crawl)
        self._once = Once(crawler, logger, names.STAT_CONSEQUENCE_ERRORS)
        learners = [one for one in (self._url_rules, self._changes) if one is not None]
        self._observers = [*learners, *self._readers]

    def draw(self, checked: Checked, request: Request, response: Response) -> Decision:
        """Do all that follows from a verdict, and return what is done about the page. Never raises."""
        verdict, reading = checked.verdict, checked.reading
        canonical, decision, url = None, _NOTHING, response.url
        try:
            self._requested.check(request, url)
            if verdict.is_settled and self.is_gone(request):
                verdict = replace(verdict, is_settled=False)
            # Of other pages no more is asked than which page of a cluster is to be preferred one day.
            if verdict.status is not Status.NEW and (verdict.is_duplicate or is_done(verdict)):
                hints = read_hints(tree_of(response), url, header_values(response, b"Link"))
                canonical = hints.canonical
                verdict = _with_evidence(verdict, hints, request, response)
                decision = self._decide(verdict, hints, checked.document, request, response)
            elif verdict.cluster is not None and self._clusters.asks_for_canonical:
                links = header_values(response, b"Link")
                if links or reading is None or reading.may_name_canonical:
                    canonical = read_canonical(tree_of(response), url, links)
        except Exception:
            self._give_up("Error while choosing an action for %(about)s: the page is kept", response)
        if self._changes is not None:
            self._changes.note(checked, request, response)
        try:
            self._make_known(verdict, decision, canonical, url, request, response)
            if self._url_rules is not None:
                self._url_rules.note_verdict(
                    verdict,
                    reading,
                    request,
                    response,
                    partial(self._is_protected, decision, verdict, checked.document, response),
                )
        except Exception:
            self._give_up("Error while counting, reporting or announcing the result of %(about)s", response)
            # The spider middleware does what the meta says.
            if names.META_DONE not in request.meta:
                return _NOTHING
        return decision

    def not_modified(self, verdict: Verdict, request: Request, response: Response) -> None:
        """Make known the verdict on a page of which only its server's word is there: it has not changed."""
        if self._changes is not None:
            self._changes.note(Checked(verdict), request, response)
        try:
            self._make_known(verdict, _NOTHING, None, response.url, request, response)
            if self._url_rules is not None:
                self._url_rules.note_unread(request)
        except Exception:
            self._give_up("Error while counting, reporting or announcing the result of %(about)s", response)

    def screen(self, request: Request) -> Request | None:
        """Return None for a request that is to be sent now, and the same request for later for one that has to wait.

        Raises RequestSkipped for one that would bring nothing new.
        """
        return None if self._url_rules is None else self._url_rules.screen(request)

    def is_gone(self, request: Request) -> bool:
        """Tell whether the page was told as gone: it is fetched and delivered in full when it is back."""
        return self._changes is not None and self._changes.is_gone(request)

    def failed(self, request: Request, exception: Exception) -> None:
        """Take note of a request that has no answer."""
        if self._changes is not None:
            self._changes.failed(request, exception)

    def keep_in(self, session: StoreSession) -> None:
        """Keep what is learned about URLs in the store of *session*."""
        if self._changes is not None:
            self._changes.keep_in(session.detector.store)
        if self._url_rules is not None and session.remembers:
            self._url_rules.keep_in(session.detector.store)
            session.last_steps.append(self._url_rules.keep)

    def outcome_lost(self, request: Request) -> None:
        """Note that what was made of the answer to *request* is lost."""
        if self._url_rules is not None:
            self._url_rules.forget(request)

    def spider_opened(self, spider: Spider) -> None:
        """Begin the report and the live view, and read what an earlier run of the crawl has skipped."""
        for observer in self._observers:
            observer.spider_opened(spider)

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """Tell of the clusters, and end the report and the live view."""
        self._clusters.spider_closed(spider)
        for observer in self._observers:
            observer.spider_closed(spider, reason)

    def _decide(
        self,
        verdict: Verdict,
        hints: Hints,
        document: Document | None,
        request: Request,
        response: Response,
    ) -> Decision:
        decision = self._policy.decide(
            Case(
                verdict,
                response.url,
                self._depths.of(request),
                partial(self._protections, verdict, hints, document, response),
                self._requested.on_copy(verdict, request, response) if verdict.is_duplicate else None,
                self._requested.on_unchanged(verdict, request, response) if is_done(verdict) else None,
            )
        )
        # Who looks at a single page wants to see it.
        return decision if self._is_crawl or decision.action is None else Decision(Action.MARK)

    def _protections(
        self,
        verdict: Verdict,
        hints: Hints,
        document: Document | None,
        response: Response,
        wanted: Collection[str],
    ) -> Iterable[str]:
        root = tree_of(response)

        def read_again() -> Document:
            return self._fingerprinter.extract(root) if document is None else document

        return protections(
            root,
            response.url,
            verdict.duplicate_of or response.url,
            hints,
            verdict.hints,
            wanted,
            None if verdict.is_exact else read_again,
        )

    def _is_protected(
        self, decision: Decision, verdict: Verdict, document: Document | None, response: Response
    ) -> bool:
        """Tell whether a page is one of its own, whatever it repeats: it spares its URLs a skip, as it a drop."""
        wanted = self._policy.of_its_own
        if not wanted or decision.exemption in wanted:
            return bool(wanted)
        hints = read_hints(tree_of(response), response.url, header_values(response, b"Link"))
        return any(self._protections(verdict, hints, document, response, wanted))

    def _tell_of_start_pages(self, verdict: Verdict, response: Response) -> None:
        """Say once why a spider that has all its URLs from start() loses less than its settings ask for."""
        others = [name for name in self._config.protect if name != Exemption.START.value]
        logger.info(
            "Start pages are protected (SIMHASH_PROTECT): %(url)s %(why)s, but its callback runs and its links are"
            " followed. To treat start pages like other pages, set SIMHASH_PROTECT = %(others)r. Further ones are"
            " counted in the stat %(stat)s",
            {
                "url": response.url,
                "why": "is unchanged" if verdict.duplicate_of is None else f"repeats {verdict.duplicate_of}",
                "others": others,
                "stat": f"{names.STAT_EXEMPTED}/{Exemption.START.value}",
            },
            extra={"spider": self._crawler.spider},
        )

    def _make_known(
        self,
        verdict: Verdict,
        decision: Decision,
        canonical: str | None,
        url: str,
        request: Request,
        response: Response,
    ) -> None:
        preferred = self._clusters.note_verdict(verdict, url, canonical)
        write_marks(verdict, decision, request, preferred)
        count_verdict(self._increase, verdict)
        if decision is not _NOTHING:
            count_decision(self._stats, decision)
        if decision.exemption is Exemption.START and self._once.is_first("start page"):
            self._tell_of_start_pages(verdict, response)
        if verdict.is_duplicate:
            self._announce(verdict, preferred, request, response)
        if not self._readers:
            return
        about: dict[str, Any] = {
            "url": url,
            "preferred": preferred,
            "action": decision.action,
            "exemption": decision.exemption,
            "http_status": response.status,
            "depth": self._depths.of(request),
            "referer": request.headers.get(b"Referer"),
        }
        for reader in self._readers:
            reader.write(verdict, **about)

    def _give_up(self, message: str, response: Response) -> None:
        """Log what went wrong; call it where the exception is handled."""
        self._stats.inc_value(names.STAT_CONSEQUENCE_ERRORS)
        self._once.tell(message, response)

    def _announce(
        self, verdict: Verdict, preferred: str | None, request: Request, response: Response
    ) -> None:
        if names.FLAG not in response.flags:  # a middleware may answer twice with one response object
            response.flags.append(names.FLAG)
        is_first = self._once.is_first("duplicate")
        if is_first or self._config.debug:
            original = str(verdict.duplicate_of)
            self._advice.note(response.url, original)
            command = self._advice.on_page(response.url, original) if is_first else None
            logger.debug(
                "%(url)s repeats %(original)s (status %(status)s, distance %(distance)s, similarity"
                " %(similarity).2f)%(hint)s%(why)s",
                {
                    "url": response.url,
                    "original": original,
                    "status": verdict.status.value,
                    "distance": verdict.distance,
                    "similarity": verdict.similarity or 0.0,
                    "hint": "" if self._config.debug else NO_MORE,
                    "why": f". To see why: {command}" if command else "",
                },
                extra={"spider": self._crawler.spider},
            )
        self._crawler.signals.send_catch_log(
            near_duplicate_found,
            request=request,
            response=response,
            verdict=verdict,
            preferred=preferred,
            spider=self._crawler.spider,
        )


_NOTHING = Decision(None)


# --- The observers: made if a setting asks for them, and imported only then.


def _changes(crawler: Crawler, fingerprinter: PageFingerprinter, is_crawl: bool) -> ChangeReporter | None:
    config = fingerprinter.config
    tells = config.changes is not None and is_crawl
    if not tells and not config.text:
        return None

    from scrapy_simhash.observers.changes.reporter import ChangeReporter

    return ChangeReporter(crawler, config, fingerprinter, changes_file(crawler, config) if tells else None)


def _report(crawler: Crawler, config: Config, is_crawl: bool) -> Report | None:
    if config.report is None or not is_crawl:
        return None

    from scrapy_simhash.observers.report import Report

    return Report.of(crawler, config.report)


def _live_view(crawler: Crawler, config: Config, is_crawl: bool) -> LiveView | None:
    place = loopback(config.live) if config.live is not None else None
    if place is None or not is_crawl:
        return None
    from scrapy_simhash.view.live import LiveView

    return LiveView(*place, crawler)


def _url_rules(crawler: Crawler, fingerprinter: PageFingerprinter, is_crawl: bool) -> UrlRuleGuard | None:
    if fingerprinter.config.url_rules == "off" or not is_crawl:
        return None

    from scrapy_simhash.observers.url_rules.guard import UrlRuleGuard

    return UrlRuleGuard(crawler, fingerprinter)


def _with_evidence(verdict: Verdict, hints: Hints, request: Request, response: Response) -> Verdict:
    if verdict.duplicate_of is None:
        return verdict
    redirects = request.meta.get("redirect_urls", ())
    found = evidence(hints, response.url, verdict.duplicate_of, redirects)
    return replace(verdict, hints=verdict.hints + found) if found else verdict


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


class ClusterReporter:
    """Keeps the book of one crawl's clusters. What goes wrong in here costs a stat and a warning, never the page."""

    def __init__(self, crawler: Crawler, config: Config) -> None:
        self.book = ClusterBook(config.prefer)
        #: Whether the preferred URL depends on the canonical URLs that pages name.
        self.asks_for_canonical = "canonical" in config.prefer
        self._crawler = crawler
        self._is_verbose = config.debug
        self._once = Once(crawler, logger, names.STAT_CONSEQUENCE_ERRORS)

    def note_verdict(self, verdict: Verdict, url: str, canonical: str | None) -> str | None:
        """Take note of the verdict on the page at *url*, which names *canonical* as its URL.

        Return the URL of its cluster that is to be preferred so far, see :meth:`ClusterBook.note`.
        """
        book = self.book
        largest, later = book.largest, book.preferred_later
        try:
            preferred = book.note(verdict, url, canonical)
        except Exception:
            stats_of(self._crawler).inc_value(names.STAT_CONSEQUENCE_ERRORS)
            self._once.tell(
                "Error while updating the cluster of %(about)s: the page is kept, without a preferred URL",
                url,
            )
            return None
        # At once, and not at the end, where others may have read the stats already.
        if book.largest != largest:
            stats_of(self._crawler).set_value(names.STAT_LARGEST_CLUSTER, book.largest)
        if book.preferred_later != later:
            stats_of(self._crawler).set_value(names.STAT_PREFERRED_LATER, book.preferred_later)
        return preferred

    def spider_closed(self, spider: Spider) -> None:
        """Tell of every cluster that had copies: by the signal, and with ``SIMHASH_DEBUG`` in the log."""
        for cluster in self.book.clusters():
            if self._is_verbose:
                logger.debug(
                    "Cluster %(number)d: %(pages)d pages, first %(first)s, preferred %(preferred)s",
                    {
                        "number": cluster.number,
                        "pages": cluster.pages,
                        "first": cluster.first,
                        "preferred": cluster.preferred,
                    },
                    extra={"spider": spider},
                )
            self._crawler.signals.send_catch_log(cluster_closed, cluster=cluster, spider=spider)
        if self._is_verbose and self.book.forgotten:
            logger.debug(
                "%(forgotten)d more clusters with copies were forgotten: they had no new page for a long time",
                {"forgotten": self.book.forgotten},
                extra={"spider": spider},
            )
