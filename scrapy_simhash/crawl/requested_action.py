"""RequestedActions: which action the request, the settings, or a class of the user's ask for."""

from __future__ import annotations

import logging
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_simhash import names
from scrapy_simhash.action import ACTIONS, Action
from scrapy_simhash.config import Config, setting_name
from scrapy_simhash.crawling import Once, stats_of
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.judge.policy import RequestedAction
from scrapy_simhash.values import ACTION_SETTINGS
from scrapy_simhash.verdict import Verdict

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)


@runtime_checkable
class Decider(Protocol):
    """A user's class that chooses the action for a page; ``SIMHASH_ACTION`` and the like take its import path."""

    def decide(self, verdict: Verdict, request: Request, response: Response) -> str:
        """Return the action for *response*: a value that ``SIMHASH_ACTION`` takes, or a list of them.

        Called once for each page that repeats another one or is unchanged, before the spider gets it;
        ``response.request`` is not set yet.
        """
        ...


class RequestedActions:
    """Finds the action that a request, the settings, or a class of the user's ask for.

    A value that names no action is counted, warned of once, and ignored.
    """

    def __init__(self, crawler: Crawler, config: Config) -> None:
        self._crawler = crawler
        self._by_setting = {
            name: self._load(name, getattr(config, name))
            for name in ACTION_SETTINGS
            if getattr(config, name) is not None
        }
        self._once = Once(crawler, logger)

    def check(self, request: Request, url: str) -> None:
        """Count and warn of meta values of *request* that name no action, whatever the verdict on the page."""
        meta = request.meta
        for key in (names.META_ACTION, names.META_REVISIT_ACTION):
            if meta.get(key) is not None and self._asked(request, key) is None:
                self._complain(
                    key,
                    f"{key} must be one of {', '.join(ACTIONS)}, or a list of them, got {meta[key]!r} for"
                    f" {url}: the setting is used instead",
                )

    def on_copy(self, verdict: Verdict, request: Request, response: Response) -> RequestedAction:
        """Return the action asked for, given that the page repeats another one."""
        name = "exact_action" if verdict.is_exact and "exact_action" in self._by_setting else "action"
        return self._requested(names.META_ACTION, name, verdict, request, response)

    def on_unchanged(self, verdict: Verdict, request: Request, response: Response) -> RequestedAction:
        """Return the action asked for, given that the page is unchanged."""
        return self._requested(names.META_REVISIT_ACTION, "revisit_action", verdict, request, response)

    def _requested(
        self, key: str, name: str, verdict: Verdict, request: Request, response: Response
    ) -> RequestedAction:
        asked = self._asked(request, key)
        if asked is not None:
            return RequestedAction(asked, is_explicit=True)
        by_setting = self._by_setting[name]
        if isinstance(by_setting, Action):
            return RequestedAction(by_setting)
        setting = setting_name(name)
        try:
            answer = by_setting.decide(verdict, request, response)
        except Exception as error:
            self._complain(
                setting,
                f"{setting}: decide() failed for {response.url}, the page is only marked: {error!r}",
                error,
            )
            return RequestedAction(Action.MARK)
        try:
            return RequestedAction(answer if isinstance(answer, Action) else Action.named(answer))
        except ValueError:
            self._complain(
                setting,
                f"{setting}: decide() must return one of {', '.join(ACTIONS)}, or a list of them, got {answer!r} for"
                f" {response.url}, the page is only marked",
            )
            return RequestedAction(Action.MARK)

    def _asked(self, request: Request, key: str) -> Action | None:
        words = request.meta.get(key)
        if words is None:
            return None
        try:
            return Action.named(words)
        except (ValueError, TypeError):
            return None

    def _load(self, name: str, value: str) -> Action | Decider:
        try:
            return Action.named(value)
        except ValueError:
            pass  # what is no word is an import path, Config has seen to that
        setting = setting_name(name)
        try:
            found = load_object(value)
            made = build_from_crawler(found, self._crawler) if isinstance(found, type) else None
        except (ImportError, NameError, ValueError, TypeError) as error:
            raise SettingError(f"{setting}: cannot import {value!r}: {error}") from error
        if not isinstance(made, Decider):
            raise SettingError(
                f"{setting} must be the import path of a class with a decide() method, got {value!r}"
            )
        if iscoroutinefunction(made.decide):
            raise SettingError(f"{setting}: decide() must not be a coroutine function, got {value!r}")
        return made

    def _complain(self, about: str, message: str, error: Exception | None = None) -> None:
        stats_of(self._crawler).inc_value(names.STAT_BAD_ACTION)
        self._once.warn(about, "%(complaint)s", {"complaint": message}, error)
