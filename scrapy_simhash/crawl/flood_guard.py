"""FloodGuard: floods on the way to the spider. Tells of floods, and does what ``SIMHASH_FLOOD_ACTION`` says."""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import deferred_from_coro

from scrapy_simhash import names
from scrapy_simhash.crawl.crawling import is_crawl
from scrapy_simhash.crawl.html import tree_of
from scrapy_simhash.crawl.probe import HINT_NOT_FOUND, NotFoundPages
from scrapy_simhash.crawl.stats import stats_of
from scrapy_simhash.crawl.warn_once import WarnOnce
from scrapy_simhash.floods.kinds import kind_by_urls, kind_of
from scrapy_simhash.floods.leads import Leads
from scrapy_simhash.floods.watch import FloodWatch, Seen, Suspect
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import scope_of
from scrapy_simhash.signals import flood_found
from scrapy_simhash.verdict import Reason, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_simhash.config import Config
    from scrapy_simhash.fingerprinter import PageFingerprinter, Reading
    from scrapy_simhash.floods.flood import Flood, Kind
    from scrapy_simhash.verdict import Verdict

logger = logging.getLogger(__name__)

#: Floods, and patterns that are stopped, that are told at level WARNING; any more at DEBUG.
MOST_WARNINGS = 20
#: What the spider is closed with.
CLOSE_REASON = "simhash_flood"
#: URLs from which redirects led elsewhere that are remembered; the oldest goes.
MOST_REDIRECTS = 20_000
#: Bytes of a page up to which its text is read again, to tell what kind of page a flood sends.
LARGEST_TOLD = 256 * 1024


class FloodGuard:
    """Watches the pages of one crawl. An error in here is counted and logged, and never costs a page."""

    def __init__(self, crawler: Crawler, config: Config, fingerprinter: PageFingerprinter) -> None:
        self._crawler = crawler
        self._action = config.flood_action
        self._fingerprinter = fingerprinter
        acts = is_crawl(crawler)
        self._watch = FloodWatch(config.flood_size) if acts and config.flood_size else None
        self._not_found = NotFoundPages(crawler, fingerprinter) if acts and config.flood_probe else None
        #: Whether there may be hints.
        self.gives_hints = self._not_found is not None
        self._leads = Leads()
        self._redirects: Recent[int, None] = Recent(MOST_REDIRECTS)
        self._begun = int(time.time())
        self._warnings = 0
        self._has_refused = False
        self._warn_once = WarnOnce(crawler, logger, names.STAT_CONSEQUENCE_ERRORS)

    @property
    def floods(self) -> list[Flood]:
        """The floods noticed so far, with the sizes that they have now."""
        return self._watch.floods if self._watch is not None else []

    def hints(self, reading: Reading, request: Request, response: Response) -> tuple[str, ...]:
        """Return what the verdict on a page should have among its hints: ``not_found``, or nothing.

        To be called once for each page that was read, after its look-up and before its verdict is made known.
        """
        if self._not_found is None:
            return ()
        try:
            host = scope_of(response.url, "host")
            was_redirected = bool(request.meta.get("redirect_urls"))
            is_missing = self._not_found.recognises(
                host, response.url, reading, was_redirected=was_redirected
            )
            self._not_found.meet(host, response.url, reading)
            if not is_missing:
                return ()
            stats_of(self._crawler).inc_value(names.STAT_NOT_FOUND)
            return (HINT_NOT_FOUND,)
        except Exception:
            self._give_up(response)
            return ()

    def note_verdict(
        self, verdict: Verdict, reading: Reading | None, request: Request, response: Response
    ) -> None:
        """Take note of a page that the spider gets, with the verdict on it; *reading* is None if it was not read.

        To be called for every response but those without a callback, as the last thing that is done about it. Pages
        that were skipped count as well, or what is on them would be lost with the floods beside them.
        """
        if self._watch is None or request.method != "GET":
            return
        if verdict.status is Status.REVISIT and not self._is_first_visit(verdict):
            return
        try:
            redirects = request.meta.get("redirect_urls")
            url = self._asked_for(request, redirects) if redirects else request.url
            # It begins a cluster, and no flood is a page large.
            if verdict.status is Status.NEW:
                self._watch.add_new(url, verdict.cluster)
                return
            says_nothing = (
                verdict.reason is Reason.SHORT_TEXT and reading is not None and reading.text_hash is None
            )
            if verdict.cluster is None and not says_nothing:
                self._watch.add_new(url, None)
                return
            seen = self._watch.add(
                url,
                verdict.cluster,
                verdict.duplicate_of,
                says_nothing=says_nothing,
                kind_of=partial(self._kind_of, response, HINT_NOT_FOUND in verdict.hints),
            )
            if seen is not None:
                self._act(seen, url, response)
        except Exception:
            self._give_up(response)

    def refuses(self, request: Request) -> bool:
        """Tell whether *request* is not to be sent, since nearly all that came under its pattern was one page.

        Counts it then. Only what the spider asks for is refused, and nothing that it began with or that has
        ``simhash: False`` in its meta. To be called first thing; nearly free as long as nothing is stopped.
        """
        if self._watch is None or not self._watch.has_stopped:
            return False
        try:
            if not may_be_refused(request) or not self._watch.is_stopped(request.url):
                return False
        except Exception:
            self._give_up(request)
            return False
        stats_of(self._crawler).inc_value(names.STAT_REFUSED)
        if not self._has_refused:
            self._has_refused = True
            logger.debug(
                "Refused %(request)s: its URL matches a pattern that SIMHASH_FLOOD_ACTION has stopped -"
                " no more will be"
                " shown, they are counted in the stat %(stat)s",
                {"request": request, "stat": names.STAT_REFUSED},
                extra={"spider": self._crawler.spider},
            )
        return True

    def _is_first_visit(self, verdict: Verdict) -> bool:
        """Tell whether this crawl has a revisited page for the first time: an earlier one had it."""
        return verdict.last_seen is not None and verdict.last_seen < self._begun

    def _asked_for(self, request: Request, redirects: list[Any]) -> str:
        """Return the URL that the spider asked for: what is stopped must be stopped before the redirect.

        A spider that passes its meta on passes on whence its pages were redirected. So that is believed once, and the
        page that was really redirected always comes before those that its callback asks for.
        """
        if scope_of(redirects[0], "host") != scope_of(request.url, "host"):
            return request.url
        asked = str(redirects[0])
        key = hash(asked)
        if key in self._redirects:
            return request.url
        self._redirects[key] = None
        return asked

    def _kind_of(self, response: Response, is_not_found: bool, suspect: Suspect) -> Kind | None:
        """Return what kind of page *response* is; called only for the first page of a flood."""
        tell: Callable[..., Kind | None] = kind_by_urls
        if len(response.body) <= LARGEST_TOLD:
            root = tree_of(response)  # what belongs to a flood is HTML
            tell = partial(kind_of, self._fingerprinter.extract(root), root)
        return tell(is_not_found=is_not_found, says_nothing=suspect.says_nothing, pattern=suspect.pattern)

    def _act(self, seen: Seen, url: str, response: Response) -> None:
        flood = seen.flood
        stops = (
            self._action == "stop_pattern"
            and seen.pattern is not None
            and self._leads.nowhere(seen.pattern, url, response.url, tree_of(response))
        )
        closes = self._action == "close_spider" and seen.is_new
        if seen.is_new:
            stats_of(self._crawler).inc_value(f"{names.STAT_FLOODS}/{flood.kind.value}")
            self._tell_of(flood)
        if stops:
            self._warn(
                "Flood: %(pages)d URLs on %(host)s so far; requests for %(pattern)s are refused from now on",
                {"pages": flood.size, "host": flood.host, "pattern": seen.pattern},
            )
        if stops and seen.pattern is not None and self._watch is not None:
            self._watch.stop(url, seen.pattern)
        if seen.is_new:
            self._crawler.signals.send_catch_log(flood_found, flood=flood, spider=self._crawler.spider)
        if closes:
            self._close()

    def _tell_of(self, flood: Flood) -> None:
        if self._action == "close_spider":
            action = "the spider is closed"
        elif self._action == "report":
            action = "no request is refused (SIMHASH_FLOOD_ACTION is report)"
        elif flood.pattern is None:
            action = "no request is refused, since no URL pattern has only that page so far"
        else:
            action = f"requests for {flood.pattern} will be refused once these pages have no new links"
        self._warn(
            "Flood (%(kind)s): %(pages)d URLs on %(host)s return %(original)s; %(action)s. Some of the URLs:"
            " %(urls)s",
            {
                "kind": flood.kind.value,
                "pages": flood.size,
                "host": flood.host,
                "original": "a page without text"
                if flood.original is None
                else f"the same page as {flood.original}",
                "action": action,
                "urls": ", ".join(flood.urls),
            },
        )

    def _warn(self, message: str, values: dict[str, Any]) -> None:
        self._warnings += 1
        level = logging.WARNING if self._warnings <= MOST_WARNINGS else logging.DEBUG
        if self._warnings == MOST_WARNINGS:
            message += " - further floods are logged at level DEBUG"
        logger.log(level, message, values, extra={"spider": self._crawler.spider})

    def _close(self) -> None:
        engine = self._crawler.engine
        if engine is None or self._crawler.spider is None:
            return
        if hasattr(engine, "close_spider_async"):
            deferred_from_coro(self._close_quietly(engine.close_spider_async(reason=CLOSE_REASON)))
        else:  # Scrapy 2.13
            engine.close_spider(self._crawler.spider, CLOSE_REASON)

    async def _close_quietly(self, closing: Any) -> None:
        try:
            await closing
        except RuntimeError as error:  # it has just been closed
            logger.debug("The spider is already closing: %s", error, extra={"spider": self._crawler.spider})

    def _give_up(self, page: object) -> None:
        """Log what went wrong; call it where the exception is handled."""
        stats_of(self._crawler).inc_value(names.STAT_CONSEQUENCE_ERRORS)
        self._warn_once.tell("Error while checking %(about)s for floods: the page is kept, uncounted", page)


def may_be_refused(request: Request) -> bool:
    """Tell whether *request* may be refused at all: not if the spider began with it, or has opted out."""
    meta = request.meta
    return (
        request.method == "GET"
        and request.callback is not NO_CALLBACK
        # A spider that passes its meta on passes this on too, and the depth tells.
        and not (meta.get("is_start_request") and not meta.get("depth"))
        and meta.get(names.META_ENABLED, True) is not False
    )
