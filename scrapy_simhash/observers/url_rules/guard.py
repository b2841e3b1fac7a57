"""UrlRuleGuard: URL rules in a crawl. Learns from verdicts, and does what ``SIMHASH_URL_RULES`` says."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.job import job_dir

from scrapy_simhash import names
from scrapy_simhash.config import setting_name
from scrapy_simhash.crawling import (
    Listener,
    Once,
    asked_of,
    is_start,
    may_be_skipped,
    meta_with,
    own_of,
    stats_of,
    take_own,
    tree_of,
)
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.fingerprinter import PageFingerprinter
from scrapy_simhash.judge.hints import is_listing
from scrapy_simhash.judge.policy import OF_ITS_OWN, Protection
from scrapy_simhash.notes import RULES
from scrapy_simhash.observers.floods.notices import FloodNotices
from scrapy_simhash.observers.url_rules.evidence import EXPLORED
from scrapy_simhash.observers.url_rules.host import FETCHED, MISSING, Page
from scrapy_simhash.observers.url_rules.kept_requests import MOST_KEPT, KeptRequests
from scrapy_simhash.observers.url_rules.novelty import group_in, rule_of
from scrapy_simhash.observers.url_rules.rules import UrlRules, choice, site_of
from scrapy_simhash.observers.url_rules.trials import unseen
from scrapy_simhash.page.text.tree import elements, texts
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import scope_of
from scrapy_simhash.signals import request_skipped
from scrapy_simhash.verdict import Reason, Status
from scrapy_simhash.waiting import finished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_simhash.config import Config
    from scrapy_simhash.crawling import Page as CrawledPage
    from scrapy_simhash.observers.url_rules.host import HostRules
    from scrapy_simhash.observers.url_rules.rules import Choice
    from scrapy_simhash.observers.url_rules.trials import Looks
    from scrapy_simhash.store import Store
    from scrapy_simhash.verdict import Verdict


logger = logging.getLogger(__name__)

#: Skipped requests of a host that are sent at the end at most, the latest among them; and how often, while a rule is
#: doubted.
MOST_AT_END, MOST_ENDS = 20, 8
#: Uses of pages that are told apart.
MOST_USES = 16
#: Pages that may wait to be learned from together.
MOST_WAITING = 64
#: Pages learned from after which the store is told: a kill loses no more than these and those that wait.
KEPT_EVERY = 500
#: URLs from which redirects led elsewhere that are remembered, and URLs that were sent after all; the oldest goes.
MOST_REDIRECTS, MOST_AFTER_ALL = 20_000, 1_000
#: Hosts of which the last line tells.
MOST_TOLD = 5
#: The file in JOBDIR with the skipped requests of a crawl that was stopped.
KEPT_FILE = "simhash-skipped-requests"
#: Why a request is not filtered, though the spider did not ask for that.
_WAITED, _SENT_AFTER_ALL = "waited", "sent after all"


class UrlRuleGuard(Listener):
    """The URL rules of one crawl: the one place where requests are skipped, protected, and sent after all.

    An error in here is counted and logged, and never costs a page.
    """

    def __init__(self, crawler: Crawler, config: Config) -> None:
        self._crawler = crawler
        self._skips = config.url_rules == "skip"
        self._of_its_own = frozenset(config.protect).intersection(OF_ITS_OWN)
        pinned, forbidden = _choices(config)
        self.rules = UrlRules(pinned=pinned, forbidden=forbidden)
        self._exchanging: asyncio.Task[None] | None = None
        #: Pages that are to be learned from, in the order in which they came; and those learned from of which the
        #: store was not told.
        self._waiting: list[Page] = []
        self._learned = 0
        self._looks = PageLooks()
        self._floods = FloodNotices(crawler, PageFingerprinter(config), skips=self._skips)
        #: Hashes of URLs that redirects led away from, and URLs that were sent although they had been skipped.
        self._redirects: Recent[int, None] = Recent(MOST_REDIRECTS)
        self._after_all: Recent[str, bool] = Recent(MOST_AFTER_ALL)
        self._kept = KeptRequests()
        self._uses: dict[tuple[str | None, str, str, str], int] = {}
        #: The lowest priority of any request so far that did not have to wait.
        self._lowest = 0
        #: How often skipped requests of a host were sent at the end.
        self._checked: Counter[str] = Counter()
        self._once = Once(crawler, logger, names.ERRORS_ACTION)
        folder = job_dir(crawler.settings) if self._skips else None
        self._file = Path(folder, KEPT_FILE) if folder else None
        crawler.signals.connect(self.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)
        crawler.signals.connect(self.outcome_lost, signal=signals.spider_error)
        crawler.signals.connect(self.outcome_lost, signal=signals.item_error)
        if self._skips:
            crawler.signals.connect(self.spider_idle, signal=signals.spider_idle)
            crawler.signals.connect(self.note_priority, signal=signals.request_scheduled)

    def store_opened(self, store: Store) -> None:
        """Load rules from *store* and keep them there, if it can."""
        if RULES in store.note_kinds:
            self.rules.notes = store

    async def closing(self) -> None:
        """Give the store what is not there yet."""
        self.learn_waiting()
        await self.rules.share()

    def page_compared(self, page: CrawledPage) -> None:
        """Take note of a page that the spider gets.

        One that repeats none waits to be learned from until another does, or `MOST_WAITING` wait, or a request is
        screened: what is learned is the same.
        """
        verdict, reading, request, response = page.verdict, page.reading, page.request, page.response
        url, meta, content = request.url, request.meta, None
        is_unread = names.FLAG_NOT_MODIFIED in response.flags
        if request.method == "GET" and not request.body and not is_unread:
            content = evidence_of(verdict, response.status, response.body)
        if content is None and response.status >= 300 and not is_unread:
            return
        # How it came, see `Page.asked` and what follows there; to be asked once.
        asked = self._asked_for(request) if "redirect_urls" in meta else url
        parent = meta.get(names.META_OWN, {}).get(names.PARENT)
        if parent is None and not is_start(request):
            parent = ""
        is_after_all = bool(self._after_all) and self._after_all.pop(url, False)
        if content is None:
            # It is not compared with others: it may be new, and so the way to it goes on.
            self.learn_waiting()
            for rule, site in self.rules.led_on(parent, site_of(url)):
                self._give_up_rule(rule, site)
            return
        text = None if reading is None else reading.page_hash
        former = 0
        look: Looks = unseen
        if text is not None and content > FETCHED:
            former = self.rules.texts.former(hash((site_of(url), text)), content)
        is_silent = (
            content == FETCHED
            and verdict.reason in (Reason.SHORT_TEXT, Reason.INTERSTITIAL)
            and reading is not None
            and text is None
        )
        # A new page repeats none that could be a pair with it.
        is_new = not is_silent and not former and (verdict.status is Status.NEW or content <= FETCHED)
        if not is_new:
            # What a calendar says on each of its pages is no news.
            told = replace(verdict, contradicts=False) if _goes_on(page, parent) else verdict
            look = partial(self._looks.look, told, partial(tree_of, response))
        use = self._use(request) if self._skips else 1
        protected = None if is_new else partial(self._is_protected, page, parent)
        self._waiting.append(
            Page(url, content, look, use, former, asked, parent, is_silent, is_after_all, protected)
        )
        if not is_new or len(self._waiting) >= MOST_WAITING:
            self.learn_waiting()
        host = None if is_new else self.rules.of(url)
        if host is not None and (group := host.stopped_now) is not None:
            row = host.novelty.rows[group]
            if not self._floods.tell(site_of(url), group, row, verdict, response, is_silent=is_silent):
                host.novelty.never_stop(group)

    def request_sent(self, request: Request) -> Request | None:
        """Return None for a request that is to be sent now, and a request for later in place of one that has to wait.

        Raises RequestSkipped for one that need not be sent.
        """
        if not self._skips:
            return None
        mark = take_own(request, names.WAITED)
        if mark is not None:
            # What a redirect or the page leads to is filtered like all else.
            request.dont_filter = False
        if mark == _SENT_AFTER_ALL:
            self._after_all[request.url] = True
            return None
        if request.dont_filter or request.body:
            return None
        if not may_be_skipped(request) or asked_of(request).get("url_rules") is False:
            return None
        self.learn_waiting()
        rules = self.rules.would_skip(request.url, self._use(request), may_stop=not self._kept.is_full)
        if not rules:
            # Once more if meanwhile there are requests that were to go first, and do not.
            has_waited = mark is not None and request.priority < self._lowest
            return None if has_waited else self._later(request)
        if not self.rules.of(request.url).pinned.issuperset(rules):
            self._kept.add(rules, request)
        stats_of(self._crawler).inc_value(names.STAT_URL_RULES_SKIPPED)
        self._crawler.signals.send_catch_log(
            request_skipped, request=request, rules=rules, spider=self._crawler.spider
        )
        raise RequestSkipped(request.url, rules)

    def learn_waiting(self) -> None:
        """Learn from the pages that wait: before anybody asks what is known."""
        if not self._waiting:
            return
        pages, self._waiting = self._waiting, []
        for rule, site in self.rules.learn(pages, int(time.time())):
            self._give_up_rule(rule, site)
        self._learned += len(pages)
        notes = self.rules.notes
        if notes is None or not (self.rules.has_new or self._learned >= KEPT_EVERY):
            return
        self._learned = 0
        if not notes.is_remote:
            finished(self.rules.share())
        elif self._exchanging is None or self._exchanging.done():
            self._exchanging = asyncio.create_task(self._exchange())

    def note_priority(self, request: Request) -> None:
        """Note the priority of a request that is put into the queue: what has to wait comes after all of these."""
        if names.WAITED not in own_of(request):
            self._lowest = min(self._lowest, request.priority)

    def spider_opened(self, spider: Spider) -> None:
        """Read which requests were skipped before the crawl was stopped or killed."""
        if self._file is not None:
            try:
                self._kept.open(self._file, spider)
            except Exception:
                self._failed(self._file)

    def spider_idle(self) -> None:
        """Send some of the skipped requests of each host when nothing else is left, as a last check.

        And more of them while a rule of the host is doubted.
        """
        try:
            self.learn_waiting()
            for site in self._kept.sites:
                host = self.rules.of(f"http://{site}/")
                self._give_up_lost(site)
                if not self._checked[site] or (host.is_doubted and self._checked[site] < MOST_ENDS):
                    self._checked[site] += 1
                    self._send(
                        self._kept.take_some(site, min(MOST_AT_END, 1 + host.checks.requests // EXPLORED))
                    )
        except Exception:
            self._failed(self._crawler.spider)

    def outcome_lost(self, response: Response | None) -> None:
        """Note that a callback or a pipeline failed for *response*.

        Its page is not skipped under other URLs, and requested under the latest one that was skipped.
        """
        request = None if response is None else response.request
        if request is None:
            return
        try:
            self._forget(request)
        except Exception:
            self._failed(request)

    def _forget(self, request: Request) -> None:
        self.learn_waiting()
        host, use = self.rules.of(request.url), self._use(request)
        host.forget(request.url)
        key = host.key_of(request.url)
        same = self._kept.take_latest(
            site_of(request.url),
            lambda other: host.key_of(other.url) == key and self._use(other) == use,
        )
        self._send(same)

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """Keep which requests were skipped if the crawl is to go on, and log which rules save what on which hosts."""
        self._kept.close(is_done=reason == "finished")
        self.learn_waiting()
        hosts = [(name, host) for name, host in self.rules.hosts.items() if host.saved]
        hosts.sort(key=lambda item: -item[1].saved)
        if hosts and not self._skips:
            stats_of(self._crawler).set_value(
                names.STAT_URL_RULES_WOULD_SKIP, sum(host.saved for _, host in hosts)
            )
        for name, host in hosts[:MOST_TOLD]:
            logger.info(
                "%(line)s",
                {"line": closing_line(name, host, skips=self._skips)},
                extra={"spider": self._crawler.spider},
            )

    async def _exchange(self) -> None:
        """Join what other crawlers have learned: a rule that they have given up is given up here."""
        try:
            await self.rules.share()
            for site in self._kept.sites:
                self._give_up_lost(site)
        except Exception:
            self._failed(self._crawler.spider)

    def _give_up_lost(self, site: str) -> None:
        """Give up the rules that have skipped requests of *site* and are not believed any more."""
        host = self.rules.of(f"http://{site}/")
        for rule in self._kept.rules_of(site):
            if not host.is_believed(rule):
                self._give_up_rule(rule, site)

    def _is_protected(self, page: CrawledPage, parent: str | None) -> bool:
        """Tell whether *page* is one of its own, whatever it repeats: it spares its URLs a skip, as it a drop."""
        of_its_own = self._of_its_own
        if Protection.FACTS.value in of_its_own and _goes_on(page, parent):
            of_its_own = of_its_own - {Protection.FACTS.value}
        if not of_its_own or page.protected in of_its_own:
            return bool(of_its_own)
        return any(page.protections(of_its_own))

    def _use(self, request: Request) -> int:
        """Return what the page of *request* is for, as one bit: its callback, rule of a CrawlSpider, and cookies.

        0 if there are too many, or the callback is no method of the spider and has no name of its own: such requests
        are never skipped.
        """
        callback = request.callback
        if callback is not None and getattr(callback, "__self__", None) is not self._crawler.spider:
            return 0
        name = "parse" if callback is None else getattr(callback, "__name__", None)
        key = name, str(request.meta.get("rule")), str(request.meta.get("cookiejar")), str(request.cookies)
        number = (
            self._uses.setdefault(key, len(self._uses))
            if len(self._uses) < MOST_USES
            else self._uses.get(key)
        )
        return 0 if number is None else 1 << number

    def _asked_for(self, request: Request) -> str:
        """Return the URL that the spider asked for: what is stopped must be stopped before the redirect.

        A spider that passes its meta on passes on whence its pages were redirected. So that is believed once, and the
        page that was really redirected always comes before those that its callback asks for.
        """
        redirects = request.meta["redirect_urls"]
        if not redirects or scope_of(redirects[0], "host") != scope_of(request.url, "host"):
            return request.url
        asked = str(redirects[0])
        key = hash(asked)
        if key in self._redirects:
            return request.url
        self._redirects[key] = None
        return asked

    def _later(self, request: Request) -> Request | None:
        """Return a request that is to wait as it is to be sent later, None for one that need not wait."""
        host = self.rules.of(request.url)
        if not host.should_wait(request.url):
            return None
        # It is asked about once more.
        host.checks.requests -= 1
        meta = meta_with(request, names.WAITED, _WAITED)
        return request.replace(priority=self._lowest - 1, dont_filter=True, meta=meta)

    def _give_up_rule(self, rule: str, site: str) -> None:
        """Send after all what *rule* has skipped on *site*."""
        again = self._kept.take(site, lambda rules, _: rule in rules)
        lost = self._kept.lost.pop((site, rule), 0)
        stats_of(self._crawler).inc_value(names.STAT_URL_RULES_GIVEN_UP)
        logger.log(
            logging.WARNING if lost else logging.INFO,
            "URL rules: %(rule)s %(why)s on %(site)s by now, the rule is given up; %(number)d skipped requests"
            " are sent after all%(lost)s",
            {
                "lost": f", {lost} older ones are not: no more than {MOST_KEPT} are kept" if lost else "",
                "rule": rule,
                "why": "may bring something new" if group_in(rule) else "has an effect",
                "site": site,
                "number": len(again),
            },
            extra={"spider": self._crawler.spider},
        )
        # A group may be stopped once more before their turn comes.
        self._send(again, _WAITED if group_in(rule) else _SENT_AFTER_ALL)

    def _send(self, requests: Iterable[Request], mark: str = _SENT_AFTER_ALL) -> None:
        """Send requests that were skipped."""
        engine = self._crawler.engine
        for request in requests if engine is not None else ():
            stats_of(self._crawler).inc_value(names.STAT_URL_RULES_SENT)
            meta = meta_with(request, names.WAITED, mark)
            engine.crawl(request.replace(dont_filter=True, meta=meta))

    def _failed(self, about: object) -> None:
        """Count and log what went wrong; call it where the exception is handled."""
        self._once.tell("Error while applying URL rules to %(about)s: it is kept", about)


def _choices(config: Config) -> tuple[list[Choice], list[Choice]]:
    """Return the rules that are always active, and those that never are. Raises SettingError for what is none."""
    given = config.url_rules_pin
    try:
        return (
            [choice(text) for text in given if not text.startswith("-")],
            [choice(text.removeprefix("-")) for text in given if text.startswith("-")],
        )
    except ValueError as error:
        raise SettingError(
            f"{setting_name('url_rules_pin')}: {error}, such as 'example.com: parameter sid'"
        ) from error


class RequestSkipped(IgnoreRequest):
    """A request was not sent, since by URL rules it would bring nothing new."""

    def __init__(self, url: str, rules: tuple[str, ...]) -> None:
        is_of_group = any(map(group_in, rules))
        reason = (
            "URLs like it bring nothing new" if is_of_group else "its page has been fetched under another URL"
        )
        super().__init__(f"{url} was skipped: {reason} ({', '.join(rules)})")
        self.rules = rules
        """The rules, as ``scrapy-simhash learned`` shows them."""


def closing_line(name: str, host: HostRules, *, skips: bool) -> str:
    """Return which rules there are on the host with this *name*, and what they save."""
    groups = {group: host.novelty.rows[group] for group in host.novelty.told}
    without_effect = host.in_force if host.skipped else []
    losses = [
        *(host.evidence[rule].loss for rule in without_effect if rule not in host.pinned),
        *(row.loss for group, row in groups.items() if rule_of(group) not in host.pinned),
    ]
    # Nothing was estimated of what somebody has pinned.
    loss = f"estimated loss <= {100 * max(losses):.1f} %" if losses else "pinned"
    total = host.checks.requests + host.saved if skips else host.pages
    found = [
        *([f"without effect on {name}: {', '.join(without_effect)}"] if without_effect else ()),
        *([f"nothing new on {name}: {', '.join(groups)}"] if groups else ()),
    ]
    end = "were skipped" if skips else "SIMHASH_URL_RULES = 'skip' would have saved them"
    return f"URL rules: {'; '.join(found)} ({host.saved:,} of {total:,} requests; {loss}); {end}"


#: Links from the start beyond which a page that another one of its kind leads to is one more page of a calendar.
DEEP = 10
_NUMBERS = re.compile("[0-9]+")


def _goes_on(page: CrawledPage, parent: str | None) -> bool:
    """Tell whether *page* is one of a row without end: far from the start, each led to by one before it."""
    if not parent or page.depth <= DEEP:
        return False
    return _NUMBERS.sub("0", parent) == _NUMBERS.sub("0", page.response.url)


#: Max links of a list page, and max nodes of a link, whose text is compared.
MAX_LINKS, MAX_LINK_NODES = 1_000, 15
#: Clusters of which it is remembered what their pages are; the oldest goes.
MOST_CLUSTERS = 1_000
#: Reasons for which a page that is fetched and delivered has no verdict.
_FETCHED = (Reason.SHORT_TEXT, Reason.INTERSTITIAL, Reason.NOT_HTML, Reason.TOO_LARGE)
_GONE = (404, 410)
_MOST_CLUSTER = 2**32 - 2


class PageLooks:
    """Looks at pages, and at one page of a cluster only, unless it is a listing. Some milliseconds a look."""

    def __init__(self) -> None:
        self._seen: Recent[tuple[int | None, bool], int | None] = Recent(MOST_CLUSTERS)

    def look(self, verdict: Verdict, tree: Callable[[], Any], any_variant: bool) -> int | None:
        """Return what is seen of the page with *verdict*, as `Looks` does; *tree* returns its lxml tree.

        The text of a listing is often the same while its links are not, so what its links say counts. A translation
        is no evidence, nor is a variant of a product, but with *any_variant*.
        """
        if verdict.reason is Reason.NOT_HTML:
            return 0
        if "hreflang" in verdict.hints:
            return None
        key = verdict.cluster, any_variant
        if key in self._seen:
            return self._seen[key]
        root = tree()
        if is_listing(root):
            links = elements(root, "a", limit=MAX_LINKS)
            said = sorted(" ".join("".join(texts(link, MAX_LINK_NODES)).split()) for link in links)
            return crc32("\n".join(said).encode("utf-8", "replace")) or 1
        seen = self._seen[key] = None if verdict.contradicts and not any_variant else 0
        return seen


def evidence_of(verdict: Verdict, status: int, body: bytes) -> int | None:
    """Return what the page with *verdict*, HTTP *status* and *body* is, as URL rules learn it.

    That is its cluster; a hash of its bytes if it is not HTML; `FETCHED` if it is no evidence, `MISSING` if it is not
    there. None for a page that says nothing, and that has to be fetched again: it came with an error, is not
    complete, or has no verdict.
    """
    if status in _GONE:
        return MISSING
    if verdict.reason is Reason.NOT_HTML and body:
        return 1 + crc32(body) % _MOST_CLUSTER
    if verdict.cluster is None or verdict.reason is Reason.SHORT_TEXT:
        return FETCHED if verdict.reason in _FETCHED else None
    # A page that contradicts what it repeats has a cluster of its own: of what kind it is the other one tells.
    cluster = verdict.also_near[0] if verdict.contradicts and verdict.also_near else verdict.cluster
    return 1 + cluster % _MOST_CLUSTER
