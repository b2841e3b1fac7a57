"""HostRules: what was learned about the URLs of one host, and which of them need not be requested."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from scrapy_simhash.observers.url_rules.cut_url import CutUrl, cut
from scrapy_simhash.observers.url_rules.evidence import BOUNDS, MOST_UNDER, Checks, Evidence
from scrapy_simhash.observers.url_rules.hypotheses import Hypothesis, covers, hypothesis_of
from scrapy_simhash.observers.url_rules.novelty import SLOWED_AFTER, Barren, Novelty, group_in
from scrapy_simhash.observers.url_rules.trials import Looks, Trials, unseen
from scrapy_simhash.recent import Recent

#: The content of a page that was fetched and is no evidence: a short one, one that is too large.
FETCHED = 0
#: In place of the content of a page that is not there, and how often that must be so to be believed.
MISSING, MOST_MISSED = -1, 3


class Page(NamedTuple):
    """What is to be known of a page to learn from it."""

    url: str
    content: int
    """What it is: equal for near-duplicates, 32 bits; `FETCHED` for one that is no evidence, or `MISSING`."""
    look: Looks = unseen
    """Called if it matters what kind of page it is, so for no page that repeats no other one."""
    use: int = 1
    """What it is for, one of 16 bits: a page that was fetched for another use is not skipped."""
    former: int = 0
    """What pages of its text were at first, which is the same as its content; 0 for none."""
    asked: str | None = None
    """The URL that was asked for, which may have led elsewhere; None if it does not count for novelty."""
    parent: str | None = None
    """The page that linked to it: empty if that is not known, None if there is none."""
    is_silent: bool = False
    """Whether it has no text at all."""
    is_after_all: bool = False
    """Whether its request had been skipped: these have been chosen for bringing nothing new."""
    is_protected: Callable[[], bool] | None = None
    """Tells whether it is a page of its own although its text came before, as a variant of a product is. Costly."""


class Counts(dict[int, int]):
    """How often numbers came: of at most so many. Beyond that all begin anew."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def increase(self, number: int) -> None:
        """Count *number*."""
        if len(self) >= self._most:
            self.clear()
        self[number] = self.get(number, 0) + 1


#: A page is known by one number. Where that has the uses that the page was fetched for, 16 bits, and the values that
#: rules took out. Below are its content, and how often it was fetched.
USES, VALUES = 40, 56
_WORD = (1 << 32) - 1


class Rule(NamedTuple):
    """A rule in force."""

    text: str
    hypothesis: Hypothesis
    about: str
    evidence: Evidence


class Reduced(NamedTuple):
    """A URL without what has no effect."""

    whole: CutUrl
    url: CutUrl
    key: int
    values: int
    """16 bits for each rule in force: a hash of what it took out, 0 for nothing."""
    stage: int
    """The lowest of the rules that took something out; 0 if none did."""


def content_in(packed: int) -> int:
    """Return the content of what is known of a page."""
    return packed >> 8 & _WORD


def difference(url: CutUrl, shorter: CutUrl) -> int:
    """Return a hash of what was taken out of a URL."""
    if url.query != shorter.query:
        kept = set(shorter.query)
        return hash(tuple([part for part in url.query if part not in kept]) or url.query)
    return hash((url.scheme, url.host, url.path))


#: A rule, a URL without what it is about, and the content of the other page.
Differing: TypeAlias = tuple[str, CutUrl, int]
#: Pairs of URLs against a rule that are kept.
MOST_PAIRS = 3
#: Fetched pages that are kept with their URLs, to be known again when a rule comes or goes.
MOST_URLS = 1_000
#: Fetched pages that are known by the hash of their URL without what has no effect; beyond it, all but the latest go.
MOST_KNOWN = 100_000
#: Rules in force on a host at most: the ones that were believed first.
MOST_IN_FORCE = 8
#: Of the requests that rules of each stage match, one in so many is sent all the same.
SENT_AT = (1, 3, 10)
#: How often a page is requested under different URLs by rules of the other stages, and while a rule is doubted.
MOST_FETCHED = (0, 4, 2)
MOST_DOUBTED = 20
#: And a page that is no evidence, in a group of URLs in which no other page was.
MOST_UNSURE = 6
#: How often a page has come under other parameters before more of these have to wait, while nothing is known yet.
SOON_ENOUGH = 3
#: Requests of which the page may not have come yet.
MOST_UNDER_WAY = 64
#: What things weigh, in bytes, for the bound over all hosts.
_HOST, _KNOWN, _URL, _ROW, _BARREN = 1_500, 110, 250, 350, 700
_NEVER = 1 << 62


class HostRules:
    """The rules of one host. Knows no Scrapy, and no other host."""

    __slots__ = (
        *("_believed", "_came", "_in_force", "_known", "_missed", "_under_way", "_urls"),
        *("against", "brought_new", "checks", "evidence", "forbidden", "novelty", "pages", "pinned"),
        *("skipped", "stopped_now", "trials", "weighed"),
    )

    def __init__(
        self, *, pinned: frozenset[str] = frozenset(), forbidden: frozenset[str] = frozenset()
    ) -> None:
        """*pinned* rules are always in force, *forbidden* ones never."""
        #: Pages that were learned from.
        self.pages = 0
        self.checks = Checks()
        #: Requests that were skipped, or would have been.
        self.skipped = 0
        #: The groups of URLs that bring nothing new, and the one that was stopped by the latest page.
        self.novelty = Novelty(self.checks, pinned, forbidden)
        self.stopped_now: str | None = None
        #: Whether the latest page may have brought something new.
        self.brought_new = False
        #: The rules under test, in each group of URLs.
        self.trials = Trials()
        #: For and against each rule, on the whole host.
        self.evidence = self.trials.evidence
        #: By rule, some pairs of URLs that speak against it.
        self.against: dict[str, tuple[tuple[str, str], ...]] = {}
        #: Rules that are always in force, and those that never are.
        self.pinned = pinned
        self.forbidden = forbidden
        #: What it weighed when all hosts were weighed.
        self.weighed = 0
        self._in_force: list[Rule] = []
        self._believed: list[str] = []
        #: By hash of the reduced URL: values, uses, content, and how often it was fetched.
        self._known: dict[int, int] = {}
        #: By hash of a URL without the parameters that may have no effect: how often its page came.
        self._came = Counts(MOST_URLS)
        #: The latest pages that were requested, by hash of the reduced URL.
        self._under_way: Recent[int, None] | None = None
        self._missed = Counts(MOST_URLS)
        #: The latest pages, once a rule may come: URL, content, use.
        self._urls: deque[tuple[str, int, int]] | None = None
        self.find_rules(0)

    @property
    def in_force(self) -> list[str]:
        """The rules by which requests are skipped, or would be."""
        return [rule.text for rule in self._in_force]

    def learn(self, page: Page, now: int, *, is_new: bool | None = None) -> list[str]:
        """Learn from *page*, and return the rules that were given up by that.

        *now* is in seconds of Unix time. *is_new* tells whether its content did not come before on the host; None for
        a page that does not count for novelty. Some 5 µs, and 8 more for each parameter.
        """
        self.stopped_now, self.brought_new = None, is_new or False
        url = cut(page.url)
        if url is None:
            return []
        self.pages += 1
        reduced = self._reduce(url) if self._in_force else Reduced(url, url, hash(url), 0, 0)
        # Who asks for no request asks for no turn.
        if self.checks.requests and (key := self._open_key(reduced)) is not None:
            self._came.increase(key)
        given_up: list[str] = []
        # Where nothing was without news yet, news mean nothing.
        if is_new is False or (is_new and self.novelty.rows):
            given_up = self._note_novelty(page, reduced, is_new, now)
        content = page.content
        if content <= FETCHED:
            if url.query:
                self.trials.note(reduced.url, url.group)
            if content == MISSING:
                self._missed.increase(reduced.key)
            if content == FETCHED or self._missed[reduced.key] >= MOST_MISSED:
                self._know(reduced, FETCHED, page.use, page.url)
            return given_up
        packed = self._known.get(reduced.key)
        believed = [rule for rule in self._in_force if self._stage_in(url, rule)] if self._in_force else ()
        is_answer = packed is not None and reduced.values and packed >> VALUES != reduced.values
        if packed is not None and is_answer:
            is_right = content_in(packed) in (content, page.former or content)
            if not is_right and self._is_everywhere(content):
                return given_up
            # Skipped, had somebody asked.
            if not self.checks.requests and self._skips_now(packed, reduced):
                self._count_skip(packed, reduced)
            self._answer(page, reduced, packed, is_right)
            if content_in(packed) == FETCHED:
                # There is a page after all: what comes now is compared with this one.
                del self._known[reduced.key]
        trials = self.trials
        trials.compare(reduced.url, url, (content, page.former), page.look, self._content_of)
        if trials.differing:
            self._speak_against(page.url, trials.differing)
        if trials.has_counted:
            self._keep_urls()
        self._know(reduced, content, page.use, page.url)
        # On the host, or in this group of URLs: what was skipped by such a rule is in doubt.
        if believed:
            given_up += [rule.text for rule in believed if not self._stage_in(url, rule)]
        if (is_answer or trials.has_counted) and self._believed != trials.believed:
            given_up += self.novelty.in_force
            self.find_rules(now)
        return given_up

    def would_skip(self, url: str, use: int = 1, *, may_stop: bool = True) -> tuple[str, ...]:
        """Return the rules by which a request need not be sent, none if it is to be sent; to be asked once.

        *may_stop*: see `Novelty.skips`.
        """
        parts = cut(url) if self._in_force or self.novelty.stopped else None
        if parts is None:
            self.checks.requests += 1
            return ()
        reduced = self._reduce(parts)
        packed = self._known.get(reduced.key, 0)
        rules: tuple[str, ...] = ()
        if not packed >> USES & use or not reduced.values or packed >> VALUES == reduced.values:
            # No rule about a difference skips it; perhaps one about all URLs like it.
            groups = reduced.url.groups if self.novelty.stopped else ()
            if rule := self.novelty.skips(groups, use, may_stop=may_stop):
                rules = (rule,)
        elif self._skips_now(packed, reduced):
            rules = self._count_skip(packed, reduced)
        else:
            self.checks.sent += 1
        self.checks.requests += not rules
        return rules

    def should_wait(self, url: str) -> bool:
        """Tell whether other requests are to be sent before that of *url*, as its page has come several times.

        So a page that has other parameters in each link does not keep a crawl at itself until enough is known. Or
        as its page has just been requested under another URL; or as URLs like it have brought nothing new of late.
        """
        parts = cut(url)
        if parts is None or not (parts.query or self._in_force or self.novelty.has_slowed):
            return False
        reduced = self._reduce(parts)
        if reduced.key not in self._known:
            if self._under_way is None:
                self._under_way = Recent(MOST_UNDER_WAY)
            if reduced.key in self._under_way:
                return True
            self._under_way[reduced.key] = None
        if self.novelty.has_slowed and self.novelty.has_to_wait(reduced.url.groups):
            return True
        key = self._open_key(reduced)
        return key is not None and self._came.get(key, 0) >= SOON_ENOUGH

    @property
    def saved(self) -> int:
        """Requests that rules and groups in force have skipped, or would have."""
        return (self.skipped if self._in_force else 0) + self.novelty.skipped

    def is_believed(self, rule: str) -> bool:
        """Tell whether *rule* may skip requests."""
        evidence = self.evidence.get(rule)
        return (
            rule in self.pinned
            or group_in(rule) in self.novelty.stopped
            or (evidence is not None and evidence.stage > 0)
        )

    @property
    def is_doubted(self) -> bool:
        """Whether a rule in force was wrong once, of late, or a group is stopped once more."""
        return self.novelty.is_doubted or any(rule.evidence.wrong for rule in self._in_force)

    def key_of(self, url: str) -> int | None:
        """Return by what the page at *url* is known, None if it is not looked at."""
        parts = cut(url)
        return None if parts is None else self._reduce(parts).key

    def forget(self, url: str) -> None:
        """Forget that the page at *url* was fetched: what was made of it is lost."""
        if (key := self.key_of(url)) is not None:
            self._known.pop(key, None)
            if self._urls is not None:
                self._urls = deque((entry for entry in self._urls if entry[0] != url), MOST_URLS)

    def find_rules(self, now: int) -> None:
        """Find which rules are in force, and know the fetched pages by them."""
        self._believed = self.trials.believed
        self._in_force = []
        for text in self._chosen(now):
            evidence = self.evidence.setdefault(text, Evidence())
            evidence.since = evidence.since or now
            self._in_force.append(Rule(text, *hypothesis_of(text), evidence))
        # What is under test was compared with other rules in force.
        self.trials.begin_again()
        self.novelty.begin_again()
        self._known.clear()
        self._keep_urls()
        for url, content, use in self._urls or ():
            if parts := cut(url):
                self._know(self._reduce(parts), content, use)

    @property
    def weight(self) -> int:
        """Bytes that all of it takes, about."""
        urls = len(self._urls or ()) + MOST_PAIRS * len(self.against)
        novelty = len(self.novelty.rows) * _ROW + len(self.novelty.barren or ()) * _BARREN
        return _HOST + len(self._known) * _KNOWN + urls * _URL + novelty + self.trials.weight

    def _chosen(self, now: int) -> list[str]:
        """Return the rules to be in force: those first that were so first, so that nothing changes without need."""

        def by_age(rule: str) -> tuple[int, int]:
            evidence = self.evidence[rule]
            return evidence.since or now or _NEVER, -evidence.same

        pinned = sorted(rule for rule in self.pinned if group_in(rule) is None)
        rules = dict.fromkeys([*pinned, *sorted(self._believed, key=by_age)])
        chosen = [
            rule for rule in rules if rule not in self.forbidden and not covers(rule, rules.keys() - {rule})
        ]
        return chosen[:MOST_IN_FORCE]

    def _reduce(self, url: CutUrl) -> Reduced:
        whole, values, stage = url, 0, 0
        for index, rule in enumerate(self._in_force):
            shorter = rule.hypothesis.without(url, rule.about)
            if shorter != url and (believed := self._stage_in(whole, rule)):
                values |= (1 + difference(url, shorter) % 65_535) << 16 * index
                stage = min(stage or believed, believed)
                url = shorter
        return Reduced(whole, url, hash(url), values, stage)

    def _open_key(self, reduced: Reduced) -> int | None:
        return self.trials.without_open(reduced.url, reduced.whole.group) if reduced.url.query else None

    def _stage_in(self, url: CutUrl, rule: Rule) -> int:
        """Return how far *rule* is believed among the URLs of the group of *url*."""
        if rule.text in self.pinned:
            return len(BOUNDS)
        stage = rule.evidence.stage
        trial = self.trials.get(url.group, rule.text) if stage else None
        own = trial.evidence if trial is not None else None
        return min(own.stage, stage) if own is not None and own.different else stage

    def _applied(self, values: int, others: int) -> list[Rule]:
        """Return the rules that took different things out of two URLs."""
        differing = values ^ others
        return [rule for index, rule in enumerate(self._in_force) if differing >> 16 * index & 65_535]

    def _skips_now(self, packed: int, reduced: Reduced) -> bool:
        """Tell whether a request that rules match is skipped, and not sent to check them; to be asked once."""
        self.checks.matched += 1
        rules, fetched, stage = self._applied(reduced.values, packed >> VALUES), packed & 255, reduced.stage
        if all(rule.text in self.pinned for rule in rules):
            return True
        if content_in(packed) == FETCHED and fetched < MOST_UNSURE:
            trials = [self.trials.get(reduced.whole.group, rule.text) for rule in rules]
            if not all(trial is not None and trial.evidence is not None for trial in trials):
                return False
        if any(rule.evidence.wrong for rule in rules):
            # One was wrong: whether it was by chance is to be known at once.
            return fetched >= MOST_DOUBTED
        if self.checks.is_overdue():
            return False
        if stage == len(BOUNDS):
            return not self.checks.is_due()
        if fetched >= MOST_FETCHED[stage] or self.checks.matched % SENT_AT[stage]:
            return True
        # That is part of what the last stage may check, or it would begin with checks only.
        self.checks.use_up()
        return False

    def _count_skip(self, packed: int, reduced: Reduced) -> tuple[str, ...]:
        """Count a request that is skipped, or would have been, and return the rules by which it is."""
        rules = self._applied(reduced.values, packed >> VALUES)
        for rule in rules:
            rule.evidence.skipped += 1
        self.skipped += 1
        return tuple([rule.text for rule in rules])

    def _note_novelty(self, page: Page, reduced: Reduced, is_new: bool, now: int) -> list[str]:
        """Count a page for its groups of URLs, and return the rules that were given up by that."""
        asked = cut(page.asked) if page.asked and page.asked != page.url else None
        groups = (reduced.url if asked is None else self._reduce(asked).url).groups
        self.novelty.count_unasked(groups, page.use)
        if is_new:
            return self.novelty.add_new(groups)
        if not self.novelty.forbidden.isdisjoint(groups):
            self.brought_new = True
        elif page.is_after_all:
            self.novelty.may_lead_on(reduced.key, Barren(groups, page.parent))
        elif self._is_first(reduced):
            self.stopped_now = self.novelty.add_barren(
                groups, reduced.key, page.asked or page.url, page.use, now, page.parent
            )
        return []

    def _is_first(self, reduced: Reduced) -> bool:
        """Tell whether a page has come for the first time, whatever it has in its URL that may have no effect."""
        if reduced.key in self._known:
            return False
        key = self._open_key(reduced)
        # What was not found to have none after some pages is taken to have one.
        return key is None or not 1 < self._came.get(key, 0) <= SLOWED_AFTER

    def _answer(self, page: Page, reduced: Reduced, packed: int, is_right: bool) -> None:
        """Hold a page for or against the rules by which its request would have been skipped."""
        for rule in self._applied(reduced.values, packed >> VALUES):
            if rule.text in self.pinned:
                continue
            if not is_right:
                self._speak_against(page.url, [(rule.text, reduced.url, content_in(packed))])
            trial = self.trials.get(reduced.whole.group, rule.text)
            if trial is not None and trial.evidence is not None:
                trial.evidence.add(page.content, is_right)
            if rule.evidence.answer(page.content, is_right):
                self.trials.forget(rule.text, reduced.whole.group)

    def _speak_against(self, url: str, differing: Iterable[Differing]) -> None:
        """Keep *url* with the one that it was compared with, if that is remembered, against each of the rules."""
        for rule, shorter, other in differing:
            pairs = self.against.get(rule, ())
            if len(pairs) < MOST_PAIRS:
                same_content = (
                    former for former, content, _ in reversed(self._urls or ()) if content == other
                )
                found = next((former for former in same_content if self._is(former, shorter, rule)), url)
                if found != url:
                    self.against[rule] = (*pairs, (found, url))

    def _is(self, url: str, shorter: CutUrl, rule: str) -> bool:
        """Tell whether *url* is *shorter* without what *rule* is about."""
        parts = cut(url)
        if parts is None:
            return False
        rest = self._reduce(parts).url
        hypothesis, about = hypothesis_of(rule)
        return shorter in (rest, hypothesis.without(rest, about))

    def _content_of(self, url: CutUrl) -> int:
        """Return the content of the page at *url*, 0 if none is known that is evidence."""
        return self._known.get(hash(url), 0) >> 8 & _WORD

    def _keep_urls(self) -> None:
        """Keep the URLs of pages from now on, once two pages were equal: before that no rule can come soon."""
        if self._urls is None and any(evidence.same for evidence in self.evidence.values()):
            self._urls = deque(maxlen=MOST_URLS)

    def _know(self, reduced: Reduced, content: int, use: int, url: str | None = None) -> None:
        """Know the page with *content* by its reduced URL, and keep its *url* if it is the latest page."""
        if url is not None and self._urls is not None:
            self._urls.append((url, content, use))
        packed = self._known.get(reduced.key)
        if packed is None:
            if len(self._known) >= MOST_KNOWN:
                self._known = dict(list(self._known.items())[MOST_KNOWN // 2 :])
            self._known[reduced.key] = reduced.values << VALUES | use << USES | content << 8 | 1
        elif packed & 255 < 255 or not packed >> USES & use:
            packed -= packed & 255 == 255
            self._known[reduced.key] = (packed | use << USES) + 1

    def _is_everywhere(self, content: int) -> bool:
        """Tell whether several of the latest URLs had this page, as with a login wall: it says nothing."""
        latest = list(self._urls or ())[-64:]
        return sum(other == content for _, other, _ in latest) > MOST_UNDER
