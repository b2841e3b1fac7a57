"""UrlRules: the rules of all hosts of a crawl, the latest used ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from scrapy_simhash.observers.url_rules.host import FETCHED, MISSING, HostRules, Seen, Skip, Texts
from scrapy_simhash.observers.url_rules.hypotheses import hypothesis_of
from scrapy_simhash.observers.url_rules.kept import RuleKeeper
from scrapy_simhash.observers.url_rules.novelty import Came, group_in
from scrapy_simhash.observers.url_rules.trials import Look, Looks
from scrapy_simhash.scope import host_of

#: Hosts of which rules are in memory, and the bytes that they may take together.
MOST_HOSTS, MOST_BYTES = 10_000, 32_000_000
#: Pages that may wait until they are learned from.
MOST_WAITING = 64


class Choice(NamedTuple):
    """A rule that a user has chosen: for one host, or for all."""

    rule: str
    host: str
    """Empty for all hosts."""


class Origin(NamedTuple):
    """Where a page came from."""

    asked: str
    """The URL that was asked for, which may have led elsewhere."""
    parent: str | None
    """The page that linked to it: empty if that is not known, None if there is none."""
    is_silent: bool = False
    """Whether it has no text at all."""
    is_after_all: bool = False
    """Whether its request had been skipped."""
    is_protected: Callable[[], bool] | None = None
    """Tells whether it is a page of its own although its text came before, as a variant of a product is. Costly."""


class _Page(NamedTuple):
    """A page to be learned from."""

    url: str
    content: int
    former: int
    use: int
    origin: Origin | None


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


def site_of(url: str) -> str:
    """Return what the URLs of one site share: the host without its port, and without ``www.``.

    >>> site_of("https://www.example.com:8000/a")
    'example.com'
    """
    return host_of(url).removeprefix("www.")


class UrlRules:
    """The rules of each host. When there are too many hosts, the one that was not used for longest goes.

    >>> from scrapy_simhash.observers.url_rules import Look
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
        #: Pages that are to be learned from, by site.
        self._waiting: dict[str, list[_Page]] = {}
        self._number_waiting = 0
        #: Whether requests depend on what is learned.
        self._decides = False
        #: Bytes that all of it takes, about.
        self.weight = 0
        self._seen = Seen()
        self._texts = Texts()

    def of(self, url: str) -> HostRules:
        """Return the rules of the host of *url*, empty ones at its first page."""
        return self._find(site_of(url))

    def learn(
        self,
        url: str,
        content: int,
        look: Looks | None,
        now: int = 0,
        use: int = 1,
        origin: Origin | None = None,
        former: int = 0,
    ) -> list[Choice]:
        """Learn from a page, and return the rules that were given up, each with its host.

        See `HostRules.learn`. *look* is None for a page that repeats no earlier one: it makes no rule, so it waits
        until `MOST_WAITING` do, or until a page repeats another. Pages that are learned together cost less, as the
        processor has the code at hand. None waits once rules decide about requests. Without *origin*, the page does
        not count for novelty. *former* is what former() has returned.
        """
        site = site_of(url)
        page = _Page(url, content, former, use, origin)
        if look is None and not self._decides:
            self._waiting.setdefault(site, []).append(page)
            self._number_waiting += 1
            return self.settle(now) if self._number_waiting >= MOST_WAITING else []
        given_up = self._settle_one(site, now) if site in self._waiting else []
        return given_up + self._learn(site, (page,), look or _unseen, now)

    def former(self, url: str, content: int, text: int | None) -> int:
        """Return the *content* of the first page of the host of *url* with the hash *text*; 0 if this is the first.

        Pages of equal text are equal for rules, whatever the verdicts on them.
        """
        return 0 if text is None else self._texts.former(hash((site_of(url), text)), content)

    def settle(self, now: int) -> list[Choice]:
        """Learn from the pages that wait, and return what learn() does."""
        return [given_up for site in list(self._waiting) for given_up in self._settle_one(site, now)]

    def forget(self, url: str) -> None:
        """Forget that the page at *url* was fetched: what was made of it is lost."""
        waiting = self._waiting.get(site_of(url), [])
        kept = [page for page in waiting if page.url != url]
        self._number_waiting -= len(waiting) - len(kept)
        waiting[:] = kept
        self.of(url).forget(url)

    def led_on(self, parent: str | None, site: str) -> list[Choice]:
        """Note that something new was reached on *site* through *parent*, and return the rules undone by that.

        It was reached through the pages that led to that one, too. *parent* is empty if nobody knows it, and None if
        there is none.
        """
        undone: list[Choice] = []
        while parent is not None:
            place = site_of(parent) if parent else site
            host = self._hosts.get(place)
            if host is None:
                break
            before = host.weight
            page = host.led_on(parent)
            if page is not None:
                undone += [Choice(rule, place) for rule in host.novelty.add_new(page.groups)]
            self.weight += host.weight - before
            parent, site = (page and page.parent) or None, place
        return undone

    def would_skip(self, url: str, use: int = 1, *, may_stop: bool = True) -> Skip | None:
        """Return why the request of *url* need not be sent, None if it is sent; see `HostRules.would_skip`."""
        host = self.of(url)
        self._decides = self._decides or bool(host.in_force or host.novelty.stopped)
        return host.would_skip(url, use, may_stop=may_stop)

    @property
    def hosts(self) -> dict[str, HostRules]:
        """The hosts in memory, by name."""
        return dict(self._hosts)

    def _settle_one(self, site: str, now: int) -> list[Choice]:
        pages = self._waiting.pop(site)
        self._number_waiting -= len(pages)
        return self._learn(site, pages, _unseen, now)

    def _learn(self, site: str, pages: Sequence[_Page], look: Looks, now: int) -> list[Choice]:
        host = self._find(site)
        given_up = []
        for url, content, former, use, origin in pages:
            came = None if origin is None or content == MISSING else self._came(site, content, former, origin)
            before = host.weight
            given_up += [
                Choice(rule, site) for rule in host.learn(url, content, look, now, use, came, former)
            ]
            self.weight += host.weight - before
            if origin is not None and host.brought_new:
                given_up += self.led_on(origin.parent, site)
        while self.weight > MOST_BYTES and len(self._hosts) > 1:
            self._forget_one()
        return given_up

    def _came(self, site: str, content: int, former: int, origin: Origin) -> Came:
        # A short page may say anything, but for one that has no text at all.
        is_short = content == FETCHED
        is_new = not origin.is_silent if is_short else self._seen.is_new(hash((site, content))) and not former
        if not is_new and origin.is_protected is not None:
            host = self._find(site)
            # Where nobody asks whether to skip anything, only what is counted depends on it.
            if host.checks.requests or host.novelty.has_slowed:
                is_new = origin.is_protected()
        return Came(origin.asked, is_new, origin.parent, origin.is_after_all)

    def _find(self, site: str) -> HostRules:
        host = self._hosts.get(site)
        if host is None:
            host = self._hosts[site] = HostRules(
                pinned=self._chosen(self._pinned, site), forbidden=self._chosen(self._forbidden, site)
            )
            self.weight += host.weight
            if self.keeper is not None:
                self.keeper.add(site, host)
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


def _unseen(any_variant: bool) -> Look:
    """Look at a page that repeats no other: nothing of it is needed."""
    return Look(is_barred=True)
