"""HostRules: what was learned about the URLs of one host, and which of them need not be requested."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from scrapy_simhash.observers.url_rules.cut_url import CutUrl, cut
from scrapy_simhash.observers.url_rules.evidence import BOUNDS, MOST_UNDER, Checks, Evidence
from scrapy_simhash.observers.url_rules.hypotheses import Hypothesis, covers, hypothesis_of
from scrapy_simhash.observers.url_rules.novelty import SLOWED_AFTER, Barren, Came, Novelty, group_in
from scrapy_simhash.observers.url_rules.trials import Looks, Trials
from scrapy_simhash.recent import Recent

#: What is known at most: one takes the place of another that falls on the same slot.
SLOTS = 1 << 17


class Seen:
    """Knows numbers again. What is forgotten counts as new once more. A megabyte.

    >>> seen = Seen()
    >>> seen.is_new(7), seen.is_new(7)
    (True, False)
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * SLOTS))

    def is_new(self, number: int) -> bool:
        """Tell whether *number* comes for the first time."""
        key = number & (1 << 64) - 1 or 1
        if self._slots[key % SLOTS] == key:
            return False
        self._slots[key % SLOTS] = key
        return True


class Texts:
    """Knows which content the page with a text had at first: verdicts change as a site becomes known. 1.5 MB.

    >>> texts = Texts()
    >>> texts.former(7, 1), texts.former(7, 2)
    (0, 1)
    """

    def __init__(self) -> None:
        self._seen = Seen()
        self._contents = array("I", bytes(4 * SLOTS))

    def former(self, text: int, content: int) -> int:
        """Return the content that a page with the hash *text* had at first; 0 if it comes for the first time."""
        slot = (text & (1 << 64) - 1 or 1) % SLOTS
        if self._seen.is_new(text):
            self._contents[slot] = content
            return 0
        return self._contents[slot]


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


#: Where that number has the uses that the page was fetched for, 16 bits, and the values that rules took out. Below
#: are its content, and how often it was fetched.
USES, VALUES = 40, 56
_WORD = (1 << 32) - 1


class Skip(NamedTuple):
    """Why a request need not be sent."""

    rules: tuple[str, ...]
    key: int
    """The page that has been fetched."""


class Rule(NamedTuple):
    """A rule in force."""

    text: str
    hypothesis: Hypothesis
    about: str
    evidence: Evidence


class Reduced(NamedTuple):
    """A URL without what has no effect."""

    url: CutUrl
    group: str
    """That of the whole URL."""
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


#: Pairs of a rule.
MOST_PAIRS = 3
#: A rule, a URL without what it is about, and the content of the other page.
Differing: TypeAlias = tuple[str, CutUrl, int]
_Pair: TypeAlias = tuple[str, str]


class Against(dict[str, tuple[_Pair, ...]]):
    """By rule, the first pairs."""

    def add(
        self,
        url: str,
        differing: Iterable[Differing],
        known: Sequence[tuple[str, int, int]],
        reduce: Callable[[CutUrl], Reduced],
    ) -> int:
        """Find the URLs that *url* was compared with among those *known*, and return how many pairs were added.

        *known* has URLs, latest last, with their content; *reduce* takes out of a URL what rules in force are about.
        """
        added = 0
        for rule, shorter, other in differing:
            pairs = self.get(rule, ())
            if len(pairs) < MOST_PAIRS:
                same_content = (former for former, content, _ in reversed(known) if content == other)
                found = next((each for each in same_content if _is(each, shorter, rule, reduce)), url)
                if found != url:
                    self[rule] = (*pairs, (found, url))
                    added += 1
        return added

    def join(self, rule: str, pairs: Iterable[Sequence[str]]) -> None:
        """Add the *pairs* of others; theirs are first."""
        theirs = [(first, second) for first, second in pairs]
        self[rule] = tuple(dict.fromkeys((*theirs, *self.get(rule, ()))))[:MOST_PAIRS]


def _is(url: str, shorter: CutUrl, rule: str, reduce: Callable[[CutUrl], Reduced]) -> bool:
    """Tell whether *url* is *shorter* without what *rule* is about."""
    parts = cut(url)
    if parts is None:
        return False
    hypothesis, about = hypothesis_of(rule)
    rest = reduce(parts).url
    return shorter in (rest, hypothesis.without(rest, about))


#: The content of a page that was fetched and is no evidence: a short one, one that is too large.
FETCHED = 0
#: In place of the content of a page that is not there, and how often that must be so to be believed.
MISSING, MOST_MISSED = -1, 3
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
_KNOWN, _URL = 110, 250


class HostRules:
    """The rules of one host. Knows no Scrapy, and no other host."""

    __slots__ = (
        *("_believed", "_came", "_in_force", "_known", "_missed", "_under_way", "_urls"),
        *("_weight", "against", "checks", "evidence", "forbidden", "novelty", "pages", "pinned"),
        *("brought_new", "skipped", "stopped_now", "trials"),
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
        self._weight = 1_500
        #: Some pairs of URLs that speak against each rule.
        self.against = Against()
        #: Rules that are always in force, and those that never are.
        self.pinned = pinned
        self.forbidden = forbidden
        self._in_force: list[Rule] = []
        self._believed: list[str] = []
        #: By hash of the reduced URL: values, uses, content, and how often it was fetched.
        self._known: dict[int, int] = {}
        #: By hash of a URL without the parameters that may have no effect: how often its page came.
        self._came = Counts(MOST_URLS)
        #: The latest pages that were requested, by hash of the reduced URL.
        self._under_way: Recent[int, None] | None = None
        self._missed = Counts(MOST_URLS)
        self._urls: deque[tuple[str, int, int]] | tuple[()] = ()
        self.find_rules(0)

    @property
    def in_force(self) -> list[str]:
        """The rules by which requests are skipped, or would be."""
        return [rule.text for rule in self._in_force]

    def learn(
        self,
        url: str,
        content: int,
        look: Looks,
        now: int,
        use: int = 1,
        came: Came | None = None,
        former: int = 0,
    ) -> list[str]:
        """Learn from the page that came at *url*, and return the rules that were given up by that.

        *content* says what the page is: equal for near-duplicates, 32 bits; `FETCHED` for a page that is no evidence,
        and `MISSING` for one that is not there. *look* is called if it matters what kind of page it is. *now* is in
        seconds of Unix time. *use* says what the page is for, one of 16 bits: one that was fetched for another use is
        not skipped. Without *came*, the page does not count for novelty. *former* is what pages of its text were at
        first, which is the same as *content*; 0 for none. Some 10 µs, and 8 more for each parameter.
        """
        self.stopped_now, self.brought_new = None, came is not None and came.is_new
        parts = cut(url)
        if parts is None:
            return []
        self.pages += 1
        reduced = self._reduce(parts)
        # Who asks for no request asks for no turn.
        if self.checks.requests and (key := self._open_key(reduced)) is not None:
            self._came.increase(key)
        given_up = [] if came is None else self._note_novelty(url, reduced, came, use, now)
        if content <= FETCHED:
            self.trials.note(reduced.url, reduced.group)
            if content == MISSING:
                self._missed.increase(reduced.key)
            if content == FETCHED or self._missed[reduced.key] >= MOST_MISSED:
                self._remember(url, reduced, FETCHED, use)
            return given_up
        packed = self._known.get(reduced.key)
        believed = [rule for rule in self._in_force if self._stage_in(reduced.group, rule)]
        if packed is not None and reduced.values and packed >> VALUES != reduced.values:
            is_right = content_in(packed) in (content, former or content)
            if not is_right and self._is_everywhere(content):
                return given_up
            self._count_skipped(packed, reduced)
            self._answer(url, reduced, packed, content, is_right)
            if content_in(packed) == FETCHED:
                # There is a page after all: what comes now is compared with this one.
                del self._known[reduced.key]
                self._weight -= _KNOWN
        self.trials.compare(reduced.url, reduced.group, content, look, self._content_of, former)
        self._speak_against(url, self.trials.differing)
        self._remember(url, reduced, content, use)
        # On the host, or in this group of URLs: what was skipped by such a rule is in doubt.
        given_up += [rule.text for rule in believed if not self._stage_in(reduced.group, rule)]
        if self._believed != self.trials.believed:
            given_up += self.novelty.in_force
            self.find_rules(now)
        return given_up

    def would_skip(self, url: str, use: int = 1, *, may_stop: bool = True) -> Skip | None:
        """Return why a request need not be sent; None if it is to be sent. *may_stop*: see `Novelty.skips`."""
        parts = cut(url) if self._in_force or self.novelty.stopped else None
        if parts is None:
            self.checks.requests += 1
            return None
        reduced = self._reduce(parts)
        packed = self._known.get(reduced.key)
        is_fetched = packed is not None and bool(packed >> USES & use)
        if packed is None or not is_fetched or not reduced.values or packed >> VALUES == reduced.values:
            # No rule about a difference skips it; perhaps one about all URLs like it.
            groups = reduced.url.groups if self.novelty.stopped else ()
            group_rule = self.novelty.skips(groups, use, may_stop=may_stop)
            self.checks.requests += group_rule is None
            return None if group_rule is None else Skip((group_rule,), reduced.key)
        if not self._skips_now(packed, reduced):
            self.checks.requests += 1
            self.checks.sent += 1
            return None
        rules = self._applied(reduced.values, packed >> VALUES)
        for rule in rules:
            rule.evidence.skipped += 1
        self.skipped += 1
        return Skip(tuple(rule.text for rule in rules), reduced.key)

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

    def led_on(self, url: str) -> Barren | None:
        """Return the page at *url*, empty if nobody knows that, if it brought nothing new; see `Novelty.led_on`."""
        return self.novelty.led_on(self.key_of(url))

    @property
    def saved(self) -> int:
        """Requests that rules and groups in force have skipped, or would have."""
        return (self.skipped if self._in_force else 0) + self.novelty.skipped

    def is_believed(self, rule: str) -> bool:
        """Tell whether *rule* may skip requests."""
        evidence = self.evidence.get(rule)
        return (
            rule in self.pinned
            or self.novelty.is_in_force(rule)
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
        parts = cut(url)
        if parts is not None:
            self._known.pop(self._reduce(parts).key, None)
            self._urls = deque((entry for entry in self._urls if entry[0] != url), MOST_URLS)

    def find_rules(self, now: int) -> None:
        """Find which rules are in force, and know the fetched pages by them."""
        self._in_force = []
        for text in self._chosen(now):
            hypothesis, about = hypothesis_of(text)
            evidence = self.evidence.setdefault(text, Evidence())
            evidence.since = evidence.since or now
            self._in_force.append(Rule(text, hypothesis, about, evidence))
        # What is under test was compared with other rules in force.
        self.trials.begin_again()
        self.novelty.begin_again()
        self._weight -= len(self._known) * _KNOWN
        self._known.clear()
        for url, content, use in self._urls:
            if parts := cut(url):
                self._know(self._reduce(parts), content, use)

    @property
    def weight(self) -> int:
        """Bytes that all of it takes, about."""
        return self._weight + self.trials.weight + self.novelty.weight

    def _chosen(self, now: int) -> list[str]:
        """Return the rules that are to be in force."""
        self._believed = self.trials.believed
        chosen = dict.fromkeys(
            [
                *sorted(rule for rule in self.pinned if group_in(rule) is None),
                *self.trials.believed_by_age(now),
            ]
        )
        return [
            rule for rule in chosen if rule not in self.forbidden and not covers(rule, chosen.keys() - {rule})
        ][:MOST_IN_FORCE]

    def _reduce(self, url: CutUrl) -> Reduced:
        if not self._in_force:
            return Reduced(url, url.group, hash(url), 0, 0)
        group, values, stage = url.group, 0, 0
        for index, rule in enumerate(self._in_force):
            shorter = rule.hypothesis.without(url, rule.about)
            if shorter == url:
                continue
            believed = self._stage_in(group, rule)
            if believed:
                values |= (1 + difference(url, shorter) % 65_535) << 16 * index
                stage = min(stage or believed, believed)
                url = shorter
        return Reduced(url, group, hash(url), values, stage)

    def _open_key(self, reduced: Reduced) -> int | None:
        return self.trials.without_open(reduced.url, reduced.group) if reduced.url.query else None

    def _stage_in(self, group: str, rule: Rule) -> int:
        if rule.text in self.pinned:
            return len(BOUNDS)
        trial = self.trials.get(group, rule.text)
        own = trial.evidence if trial is not None else None
        stage = rule.evidence.stage
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
            trials = [self.trials.get(reduced.group, rule.text) for rule in rules]
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

    def _note_novelty(self, url: str, reduced: Reduced, came: Came, use: int, now: int) -> list[str]:
        """Count a page for its groups of URLs, and return the rules that were given up by that."""
        if came.is_new and not self.novelty.rows:
            return []
        asked = cut(came.asked) if came.asked != url else None
        groups = (reduced.url if asked is None else self._reduce(asked).url).groups
        self.novelty.count_unasked(groups, use)
        if came.is_new:
            return self.novelty.add_new(groups)
        if self.novelty.goes_on(groups):
            self.brought_new = True
        elif came.is_after_all:
            self.novelty.may_lead_on(reduced.key, Barren(groups, came.parent))
        elif self._is_first(reduced):
            self.stopped_now = self.novelty.add_barren(groups, reduced.key, came.asked, use, now, came.parent)
        return []

    def _is_first(self, reduced: Reduced) -> bool:
        """Tell whether a page has come for the first time, whatever it has in its URL that may have no effect."""
        if reduced.key in self._known:
            return False
        key = self._open_key(reduced)
        # What was not found to have none after some pages is taken to have one.
        return key is None or not 1 < self._came.get(key, 0) <= SLOWED_AFTER

    def _count_skipped(self, packed: int, reduced: Reduced) -> None:
        """Count what would have been skipped, but was sent, as nobody asked."""
        if self.checks.requests:
            return
        if self._skips_now(packed, reduced):
            self.skipped += 1
            for rule in self._applied(reduced.values, packed >> VALUES):
                rule.evidence.skipped += 1

    def _answer(self, url: str, reduced: Reduced, packed: int, content: int, is_right: bool) -> None:
        for rule in self._applied(reduced.values, packed >> VALUES):
            if rule.text in self.pinned:
                continue
            if not is_right:
                self._speak_against(url, [(rule.text, reduced.url, content_in(packed))])
            trial = self.trials.get(reduced.group, rule.text)
            if trial is not None and trial.evidence is not None:
                trial.evidence.add(content, is_right)
            if rule.evidence.answer(content, is_right):
                self.trials.forget(rule.text, reduced.group)

    def _speak_against(self, url: str, differing: Sequence[Differing]) -> None:
        self._weight += _URL * self.against.add(url, differing, self._urls, self._reduce)

    def _content_of(self, url: CutUrl) -> int:
        """Return the content of the page at *url*, 0 if none is known that is evidence."""
        return content_in(self._known.get(hash(url), 0))

    def _remember(self, url: str, reduced: Reduced, content: int, use: int) -> None:
        # Where no two pages were equal yet, no rule can come soon.
        if not isinstance(self._urls, deque) and any(each.same for each in self.evidence.values()):
            self._urls = deque(maxlen=MOST_URLS)
        if isinstance(self._urls, deque):
            if len(self._urls) < MOST_URLS:
                self._weight += _URL
            self._urls.append((url, content, use))
        self._know(reduced, content, use)

    def _know(self, reduced: Reduced, content: int, use: int) -> None:
        packed = self._known.get(reduced.key)
        if packed is None:
            self._weight += _KNOWN
            if len(self._known) >= MOST_KNOWN:
                kept = list(self._known.items())[MOST_KNOWN // 2 :]
                self._weight -= (len(self._known) - len(kept)) * _KNOWN
                self._known = dict(kept)
            self._known[reduced.key] = reduced.values << VALUES | use << USES | content << 8 | 1
        elif packed & 255 < 255 or not packed >> USES & use:
            packed -= packed & 255 == 255
            self._known[reduced.key] = (packed | use << USES) + 1

    def _is_everywhere(self, content: int) -> bool:
        """Tell whether several of the latest URLs had this page, as with a login wall: it says nothing."""
        latest = list(self._urls)[-64:]
        return sum(other == content for _, other, _ in latest) > MOST_UNDER
