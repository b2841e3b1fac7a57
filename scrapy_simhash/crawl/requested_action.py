"""RequestedActions: which action the request, the settings, or a class of the user's ask for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_simhash import names
from scrapy_simhash.action import ACTIONS, Action
from scrapy_simhash.config import ACTION_SETTINGS, Config, setting_name
from scrapy_simhash.crawling import Once, asked_of, stats_of
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.judge.policy import RequestedAction
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

    What a request asks for and nobody understands is counted, warned of once, and ignored.
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
        """Count and warn of what *request* asks for and nobody understands, whatever the verdict on the page."""
        for about, complaint in complaints(request.meta):
            stats_of(self._crawler).inc_value(names.ERRORS_META)
            self._once.warn(about, "%(complaint)s, for %(url)s", {"complaint": complaint, "url": url})

    def on_copy(self, verdict: Verdict, request: Request, response: Response) -> RequestedAction:
        """Return the action asked for, given that the page repeats another one."""
        # What the request says of exact copies, then of all copies; then the settings, likewise.
        keys = ("exact_action", "action") if verdict.is_exact else ("action",)
        name = next(key for key in keys if key in self._by_setting)
        return self._requested(keys, name, verdict, request, response)

    def on_unchanged(self, verdict: Verdict, request: Request, response: Response) -> RequestedAction:
        """Return the action asked for, given that the page is unchanged."""
        return self._requested(("revisit_action",), "revisit_action", verdict, request, response)

    def _requested(
        self, keys: Sequence[str], name: str, verdict: Verdict, request: Request, response: Response
    ) -> RequestedAction:
        asked = asked_of(request)
        for key in keys:
            # What cannot be understood was warned of, see `check`.
            if is_action(asked.get(key)):
                return RequestedAction(Action.named(asked[key]), is_explicit=True)
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
        stats_of(self._crawler).inc_value(names.ERRORS_ACTION)
        self._once.warn(about, "%(complaint)s", {"complaint": message}, error)


def is_action(value: object) -> bool:
    """Tell whether *value* names an action, or a list of them."""
    try:
        Action.named(value)
    except (ValueError, TypeError):
        return False
    return True


_ACTION = is_action, f"one of {', '.join(ACTIONS)}, or a list of them"
_SWITCH = (lambda value: isinstance(value, bool)), "True or False"
#: What a request may ask for in its meta: what its value has to be, and how that is said.
ASKED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "action": _ACTION,
    "exact_action": _ACTION,
    "revisit_action": _ACTION,
    "url_rules": _SWITCH,
    "conditional": _SWITCH,
    "recrawl": _SWITCH,
    "lastmod": (lambda value: isinstance(value, str | int | float), "a date, or seconds of Unix time"),
}


def complaints(meta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield for each part of what a request asks for and nobody understands a name of its own, and what to write.

    >>> [sentence for _, sentence in complaints({"simhash": {"acton": "mark"}})]
    ["request.meta['simhash'] has no key 'acton', did you mean 'action'? It is ignored"]
    >>> [sentence for _, sentence in complaints({"simhash_recrawl": False})]
    ["request.meta['simhash_recrawl'] is ignored: write meta={'simhash': {'recrawl': False}}"]
    """
    for former in names.META_FORMER.keys() & meta.keys():
        wanted = {names.META: {names.META_FORMER[former]: meta[former]}}
        yield former, f"request.meta[{former!r}] is ignored: write meta={wanted}"
    asked, place = meta.get(names.META), f"request.meta[{names.META!r}]"
    if asked is None or isinstance(asked, bool):
        return
    if not isinstance(asked, dict):
        yield names.META, f"{place} must be False or a dictionary, got {asked!r}: it is ignored"
        return
    for key, value in asked.items():
        if key not in ASKED:
            near = get_close_matches(str(key), ASKED, n=1)
            hint = f", did you mean {near[0]!r}?" if near else f"; it has {', '.join(ASKED)}."
            yield f"{key}", f"{place} has no key {key!r}{hint} It is ignored"
            continue
        is_right, what = ASKED[key]
        if value is not None and not is_right(value):
            yield key, f"{place}[{key!r}] must be {what}, got {value!r}: the settings are used instead"
