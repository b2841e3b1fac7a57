"""UrlRuleGuard: URL rules in a crawl. Learns from verdicts, and does what ``SIMHASH_URL_RULES`` says."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict, deque
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import IgnoreRequest

from scrapy_simhash import names
from scrapy_simhash.config import setting_name
from scrapy_simhash.crawl.crawling import is_crawl
from scrapy_simhash.crawl.flood_guard import may_be_refused
from scrapy_simhash.crawl.html import tree_of
from scrapy_simhash.crawl.page_look import PageLooks, evidence_of
from scrapy_simhash.crawl.stats import stats_of
from scrapy_simhash.crawl.warn_once import WarnOnce
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.signals import request_skipped
from scrapy_simhash.url_rules import EXPLORED, RuleKeeper, UrlRules, choice, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_simhash.config import Config
    from scrapy_simhash.fingerprinter import PageFingerprinter
    from scrapy_simhash.url_rules import Choice, HostRules
    from scrapy_simhash.verdict import Verdict

logger = logging.getLogger(__name__)

#: Skipped requests that are sent after all if their rule is given up: of a host, and in all.
MOST_KEPT, MOST_KEPT_IN_ALL = 1_000, 20_000
#: Skipped requests of a host that are sent at the end at most, the latest among them.
MOST_AT_END = 20
#: Uses of pages that are told apart.
MOST_USES = 16
#: Pages after which the store is told what was learned: a kill loses no more than that.
KEPT_EVERY = 500
#: Hosts of which the last line tells.
MOST_TOLD = 5


class RequestSkipped(IgnoreRequest):
    """A request was not sent, since by URL rules its page has been fetched under another URL."""

    def __init__(self, url: str, rules: tuple[str, ...]) -> None:
        super().__init__(
            f"{url} was skipped: its page has been fetched under another URL ({', '.join(rules)})"
        )
        self.rules = rules
        """The rules, as ``scrapy-simhash rules`` shows them."""


class UrlRuleGuard:
    """The URL rules of one crawl: the one place where requests are skipped, exempted, and sent after all.

    An error in here is counted and logged, and never costs a page.
    """

    def __init__(self, crawler: Crawler, config: Config, fingerprinter: PageFingerprinter) -> None:
        self._crawler = crawler
        self._skips = config.url_rules == "skip"
        self.rules: UrlRules | None = None
        if config.url_rules != "off" and is_crawl(crawler):
            self.rules = UrlRules(
                pinned=_choices("url_rules_pin", config), forbidden=_choices("url_rules_forbid", config)
            )
        self._keeper: RuleKeeper | None = None
        self._exchanging: asyncio.Task[None] | None = None
        self._learned = 0
        self._looks = PageLooks(fingerprinter)
        self._kept: OrderedDict[str, deque[tuple[tuple[str, ...], Request]]] = OrderedDict()
        self._kept_in_all = 0
        self._uses: dict[tuple[str | None, str, str], int] = {}
        #: Hosts of which skipped requests were sent at the end.
        self._checked: set[str] = set()
        self._warn_once = WarnOnce(crawler, logger, names.STAT_CONSEQUENCE_ERRORS)
        if self.may_skip:
            crawler.signals.connect(self.spider_idle, signal=signals.spider_idle)

    @property
    def may_skip(self) -> bool:
        """Whether requests are to be asked about."""
        return self._skips and self.rules is not None

    def keep_in(self, store: object) -> None:
        """Load rules from *store* and keep them there, if it can; to be called before the first page."""
        if self.rules is not None:
            self._keeper = self.rules.keeper = RuleKeeper(store)

    async def keep(self) -> None:
        """Give the store what is not there yet."""
        if self._keeper is not None:
            await self._keeper.exchange(int(time.time()))

    def note_verdict(self, verdict: Verdict, request: Request, response: Response) -> None:
        """Learn from a page that the spider gets."""
        if self.rules is None or request.method != "GET":
            return
        try:
            content = evidence_of(verdict, response.status)
            if content is None:
                return
            looks = self._looks.at(verdict, lambda: tree_of(response))
            for rule in self.rules.learn(request.url, content, looks, int(time.time()), self._use(request)):
                self._give_up_rule(rule, request.url)
            self._learned += 1
            if self._keeper is not None and (self._keeper.has_new or self._learned % KEPT_EVERY == 0):
                self._share(self._keeper)
        except Exception:
            self._failed(response)

    def screen(self, request: Request) -> Request | None:
        """Return None for a request that is to be sent now, and a request for later in place of one that has to wait.

        Raises RequestSkipped for one that need not be sent.
        """
        if self.rules is None or bool(request.dont_filter) != (names.META_WAITED in request.meta):
            return None
        try:
            if not may_be_refused(request) or request.meta.get(names.META_URL_RULES, True) is False:
                return None
            skip = self.rules.would_skip(request.url, self._use(request))
            if skip is None:
                return self._waiting(request)
            if not self.rules.of(request.url).pinned.issuperset(skip.rules):
                self._keep(request, skip.rules)
        except Exception:
            self._failed(request)
            return None
        stats_of(self._crawler).inc_value(names.STAT_URL_RULES_SKIPPED)
        self._crawler.signals.send_catch_log(
            request_skipped, request=request, rules=skip.rules, spider=self._crawler.spider
        )
        raise RequestSkipped(request.url, skip.rules)

    def spider_idle(self) -> None:
        """Send some of the skipped requests of each host when nothing else is left, as a last check."""
        try:
            for site, kept in self._kept.items():
                if site not in self._checked and self.rules is not None:
                    self._checked.add(site)
                    number = min(MOST_AT_END, 1 + self.rules.of(f"http://{site}/").requests // EXPLORED)
                    requests = [request for _, request in kept]
                    self._send(requests[:: -max(1, len(requests) // number)][:number])
        except Exception:
            self._failed(self._crawler.spider)

    def forget(self, request: Request) -> None:
        """Note that what was made of the answer to *request* is lost: its page is not skipped under other URLs."""
        if self.rules is not None:
            self.rules.of(request.url).forget(request.url)

    def spider_closed(self) -> None:
        """Log which rules there are on which hosts, and what they save."""
        if self.rules is None:
            return
        hosts = [(name, host) for name, host in self.rules.hosts.items() if host.in_force and host.skipped]
        hosts.sort(key=lambda item: -item[1].skipped)
        if hosts and not self._skips:
            stats_of(self._crawler).set_value(
                names.STAT_URL_RULES_WOULD_SKIP, sum(host.skipped for _, host in hosts)
            )
        for name, host in hosts[:MOST_TOLD]:
            logger.info("%(line)s", {"line": self._line(name, host)}, extra={"spider": self._crawler.spider})

    def _line(self, name: str, host: HostRules) -> str:
        loss = max(host.evidence[rule].loss for rule in host.in_force)
        total = host.requests + host.skipped if self._skips else host.pages
        found = (
            f"URL rules: without effect on {name}: {', '.join(host.in_force)} ({host.skipped:,} of {total:,}"
            f" requests; estimated loss <= {100 * loss:.1f} %)"
        )
        end = "were skipped" if self._skips else "SIMHASH_URL_RULES = 'skip' would have saved them"
        return f"{found}; {end}"

    def _share(self, keeper: RuleKeeper) -> None:
        if not keeper.is_shared:
            keeper.keep()
        elif self._exchanging is None or self._exchanging.done():
            self._exchanging = asyncio.create_task(self._exchange(keeper))

    async def _exchange(self, keeper: RuleKeeper) -> None:
        """Join what other crawlers have learned: a rule that they have given up is given up here."""
        assert self.rules is not None
        await keeper.exchange(int(time.time()))
        for site, kept in list(self._kept.items()):
            skipped_by = {rule for rules, _ in kept for rule in rules}
            evidence = self.rules.of(f"http://{site}/").evidence
            for rule in sorted(skipped_by):
                if rule in evidence and not evidence[rule].stage:
                    self._give_up_rule(rule, f"http://{site}/")

    def _use(self, request: Request) -> int:
        """Return what the page of *request* is for, as one bit: its callback, rule of a CrawlSpider, and cookies.

        0 if there are too many: such requests are never skipped.
        """
        callback = getattr(request.callback, "__qualname__", None)
        key = callback, str(request.meta.get("rule")), str(request.meta.get("cookiejar"))
        number = (
            self._uses.setdefault(key, len(self._uses))
            if len(self._uses) < MOST_USES
            else self._uses.get(key)
        )
        return 0 if number is None else 1 << number

    def _waiting(self, request: Request) -> Request | None:
        assert self.rules is not None
        if names.META_WAITED in request.meta or not self.rules.of(request.url).should_wait(request.url):
            return None
        meta = {**request.meta, names.META_WAITED: True}
        return request.replace(priority=request.priority - 1, dont_filter=True, meta=meta)

    def _keep(self, request: Request, rules: tuple[str, ...]) -> None:
        site = site_of(request.url)
        kept = self._kept.setdefault(site, deque(maxlen=MOST_KEPT))
        self._kept_in_all += len(kept) < MOST_KEPT
        kept.append((rules, request))
        self._kept.move_to_end(site)
        if self._kept_in_all > MOST_KEPT_IN_ALL:
            # Of the host that has waited longest.
            first, oldest = next(iter(self._kept.items()))
            oldest.popleft()
            self._kept_in_all -= 1
            if not oldest:
                del self._kept[first]

    def _give_up_rule(self, rule: str, url: str) -> None:
        """Send after all what *rule* has skipped on the host of *url*."""
        site = site_of(url)
        kept = self._kept.get(site, deque())
        again = [request for rules, request in kept if rule in rules]
        if len(again) < len(kept):
            self._kept[site] = deque((item for item in kept if rule not in item[0]), MOST_KEPT)
        else:
            self._kept.pop(site, None)
        self._kept_in_all -= len(again)
        stats_of(self._crawler).inc_value(names.STAT_URL_RULES_GIVEN_UP)
        logger.info(
            "URL rules: %(rule)s has an effect on %(site)s by now, the rule is given up; %(number)d skipped requests"
            " are sent after all",
            {"rule": rule, "site": site, "number": len(again)},
            extra={"spider": self._crawler.spider},
        )
        self._send(again)

    def _send(self, requests: Iterable[Request]) -> None:
        """Send requests that were skipped."""
        engine = self._crawler.engine
        for request in requests if engine is not None else ():
            stats_of(self._crawler).inc_value(names.STAT_URL_RULES_SENT)
            meta = {name: value for name, value in request.meta.items() if name != names.META_WAITED}
            engine.crawl(request.replace(dont_filter=True, meta=meta))

    def _failed(self, about: object) -> None:
        """Log what went wrong; call it where the exception is handled."""
        stats_of(self._crawler).inc_value(names.STAT_CONSEQUENCE_ERRORS)
        self._warn_once.tell("Error while applying URL rules to %(about)s: it is kept", about)


def _choices(name: str, config: Config) -> list[Choice]:
    """Return the rules in a setting. Raises SettingError for what is none."""
    try:
        return [choice(text) for text in getattr(config, name)]
    except ValueError as error:
        raise SettingError(f"{setting_name(name)}: {error}, such as 'example.com: parameter sid'") from error
