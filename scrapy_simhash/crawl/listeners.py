"""Listeners: features that observe a crawl, each created only if its setting is on."""

from __future__ import annotations

import logging
from inspect import isawaitable
from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from scrapy.utils.misc import load_object

from scrapy_simhash import names
from scrapy_simhash.crawling import Listener, Once, is_crawl

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_simhash.config import Config
    from scrapy_simhash.crawling import Page

logger = logging.getLogger(__name__)

#: Setting -> import path of the `Listener`, in the order of the calls: listeners that change the result or the time
#: of a page come before listeners that report them. To remove a feature, delete its files and its line here.
LISTENERS = {
    "recrawl": "scrapy_simhash.observers.recrawl.middleware.SimhashRecrawlMiddleware",
    "changes": "scrapy_simhash.observers.changes.ChangeReporter",
    "report": "scrapy_simhash.observers.report.Report",
    "url_rules": "scrapy_simhash.observers.url_rules.listener.UrlRuleListener",
}


class Listeners:
    """The listeners of one crawl. An exception in a hook is counted in ``simhash/errors/action`` and logged."""

    def __init__(self, crawler: Crawler, config: Config) -> None:
        """Raises SettingError if a listener cannot use its setting."""
        #: Counts and logs an exception; call it in the exception handler.
        self.log_exception = Once(crawler, logger, names.ERRORS_ACTION).log_exception
        # Commands for one page, such as scrapy shell, have no listeners.
        settings = LISTENERS if is_crawl(crawler) else ()
        # Two settings may share a listener.
        paths = dict.fromkeys(LISTENERS[name] for name in settings if getattr(config, name) not in _OFF)
        self.all: list[Listener] = [load_object(path)(crawler, config) for path in paths]
        # The hooks of listeners that override them.
        self.request_hooks = [
            each.request_sent
            for each in self.all
            if each.needs_requests and type(each).request_sent is not Listener.request_sent
        ]
        self.page_hooks = [
            each.page_compared for each in self.all if type(each).page_compared is not Listener.page_compared
        ]

    # Scrapy 2.13 passes the spider; later versions warn of methods that require it.
    async def request_sent(self, request: Request, spider: Spider | None = None) -> Request | Response | None:
        """Return a replacement for *request*; None if it is sent. Raises IgnoreRequest if it is dropped."""
        for hook in self.request_hooks:
            try:
                instead = hook(request)
                # Nearly all requests are sent, and these need no coroutine.
                if instead is not None and isawaitable(instead):
                    instead = await instead
                if instead is not None:
                    return instead
            except IgnoreRequest:
                raise
            except Exception:
                self.log_exception("Error while deciding whether to send %(about)s: it is sent", request)
        return None

    def page_compared(self, page: Page) -> None:
        """Call this hook of each listener."""
        for hook in self.page_hooks:
            try:
                hook(page)
            except Exception:
                self.log_exception(
                    "Error while reporting the result of %(about)s: the page is processed, but reports may lack it",
                    page.response,
                )

    async def closing(self) -> None:
        """Call this hook of each listener."""
        for listener in self.all:
            try:
                await listener.closing()
            except Exception:
                self.log_exception(
                    "Error in %(about)s at the end of the crawl: its output may be incomplete",
                    type(listener).__qualname__,
                )


#: Values of a setting that disable its listener.
_OFF = (None, False, (), "", "off")
