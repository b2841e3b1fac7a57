"""UrlRules: the rules of all hosts of a crawl, the latest used ones."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple

from scrapy_simhash.scope import host_of
from scrapy_simhash.url_rules.host import HostRules, Skip
from scrapy_simhash.url_rules.hypotheses import hypothesis_of
from scrapy_simhash.url_rules.keeping import RuleKeeper
from scrapy_simhash.url_rules.trials import Looks

#: Hosts of which rules are in memory, and the bytes that they may take together.
MOST_HOSTS, MOST_BYTES = 10_000, 36_000_000


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
    hypothesis_of(found.rule)
    return found


def site_of(url: str) -> str:
    """Return what the URLs of one site share: the host without its port, and without ``www.``.

    >>> site_of("https://www.example.com:8000/a")
    'example.com'
    """
    return host_of(url).removeprefix("www.")


class UrlRules:
    """The rules of each host. When there are too many hosts, the one that was not used for longest goes.

    >>> from scrapy_simhash.url_rules import Look
    >>> rules = UrlRules()
    >>> for visit in range(120):
    ...     url = f"https://example.com/story/{visit % 30}?sid={visit}"
    ...     _ = rules.learn(url, 1 + visit % 30, lambda fresh: Look())
    >>> rules.of(url).in_force
    ['parameter sid']
    >>> rules.would_skip("https://example.com/story/7?sid=new").rules
    ('parameter sid',)
    """

    def __init__(
        self,
        *,
        pinned: Iterable[Choice] = (),
        forbidden: Iterable[Choice] = (),
        keeper: RuleKeeper | None = None,
    ) -> None:
        """*pinned* rules are in force whatever is learned, *forbidden* ones never. *keeper* loads and keeps them."""
        self.keeper = keeper
        self._pinned = tuple(pinned)
        self._forbidden = tuple(forbidden)
        self._hosts: OrderedDict[str, HostRules] = OrderedDict()
        #: Bytes that all of it takes, about.
        self.weight = 0

    def of(self, url: str) -> HostRules:
        """Return the rules of the host of *url*, empty ones at its first page."""
        return self._find(site_of(url))

    def learn(self, url: str, content: int, look: Looks, now: int = 0, use: int = 1) -> list[str]:
        """Learn from a page, and return the rules that were given up; see `HostRules.learn`."""
        host = self.of(url)
        before = host.weight
        given_up = host.learn(url, content, look, now, use)
        self.weight += host.weight - before
        while self.weight > MOST_BYTES and len(self._hosts) > 1:
            self._forget_one()
        return given_up

    def would_skip(self, url: str, use: int = 1) -> Skip | None:
        """Return why the request of *url* need not be sent, None if it is sent; see `HostRules.would_skip`."""
        return self.of(url).would_skip(url, use)

    @property
    def hosts(self) -> dict[str, HostRules]:
        """The hosts in memory, by name."""
        return dict(self._hosts)

    def _find(self, site: str) -> HostRules:
        host = self._hosts.get(site)
        if host is None:
            host = self._hosts[site] = HostRules(
                pinned=self._chosen(self._pinned, site), forbidden=self._chosen(self._forbidden, site)
            )
            self.weight += host.weight
            if self.keeper is not None:
                self.keeper.add(site, host, int(time.time()))
            if len(self._hosts) > MOST_HOSTS:
                self._forget_one()
        else:
            self._hosts.move_to_end(site)
        return host

    def _forget_one(self) -> None:
        site, host = self._hosts.popitem(last=False)
        if self.keeper is not None:
            self.keeper.drop(site)
        self.weight -= host.weight

    @staticmethod
    def _chosen(choices: Iterable[Choice], site: str) -> frozenset[str]:
        return frozenset(rule for rule, host in choices if host in ("", site))
