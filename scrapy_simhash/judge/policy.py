"""SimhashPolicy: which action is taken for a page, and what protects the page from it."""

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
    """Why the action that was asked for was not applied to a page, or only a part of it."""

    URL = "url"
    """A pattern of ``SIMHASH_KEEP_URLS`` matches its URL."""
    ITSELF = "itself"
    """It has the same URL as the page that it repeats: another request for the same one."""
    START = "start"
    """The links of a start page are followed."""
    LISTING = "listing"
    """The links of a page that lists others are followed."""
    PAGINATION = "pagination"
    """It is another page of the same listing."""
    LANGUAGE = "language"
    """It is the same page for readers of another language or country."""
    FACTS = "facts"
    """It states something beside its sentences that contradicts the page that it repeats: a date, a size, a place."""


class Decision(NamedTuple):
    """What is dropped of a page, and why not more."""

    action: Action
    protected: Protection | None = None
    """Why the page, or its links, are kept although they were to be dropped; None if they are not."""
    dropped_as: str | None = None
    """``near_duplicate`` or ``unchanged``, None if nothing is dropped."""


class Judged(Protocol):
    """What the policy needs to know about a page; :class:`scrapy_simhash.crawling.Page` has it."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the page."""

    @property
    def url(self) -> str:
        """The URL of the page."""

    @property
    def depth(self) -> int:
        """Links from the start, 0 for a start page."""

    @property
    def asked(self) -> Mapping[str, Any]:
        """What its request asks for in ``meta["simhash"]``."""

    def protections(self, wanted: Collection[str]) -> Iterable[str]:
        """Yield those of the *wanted* protections that apply. Costly: called only if it matters."""


#: Names with dots between, and IPs.
_DOMAIN = lazy_pattern(r"//\.?([\w-]+(?:\.[\w-]+)*|\[[0-9a-f:.]+\])\.?/?", re.ASCII | re.IGNORECASE)


def url_matcher(text: str) -> Callable[[str], object]:
    """Return a function that returns whether a URL matches the pattern *text*.

    It is a regular expression that may match anywhere in the URL, or ``//example.com`` for a domain and its
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


#: Protections of a page that is another one than its text says, so that URLs of its kind are not skipped. That of
#: pagination is not: whether a list goes on is known by what it leads to.
OF_ITS_OWN = ("language", "facts")
#: Protections that leave a page alone; the others keep its links.
WHOLE = ("pagination", *OF_ITS_OWN)


class SimhashPolicy:
    """Decides what is dropped of a page that is a near-duplicate, or unchanged since an earlier crawl.

    The request's meta names the action, else the settings do. Less is dropped, or nothing,

    * if a pattern of ``SIMHASH_KEEP_URLS`` matches the URL, or it is the URL of the original;
    * if ``SIMHASH_PROTECT`` protects the page or its links. Of unchanged pages only the links are protected.

    An action that the request asks for has no exceptions.

    ``SIMHASH_POLICY`` is the import path of a subclass. It is created with the `Config` of the crawl, or by its class
    method ``from_crawler(crawler, config)`` if it has one.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self._copy = [(url_matcher(pattern), Action.named(words)) for pattern, words in config.actions]
        self._exact_copy = None if config.exact_action is None else Action.named(config.exact_action)
        self._unchanged = Action.named(config.revisit_action)
        self._protect = frozenset(config.protect)
        self._kept_urls = [url_matcher(pattern) for pattern in config.keep_urls]

    def copy_action(self, page: Judged) -> Action | str | Sequence[str]:
        """Return the action for a near-duplicate whose request names none: a value that SIMHASH_ACTION takes."""
        if page.verdict.is_exact and self._exact_copy is not None:
            return self._exact_copy
        return next((action for matches, action in self._copy if matches(page.url)), Action.MARK)

    def unchanged_action(self, page: Judged) -> Action | str | Sequence[str]:
        """Return the action for an unchanged page whose request names none: a value that SIMHASH_ACTION takes."""
        return self._unchanged

    def decide(self, page: Judged) -> Decision:
        """Return what is dropped of *page*, which is a near-duplicate, or unchanged, or both.

        If it is both, everything is dropped that either action drops. It then counts as dropped as a near-duplicate,
        unless the action for near-duplicates drops nothing. An exception is counted and logged, and the page is kept.
        """
        verdict = page.verdict
        steps = []
        if verdict.duplicate_of is not None:
            keys = ("exact_action", "action") if verdict.is_exact else ("action",)
            steps.append(("near_duplicate", *self._decide(page, keys, is_copy=True)))
        if is_done(verdict):
            steps.append(("unchanged", *self._decide(page, ("revisit_action",), is_copy=False)))
        action = Action.MARK
        for _, _, allowed, _ in steps:
            action |= allowed
        # What one of them keeps the other may drop: then it was not protected.
        protected = next((reason for _, wanted, _, reason in steps if reason and wanted not in action), None)
        dropped_as = next((name for name, _, allowed, _ in steps if allowed is not Action.MARK), None)
        return Decision(action, protected, dropped_as)

    def _decide(
        self, page: Judged, keys: Sequence[str], *, is_copy: bool
    ) -> tuple[Action, Action, Protection | None]:
        """Return the wanted action, what is left of it, and why not more is left."""
        asked = page.asked
        words = next((asked[key] for key in keys if is_action(asked.get(key))), None) if asked else None
        is_explicit = words is not None
        if words is None:
            words = self.copy_action(page) if is_copy else self.unchanged_action(page)
        wanted = words if isinstance(words, Action) else Action.named(words)
        if wanted is Action.MARK:
            return wanted, wanted, None
        if not is_explicit and any(matches(page.url) for matches in self._kept_urls):
            return wanted, Action.MARK, Protection.URL
        # Other plugins put more into the fingerprint of a request than its URL.
        if is_copy and page.verdict.duplicate_of == page.url and not is_explicit:
            return wanted, Action.MARK, Protection.ITSELF
        if is_explicit:
            return wanted, wanted, None
        return wanted, *self._less_protected(page, wanted, WHOLE if is_copy else ())

    def _less_protected(
        self, page: Judged, wanted: Action, whole: Collection[str]
    ) -> tuple[Action, Protection | None]:
        """Return what is left of an action if the protections in *whole* keep a page, and the others its links."""
        kept = wanted.keeping_links()
        links_matter = kept != wanted
        is_start = links_matter and page.depth == 0 and "start" in self._protect
        # Whether the page is a listing does not matter if its links are kept anyway.
        asks_for_listing = links_matter and not is_start
        looked_for = self._protect.intersection((*whole, "listing") if asks_for_listing else whole)
        protected = Protection.START if is_start else None
        for name in page.protections(looked_for) if looked_for else ():
            if name in whole:
                return Action.MARK, Protection(name)
            protected = Protection(name)
        return (wanted, None) if protected is None else (kept, protected)


def is_done(verdict: Verdict) -> bool:
    """Return whether a page is unchanged since an earlier crawl delivered it."""
    return verdict.reason is Reason.UNCHANGED and verdict.is_delivered


def is_action(value: object) -> bool:
    """Return whether *value* names an action, or is a list of such names."""
    try:
        Action.named(value)
    except (ValueError, TypeError):
        return False
    return True
