"""Listeners: features that follow a crawl, each created only if its setting is on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import IgnoreRequest
from scrapy.utils.misc import load_object

from scrapy_simhash import names
from scrapy_simhash.crawling import Listener, Once, is_crawl
from scrapy_simhash.waiting import awaited

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_simhash.config import Config
    from scrapy_simhash.crawling import Page
    from scrapy_simhash.store import Store

logger = logging.getLogger(__name__)

#: Setting -> import path of the `Listener`, in the order of the calls: listeners that change the result of a page, or
#: when it was seen, come before listeners that report it. To remove a feature, delete its files and its line.
LISTENERS = {
    "recrawl": "scrapy_simhash.observers.recrawl.recrawling.Recrawl",
    "changes": "scrapy_simhash.observers.changes.reporter.ChangeReporter",
    "report": "scrapy_simhash.observers.report.Report",
    "url_rules": "scrapy_simhash.observers.url_rules.listener.url_rule_listener",
}


class Listeners:
    """The listeners of one crawl. An exception in a hook is counted in ``simhash/errors/action`` and logged."""

    def __init__(self, crawler: Crawler, config: Config) -> None:
        """Raises SettingError if a listener cannot follow its setting."""
        #: Counts and logs an exception; call it in the exception handler.
        self.give_up = Once(crawler, logger, names.ERRORS_ACTION).tell
        # Commands for one page, such as scrapy shell, have no listeners.
        settings = LISTENERS if is_crawl(crawler) else ()
        # Two settings may share a listener.
        paths = dict.fromkeys(LISTENERS[name] for name in settings if getattr(config, name) not in _OFF)
        self._listeners: list[Listener] = [load_object(path)(crawler, config) for path in paths]
        #: The hooks of listeners that have them.
        self.page_hooks = self._hooks("page_compared")
        self.request_hooks = self._hooks("request_sent")

    def store_opened(self, store: Store) -> None:
        """Call ``store_opened`` of each. Raises SettingError and StoreError."""
        for listener in self._listeners:
            listener.store_opened(store)

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    async def request_sent(self, request: Request, spider: Spider | None = None) -> Request | Response | None:
        """Return what replaces *request*, None if it is sent. Raises IgnoreRequest if it is dropped."""
        for hook in self.request_hooks:
            instead: Request | Response | None = None
            try:
                instead = await awaited(hook(request))
            except IgnoreRequest:
                raise
            except Exception:
                self.give_up("Error while asking whether to send %(about)s: it is sent", request)
            if instead is not None:
                return instead
        return None

    def page_compared(self, page: Page) -> None:
        """Call the hook of each."""
        for hook in self.page_hooks:
            try:
                hook(page)
            except Exception:
                self.give_up("Error while reporting the result of %(about)s", page.response)

    async def closing(self) -> None:
        """Call the hook of each."""
        for listener in self._listeners:
            try:
                await listener.closing()
            except Exception:
                self.give_up("Error in %(about)s at the end of the crawl", type(listener).__qualname__)

    def _hooks(self, name: str) -> tuple[Callable[..., Any], ...]:
        return tuple(
            getattr(each, name)
            for each in self._listeners
            if getattr(type(each), name) is not getattr(Listener, name)
        )


#: Values of a setting that turn its listener off.
_OFF = (None, False, (), "", "off")
