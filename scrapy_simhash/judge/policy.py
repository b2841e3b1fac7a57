"""SimhashPolicy: choose the action for a page, and apply the protections."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol

from scrapy_simhash.action import Action
from scrapy_simhash.config import Config
from scrapy_simhash.patterns import lazy_pattern
from scrapy_simhash.scope import scope_of
from scrapy_simhash.verdict import Reason, Verdict


class Protection(str, Enum):
    """The reason why the intended action was not applied to a page, or was applied only in part."""

    URL = "url"
    """A pattern of ``SIMHASH_KEEP_URLS`` matches the URL of the page."""
    ITSELF = "itself"
    """The page has the URL of its original, so it was requested twice."""
    START = "start"
    """The page is a start page, whose links are followed."""
    LISTING = "listing"
    """The page is a listing, whose links are followed."""
    PAGINATION = "pagination"
    """The page and its original are pages of one listing."""
    LANGUAGE = "language"
    """The page is a translation, or a version for another country."""
    FACTS = "facts"
    """A fact outside the sentences, such as a date, a size or a place, contradicts the original."""


class Decision(NamedTuple):
    """The action for a page, and the protection that reduced it."""

    action: Action
    protected: Protection | None = None
    """The reason why the page or its links are kept although the action drops them; None if no protection applies."""
    dropped_as: str | None = None
    """``near_duplicate`` or ``unchanged``, None if nothing is dropped."""


class Judged(Protocol):
    """The parts of a page that the policy uses, implemented by :class:`scrapy_simhash.crawling.Page`."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the page."""

    @property
    def url(self) -> str:
        """The URL of the page."""

    @property
    def depth(self) -> int:
        """Number of links followed from a start page to this page; 0 for a start page."""

    @property
    def asked(self) -> Mapping[str, Any]:
        """The dictionary in ``meta["simhash"]`` of the request."""

    def protections(self, wanted: Collection[str]) -> Iterable[str]:
        """Yield the *wanted* protections that apply. Slow, so called only if something would be dropped."""


#: Domain names and IP addresses.
_DOMAIN = lazy_pattern(r"//\.?([\w-]+(?:\.[\w-]+)*|\[[0-9a-f:.]+\])\.?/?", re.ASCII | re.IGNORECASE)


def url_matcher(text: str) -> Callable[[str], object]:
    """Return a function that returns whether a URL matches the pattern *text*.

    *text* is a regular expression, which may match anywhere in the URL, or ``//example.com`` for a domain and its
    subdomains.

    >>> [bool(url_matcher("//example.com")(url)) for url in ("https://www.example.com/a", "https://example.org/")]
    [True, False]
    """
    found = _DOMAIN.fullmatch(text)
    if found is None:
        return re.compile(text).search
    domain = found[1].strip("[]").lower()

    def is_of_domain(url: str) -> bool:
        host = scope_of(url, "host")
        return host == domain or host.endswith(f".{domain}")

    return is_of_domain


#: Protections of pages that are not the same page as the original although the text is similar. Such pages are
#: evidence against a URL rule. Pagination is not included: the links of a listing show whether it continues.
OF_DIFFERENT_PAGES = ("language", "facts")
#: Protections that keep the page. The other protections keep its links.
WHOLE = ("pagination", *OF_DIFFERENT_PAGES)


class SimhashPolicy:
    """Decides the action for a page that is a near-duplicate, or unchanged since an earlier crawl.

    The action comes from the request's meta, else from the settings. The action is reduced or cancelled

    * if a pattern of ``SIMHASH_KEEP_URLS`` matches the URL, or the original has the same URL;
    * if ``SIMHASH_PROTECT`` protects the page or its links. For unchanged pages, it protects only the links.

    An action in the request's meta overrides all protections.

    ``SIMHASH_POLICY`` is the import path of a subclass. The policy is created with the `Config` of the crawl, or by
    the class method ``from_crawler(crawler, config)`` if it exists.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        # The empty pattern matches all URLs.
        self._copy = [
            (url_matcher(pattern) if pattern else None, Action.named(words))
            for pattern, words in config.actions
        ]
        self._exact_copy = None if config.exact_action is None else Action.named(config.exact_action)
        self._unchanged = Action.named(config.revisit_action)
        self._protect = frozenset(config.protect)
        self._kept_urls = [url_matcher(pattern) for pattern in config.keep_urls]

    def copy_action(self, page: Judged) -> Action | str | Sequence[str]:
        """Return the action for a near-duplicate without an action in its meta: any value of SIMHASH_ACTION."""
        if page.verdict.is_exact and self._exact_copy is not None:
            return self._exact_copy
        for matches, action in self._copy:
            if matches is None or matches(page.url):
                return action
        return Action.MARK

    def unchanged_action(self, page: Judged) -> Action | str | Sequence[str]:
        """Return the action for an unchanged page without an action in its meta: any value of SIMHASH_ACTION."""
        return self._unchanged

    def decide(self, page: Judged) -> Decision:
        """Return the decision for *page*, which is a near-duplicate, unchanged, or both.

        If the page is both, the two actions are combined. The page then counts as dropped as a near-duplicate, unless
        the action for near-duplicates drops nothing. If this method raises an exception, it is counted and logged,
        and the page is kept.
        """
        verdict = page.verdict
        action, protected, dropped_as = Action.MARK, None, None
        if verdict.duplicate_of is not None:
            keys = ("exact_action", "action") if verdict.is_exact else ("action",)
            wanted, action, protected = self._decide(page, keys, is_copy=True)
            dropped_as = "near_duplicate" if action else None
        if is_done(verdict):
            also_wanted, allowed, reason = self._decide(page, ("revisit_action",), is_copy=False)
            action |= allowed
            dropped_as = dropped_as or ("unchanged" if allowed else None)
            # If the other action drops this part of the page, the protection had no effect.
            if protected is not None and wanted in action:
                protected = None
            if protected is None and reason is not None and also_wanted not in action:
                protected = reason
        return Decision(action, protected, dropped_as)

    def _decide(
        self, page: Judged, keys: Sequence[str], *, is_copy: bool
    ) -> tuple[Action, Action, Protection | None]:
        """Return the intended action, the reduced action, and the protection that reduced it."""
        asked = page.asked
        words = next((asked[key] for key in keys if is_action(asked.get(key))), None) if asked else None
        is_explicit = words is not None
        if words is None:
            words = self.copy_action(page) if is_copy else self.unchanged_action(page)
        wanted = words if isinstance(words, Action) else Action.named(words)
        if wanted is Action.MARK:
            return wanted, wanted, None
        url = page.url
        if not is_explicit and self._kept_urls and any(matches(url) for matches in self._kept_urls):
            return wanted, Action.MARK, Protection.URL
        # A URL can be requested twice: a request fingerprinter may distinguish requests by more than the URL.
        if is_copy and page.verdict.duplicate_of == url and not is_explicit:
            return wanted, Action.MARK, Protection.ITSELF
        if is_explicit:
            return wanted, wanted, None
        return wanted, *self._reduced(page, wanted, WHOLE if is_copy else ())

    def _reduced(
        self, page: Judged, wanted: Action, whole: Collection[str]
    ) -> tuple[Action, Protection | None]:
        """Return the action reduced by protections: those in *whole* keep the page, others keep only its links."""
        kept = wanted.keeping_links()
        links_matter = kept != wanted
        is_start = links_matter and page.depth == 0 and "start" in self._protect
        # Skip the check for a listing if its links are kept anyway.
        asks_for_listing = links_matter and not is_start
        looked_for = self._protect.intersection((*whole, "listing") if asks_for_listing else whole)
        protected = Protection.START if is_start else None
        for name in page.protections(looked_for) if looked_for else ():
            if name in whole:
                return Action.MARK, Protection(name)
            protected = Protection(name)
        return (wanted, None) if protected is None else (kept, protected)


def is_done(verdict: Verdict) -> bool:
    """Return whether a page is unchanged since an earlier crawl delivered its item."""
    return verdict.reason is Reason.UNCHANGED and verdict.is_delivered


def is_action(value: object) -> bool:
    """Return whether *value* is a name of an action, or a list of names."""
    try:
        Action.named(value)
    except (ValueError, TypeError):
        return False
    return True
