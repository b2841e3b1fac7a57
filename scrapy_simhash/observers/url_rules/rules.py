"""UrlRules: the rules of all hosts of a crawl, the latest used ones."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from scrapy_simhash.exceptions import StoreError
from scrapy_simhash.notes import RULES, Notes, fetch, share
from scrapy_simhash.observers.url_rules.host import FETCHED, MISSING, HostRules, Page
from scrapy_simhash.observers.url_rules.hypotheses import hypothesis_of
from scrapy_simhash.observers.url_rules.kept import KeptRules
from scrapy_simhash.observers.url_rules.novelty import group_in
from scrapy_simhash.scope import host_of
from scrapy_simhash.waiting import finished

#: Hosts of which rules are in memory, and the bytes that they may take together.
MOST_HOSTS, MOST_BYTES = 10_000, 32_000_000
#: Numbers that are known again at most: one takes the place of another that falls on the same slot.
SLOTS = 1 << 17


class Firsts:
    """Knows numbers again, each with what it came with at first. What is forgotten is new once more. 1.5 MB.

    >>> firsts = Firsts()
    >>> firsts.former(7, 1), firsts.former(7, 2)
    (0, 1)
    """

    def __init__(self) -> None:
        self._numbers = array("Q", bytes(8 * SLOTS))
        self._values = array("I", bytes(4 * SLOTS))

    def former(self, number: int, value: int = 1) -> int:
        """Return the *value* that *number* came with at first; 0 if it comes for the first time."""
        number = number & (1 << 64) - 1 or 1
        slot = number % SLOTS
        if self._numbers[slot] == number:
            return self._values[slot]
        self._numbers[slot], self._values[slot] = number, value
        return 0


class Choice(NamedTuple):
    """A rule that a user has chosen: for one host, or for all."""

    rule: str
    host: str
    """Empty for all hosts."""


def choice(text: str) -> Choice:
    """Return the rule of *text*, for the host before it, if one is named. Raises ValueError for the text of no rule.

    >>> choice("example.com: parameter sid")
    Choice(rule='parameter sid', host='example.com')
    """
    host, separator, rule = text.partition(": ")
    found = Choice(rule.strip(), site_of(f"http://{host.strip()}")) if separator else Choice(text.strip(), "")
    if group_in(found.rule) is None:
        hypothesis_of(found.rule)
    return found


# A page is asked for it when it comes, when it is learned from, and for each page that it leads to.
@lru_cache(maxsize=256)
def site_of(url: str) -> str:
    """Return what the URLs of one site share: the host without its port, and without ``www.``.

    >>> site_of("https://www.example.com:8000/a")
    'example.com'
    """
    return host_of(url).removeprefix("www.")


class UrlRules:
    """The rules of each host. When there are too many hosts, the one that was not used for longest goes.

    >>> rules = UrlRules()
    >>> for visit in range(120):
    ...     url = f"https://example.com/story/{visit % 30}?sid={visit}"
    ...     _ = rules.learn([Page(url, 1 + visit % 30, look=lambda any_variant: 0)])
    >>> rules.of(url).in_force
    ['parameter sid']
    >>> rules.would_skip("https://example.com/story/7?sid=new")
    ('parameter sid',)
    """

    def __init__(
        self,
        *,
        pinned: Iterable[Choice] = (),
        forbidden: Iterable[Choice] = (),
        notes: Notes | None = None,
    ) -> None:
        """*pinned* rules are in force whatever is learned, *forbidden* ones never.

        *notes* keep what was learned. Trouble with them raises nothing: it is tried again later. What notes elsewhere
        have of a host comes with the next `share`: until then the host begins from nothing.
        """
        self.notes = notes
        #: The hosts in memory as their notes have them, and those of them that were not asked for yet.
        self._kept: dict[str, KeptRules] = {}
        self._new: dict[str, KeptRules] = {}
        self._pinned = tuple(pinned)
        self._forbidden = tuple(forbidden)
        #: The hosts in memory, by name, the latest used at the end.
        self.hosts: OrderedDict[str, HostRules] = OrderedDict()
        #: Bytes that all of it takes, about.
        self.weight = 0
        self._contents = Firsts()
        #: By hash of site and text, the content that a text had at first: pages of equal text are equal for rules,
        #: whatever the verdicts on them, which change as a site becomes known.
        self.texts = Firsts()

    def of(self, url: str) -> HostRules:
        """Return the rules of the host of *url*, empty ones at its first page."""
        return self._find(site_of(url))

    def learn(self, pages: Iterable[Page], now: int = 0) -> list[Choice]:
        """Learn from *pages* in their order, and return the rules that were given up, each with its host.

        Together they cost less than one by one, as the processor has the code at hand, and leave the same behind.
        *now* is in seconds of Unix time. See `HostRules.learn`.
        """
        given_up: list[Choice] = []
        learned: dict[str, HostRules] = {}
        site, host = "", None
        for page in pages:
            its_site = site_of(page.url)
            if host is None or its_site != site:
                site, host = its_site, self._find(its_site)
            if page.asked is None or page.content == MISSING:
                is_new = None
            elif page.content == FETCHED:
                # A short page may say anything, but for one that has no text at all.
                is_new = not page.is_silent
            else:
                is_new = not self._contents.former(hash((site, page.content))) and not page.former
            # Where nobody asks whether to skip anything, only what is counted depends on it.
            if is_new is False and page.is_protected and (host.checks.requests or host.novelty.has_slowed):
                is_new = page.is_protected()
            for rule in host.learn(page, now, is_new=is_new):
                given_up.append(Choice(rule, site))
            learned[site] = host
            if host.brought_new and page.parent is not None:
                given_up += self.led_on(page.parent, site)
        for host in learned.values():
            self._weigh(host)
        while self.weight > MOST_BYTES and len(self.hosts) > 1:
            self._forget_one()
        return given_up

    def led_on(self, parent: str | None, site: str) -> list[Choice]:
        """Note that something new was reached on *site* through *parent*, and return the rules undone by that.

        It was reached through the pages that led to that one, too. *parent* is empty if nobody knows it, and None if
        there is none.
        """
        undone: list[Choice] = []
        while parent is not None:
            site = site_of(parent) if parent else site
            host = self.hosts.get(site)
            # Where every page brought something new, none is waiting for it.
            if host is None or not host.novelty.barren:
                break
            page = host.novelty.led_on(host.key_of(parent))
            if page is None:
                break
            undone += [Choice(rule, site) for rule in host.novelty.add_new(page.groups)]
            self._weigh(host)
            parent = page.parent or None
        return undone

    def would_skip(self, url: str, use: int = 1, *, may_stop: bool = True) -> tuple[str, ...]:
        """Return the rules by which *url* need not be requested, none if it is sent; see `HostRules.would_skip`."""
        return self.of(url).would_skip(url, use, may_stop=may_stop)

    @property
    def has_new(self) -> bool:
        """Whether there are hosts whose notes `share` is to ask for."""
        return bool(self._new)

    async def share(self) -> None:
        """Write what was learned since the last call, joined with what other crawlers have written."""
        if self.notes is None:
            return
        with suppress(StoreError):
            for site, kept in list(self._new.items()):
                await fetch(self.notes, RULES, site, kept)
                self._new.pop(site, None)
            await share(self.notes, RULES, {site: kept for site, kept in self._kept.items() if kept.has_news})

    def _find(self, site: str) -> HostRules:
        host = self.hosts.get(site)
        if host is None:
            host = self.hosts[site] = HostRules(
                pinned=self._chosen(self._pinned, site), forbidden=self._chosen(self._forbidden, site)
            )
            self._weigh(host)
            if self.notes is not None:
                kept = self._kept[site] = KeptRules(host)
                if self.notes.is_remote:
                    self._new[site] = kept
                else:
                    with suppress(StoreError):
                        finished(fetch(self.notes, RULES, site, kept))
            if len(self.hosts) > MOST_HOSTS:
                self._forget_one()
        else:
            self.hosts.move_to_end(site)
        return host

    def _weigh(self, host: HostRules) -> None:
        weight = host.weight
        self.weight += weight - host.weighed
        host.weighed = weight

    def _forget_one(self) -> None:
        site, host = self.hosts.popitem(last=False)
        # What its note does not have yet is lost.
        self._kept.pop(site, None)
        self._new.pop(site, None)
        self.weight -= host.weighed

    @staticmethod
    def _chosen(choices: Iterable[Choice], site: str) -> frozenset[str]:
        return frozenset(rule for rule, host in choices if host in ("", site))
