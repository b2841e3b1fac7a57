"""Marks: the result in the meta of a request, which a disk queue can pickle, and in a field of items."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter

from scrapy_simhash import names
from scrapy_simhash.action import ACTIONS
from scrapy_simhash.crawling import asks_again, internal_of, stats_of
from scrapy_simhash.judge.policy import is_action
from scrapy_simhash.verdict import Status, Verdict

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_simhash.crawling import Page


logger = logging.getLogger(__name__)


#: The value of ``dropped_as`` for an unchanged page.
UNCHANGED = "unchanged"


class PageResult(dict[str, Any]):
    """The result of a page, as stored in the meta. The attributes are for `Deliveries`."""

    verdict = Verdict(Status.UNKNOWN)
    cluster: int | None = None
    """Number of the cluster of the page's text; None if the page was not compared."""
    original: int = -1
    """Number of the cluster of the original. It differs from ``cluster`` if the facts of the page contradict those of
    the original."""


def write_result(page: Page) -> PageResult:
    """Write the result of *page* into the meta of its request, and return it."""
    result = PageResult(page.verdict.to_dict())
    result.verdict = page.verdict
    result["action"] = None if page.action is None else str(page.action)
    result["dropped_as"] = page.dropped_as
    result["protected"] = page.protected and page.protected.value
    result["change"] = None
    page.request.meta[names.META_RESULT] = result
    return result


_ACTION = is_action, f"one of {', '.join(ACTIONS)}, or a list of them"
_SWITCH = (lambda value: isinstance(value, bool)), "True or False"
#: Keys of ``meta["simhash"]``: a check of each value, and a description of valid values.
ASKED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "action": _ACTION,
    "exact_action": _ACTION,
    "revisit_action": _ACTION,
    "url_rules": _SWITCH,
    "lastmod": (lambda value: isinstance(value, str | int | float), "a date, or seconds of Unix time"),
}


def complaints(asked: object) -> Iterator[tuple[str, str]]:
    """Yield the key and a message for each part of ``meta["simhash"]`` that has no effect.

    A misspelled action may drop a page that the spider needs.

    >>> [message for _, message in complaints({"acton": "mark"})]
    ["request.meta['simhash'] has no key 'acton', did you mean 'action'? It is ignored"]
    """
    place = f"request.meta[{names.META!r}]"
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
        elif value is not None and not ASKED[key][0](value):
            what = f"must be {ASKED[key][1]}, got {value!r}: the settings are used instead"
            yield key, f"{place}[{key!r}] {what}"


def result_of(response: Response | None) -> dict[str, Any]:
    """Return the result in the meta of *response*; empty if the meta has no result."""
    if response is None or response.request is None:
        return {}
    result = response.request.meta.get(names.META_RESULT)
    return result if isinstance(result, dict) else {}


def note_parent(request: Request, response: Response) -> None:
    """Write the URL of *response*, whose callback yielded *request*, into the meta of *request*.

    The meta survives queues, redirects and retries, but a ``Referer`` may be cut to the host, or missing.
    """
    asked = response.request
    if asked is None:
        return
    # A new request for the same page keeps the referer of that page.
    parent = internal_of(asked).get(names.PARENT) if asks_again(request, response) else asked.url
    if parent is not None:
        request.meta[names.META_INTERNAL] = {**internal_of(request), names.PARENT: parent}


#: Keys of every mark, of a page or of an item. A dictionary with all these keys is a mark that was written earlier.
KEYS = frozenset(("status", "duplicate_of", "distance", "similarity", "cluster"))


class ItemMarks:
    """Writes marks into one field of items; never overwrites a value that is not a mark.

    Items that cannot be marked are counted, and the first such item is logged.
    """

    def __init__(self, crawler: Crawler, field: str) -> None:
        """*field* is ``SIMHASH_RESULT_FIELD``."""
        self._field = field
        self._stats = stats_of(crawler)
        self._has_warned = False

    def write(self, item: Any, values: Mapping[str, Any] | None) -> None:
        """Write *values* into *item*, or None for an item without a mark, so that all items have the field.

        Scrapy's CSV feeds take their columns from the first item; if it lacked the field, the marks of all items
        would be lost. The field is written if it is missing, None, an empty dictionary (a class default), or a mark.
        """
        try:
            adapter = ItemAdapter(item)
            # A lookup would add the field to a defaultdict.
            has_field = self._field in iter(adapter)
            value = adapter[self._field] if has_field else None
            if value is not None and not (isinstance(value, Mapping) and (not value or value.keys() >= KEYS)):
                raise ValueError("the field has another value")
            # An unmarked item is not changed, so it may be frozen.
            if values is not None or value or not has_field:
                adapter[self._field] = None if values is None else dict(values)
        except Exception:  # the field is undeclared or used, the item is frozen, or the object is not an item
            if values is not None:
                self._stats.inc_value(names.STAT_ITEMS_UNMARKED)
            if not self._has_warned:
                self._has_warned = True
                logger.warning(
                    "SIMHASH_RESULT_FIELD is %r, but items (%s) lack this field, already have a value in it, or are"
                    " frozen. The value is kept and the items are not marked (stat %s): set SIMHASH_RESULT_FIELD to a"
                    " field that your items declare and do not use",
                    self._field,
                    type(item).__qualname__,
                    names.STAT_ITEMS_UNMARKED,
                )
