"""HostRules: find differences between the URLs of one host that have no effect on the page."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple, TypeVar

from scrapy_simhash.judge.hints.urls import counts_pages
from scrapy_simhash.observers.url_rules.contents import Content
from scrapy_simhash.observers.url_rules.urls import (
    MAX_PARAMETERS,
    SEGMENTS,
    CutUrl,
    Rule,
    order_rules,
    rule_shape,
)
from scrapy_simhash.recent import Recent

K = TypeVar("K")
V = TypeVar("V")
#: Equal pairs in a row that activate a rule: more than 95 % equal, with 95 % confidence (Clopper, Pearson 1934).
PAIRS = 59
#: Number of pairs if the parameters already have no effect under another shape, and under three other shapes.
PAIRS_IF_RELATED = 29, 10
#: Min distinct contents of these pairs.
CONTENTS = 10
#: Max different pairs of a rule per crawl. Each doubles the required number of equal pairs.
MAX_DIFFERENT = 3
#: One in `CHECKED` requests that match a rule or a trap is sent as a check, until the checks exceed a share of the
#: requests of the host; then one in `UNCHECKED`, so that all requests skipped since the last check are still kept.
CHECKED, UNCHECKED = 20, 500
#: Max active rules per host, max shapes of URLs per host, and max combinations of parameters per shape.
MAX_ACTIVE, MAX_SHAPES, MAX_COMBINATIONS = 64, 1_000, 100
#: Max stored pages per host; beyond this limit, the older half is dropped.
MAX_KNOWN = 100_000
#: Max stored requests per host whose pages may not have been received yet, and max stored lists of links.
MAX_SENT, MAX_LISTS = 1_000, 20_000

# A page is stored as one number: its text, its size, and 32 bits of its URL, so that a page is never compared with
# itself.
_TEXT_AT, _SIZE_AT, _SIZE_MASK, _URL_MASK = 40, 32, 0xFF, 0xFFFFFFFF


def newer_half(entries: dict[K, V]) -> dict[K, V]:
    """Return the half of the entries that was added later."""
    return dict(islice(entries.items(), len(entries) // 2, None))


class Checks:
    """Counts of the requests that match a rule or a trap."""

    __slots__ = ("checks", "matched", "unchecked")

    def __init__(self) -> None:
        self.matched = self.checks = self.unchecked = 0

    @property
    def skipped(self) -> int:
        """Number of requests that were skipped, or would have been skipped."""
        return self.matched - self.checks

    def is_check(self, requests: int, has_budget: bool) -> bool:
        """Return whether the next matching request is sent as a check. *requests* is the number sent to the host.

        *has_budget* is false if too many checks were sent, because each checked page may have new links to check.
        """
        self.matched += 1
        self.unchecked += 1
        is_due = self.unchecked >= CHECKED and has_budget
        # The more matches there are per sent request, the rarer are checks.
        if not is_due and self.unchecked < max(UNCHECKED, CHECKED * self.matched // max(1, requests)):
            return False
        self.unchecked = 0
        self.checks += 1
        return True


class Evidence(Checks):
    """Pairs of pages for and against one rule."""

    __slots__ = ("contents", "different", "equal")

    def __init__(self) -> None:
        super().__init__()
        #: Number of equal pairs since the last different pair, and number of different pairs.
        self.equal = self.different = 0
        #: Hashes of the first distinct contents of these pairs.
        self.contents: set[int] = set()

    def add_equal(self, content: Content, *, is_only_page: bool, related: int = 0) -> bool:
        """Count an equal pair, and return whether the rule has enough equal pairs.

        *is_only_page* means that all pairs may be of one page. Fewer pairs suffice if *related* rules are active
        under other shapes.
        """
        self.equal += 1
        if len(self.contents) < CONTENTS:
            self.contents.add(content.text)
        needed = PAIRS if not related else PAIRS_IF_RELATED[related > 2]
        has_contents = len(self.contents) >= CONTENTS or is_only_page or related
        return bool(has_contents) and self.equal >= needed << self.different and not self.is_hopeless

    def add_different(self) -> None:
        """Count a different pair."""
        self.different += 1
        self.equal = 0
        self.contents.clear()

    @property
    def is_hopeless(self) -> bool:
        """Whether the rule is no longer tested in this crawl."""
        return self.different > MAX_DIFFERENT


class Shape:
    """The URLs of one shape: parameters that always occur together, and rules that are active or tested."""

    __slots__ = ("active", "groups", "name", "tested")

    def __init__(self, name: str) -> None:
        self.name = name
        #: Groups of parameters that have always occurred together so far.
        self.groups: set[frozenset[str]] = set()
        #: The rules to test, with their evidence, by the names of a URL's parameters; computed at first use.
        self.tested: dict[tuple[str, ...], list[tuple[Rule, Evidence]]] = {}
        #: The active rules; None if they must be computed.
        self.active: list[Rule] | None = None

    def parameter_rules(self, names: tuple[str, ...]) -> list[Rule]:
        """Return the rules to test with a URL that has parameters with these *names*."""
        if len(self.tested) >= MAX_COMBINATIONS or len(names) > MAX_PARAMETERS:
            return []
        relevant = frozenset(name for name in names if name and "," not in name and not counts_pages(name))
        known = frozenset().union(*self.groups)
        parts = {part for group in self.groups for part in (group & relevant, group - relevant)}
        groups = {part for part in (*parts, relevant - known) if part}
        if groups != self.groups:
            # A group was split or added.
            self.groups = groups
            self.tested.clear()
        together = [group for group in groups if len(group) > 1 and group <= relevant]
        if len(groups) > 1 and len(known | relevant) <= MAX_PARAMETERS:
            # If each link has a fresh session id, no two URLs differ in only one other parameter.
            together.append(known | relevant)
        about = [*sorted(relevant), *(",".join(sorted(group)) for group in together)]
        return [Rule("parameter", names_of, self.name) for names_of in about]


class Learned(NamedTuple):
    """The result of learning from one page."""

    is_repeat: bool = False
    """Whether a page with the same reduced URL was seen before."""
    activated: tuple[Rule, ...] = ()
    deactivated: tuple[Rule, ...] = ()


#: The result for a page that was not seen before and changes no rules.
NOTHING = Learned()


class HostRules:
    """The rules of one host, independent of Scrapy and of other hosts.

    >>> rules, cut = HostRules(), __import__("scrapy_simhash.observers.url_rules.urls", fromlist=["cut"]).cut
    >>> for visit in range(90):
    ...     _ = rules.learn(cut(f"https://a.example/story/{visit % 30}?sid={visit}"), 0, Content(visit % 30))
    >>> [str(rule) for rule in rules.active]
    ['parameter sid in /story/*']
    >>> [str(rule) for rule in rules.would_skip(cut("https://a.example/story/7?sid=new"), 0)]
    ['parameter sid in /story/*']
    """

    def __init__(
        self, active: Iterable[Rule] = (), pinned: Iterable[Rule] = (), forbidden: Iterable[Rule] = ()
    ) -> None:
        """*active* rules were learned before, *pinned* rules are always active, and *forbidden* rules never."""
        self.pinned = frozenset(pinned)
        self.forbidden = frozenset(forbidden)
        #: The active rules, in the order of activation.
        self.active = [rule for rule in dict.fromkeys([*pinned, *active]) if not self._is_forbidden(rule)]
        self.evidence: dict[Rule, Evidence] = {}
        #: Number of requests that were sent as checks.
        self._checks = 0
        self._shapes: dict[str, Shape] = {}
        #: Rules about an order of values or segments, each found by two pages with the same text.
        self._orders: set[Rule] = set()
        #: Keys of requests that were sent while rules were active; the page may not have been received yet.
        self._sent: Recent[int, None] = Recent(MAX_SENT)
        #: Pages by hash of the purpose and the reduced URL of their request.
        self.known: dict[int, int] = {}
        #: Hashes of the links of list pages, by the hash of the page's text, see `Content`.
        self._links: Recent[int, int] = Recent(MAX_LISTS)

    def reduce(self, url: CutUrl) -> tuple[CutUrl, list[Rule]]:
        """Return the reduced *url*, without parts that have no effect, and the rules that removed them."""
        applied: list[Rule] = []
        if self.active:
            for rule in self._active_in(self._shape_of(url)):
                shorter = rule.without(url)
                if shorter != url:
                    applied.append(rule)
                    url = shorter
        return url, applied

    def learn(
        self,
        url: CutUrl,
        purpose: int,
        content: Content,
        *,
        twin: CutUrl | None = None,
        is_only_page: bool = False,
        is_evidence: bool = True,
    ) -> Learned:
        """Learn from the page at *url*, which was requested for *purpose*.

        *twin* is the URL of an earlier page with the same text. *is_only_page* means that no other page with this
        shape of URL was seen. Without *is_evidence* the page is stored, but no pair is counted.
        """
        reduced, applied = self._applied(url) if self.active else (url, [])
        key = hash((purpose, reduced))
        former = self._former(purpose, reduced, applied) if applied else self.known.get(key)
        page = _packed(content, url)
        activated: list[Rule] = []
        deactivated: list[Rule] = []
        if content.links:
            self._links[content.text] = content.links
        if applied and former is not None and is_evidence:
            is_equal = self._is_equal(content, former, page)
            if is_equal:
                for rule in applied:
                    self._evidence_of(rule).add_equal(content, is_only_page=is_only_page)
            elif is_equal is False:
                deactivated = self._deactivate(applied)
        if twin is not None and is_evidence:
            self._find_order(reduced, self.reduce(twin)[0], purpose, content)
        has_rules = is_evidence and (self._orders or reduced.query)
        for rule, evidence in self._tested(reduced) if has_rules else ():
            shorter = rule.without(reduced)
            if shorter is reduced:
                continue
            at = hash((purpose, shorter, rule))
            other = self.known.get(at) or self.known.get(hash((purpose, shorter)))
            if other is None:
                self.known[at] = page
                continue
            is_equal = self._is_equal(content, other, page)
            if is_equal is False:
                evidence.add_different()
                if evidence.is_hopeless:
                    self._reset_lookups()
            elif is_equal and evidence.add_equal(
                content, is_only_page=is_only_page, related=self._related(rule)
            ):
                activated.append(rule)
        self.known[key] = page
        if len(self.known) > MAX_KNOWN:
            self.known = newer_half(self.known)
        if former is None and not activated:
            return NOTHING
        if activated and len(self.active) < MAX_ACTIVE:
            self.active += activated
            self._reset_lookups()
        return Learned(former is not None, tuple(activated), tuple(deactivated))

    def would_skip(self, url: CutUrl, purpose: int, requests: int = 0) -> tuple[Rule, ...]:
        """Return the rules by which a request is skipped; empty if it is sent. Call this once per request.

        *requests* is the number of requests sent to the host.
        """
        if not self.active:
            return ()
        reduced, applied = self._applied(url)
        former = self._former(purpose, reduced, applied) if applied else None
        if former is None or not (former ^ hash(url)) & _URL_MASK:
            return ()
        has_budget = self._checks * CHECKED <= requests
        checked = [self._evidence_of(rule).is_check(requests, has_budget) for rule in applied]
        if any(checked) and not self.pinned.issuperset(applied):
            self._checks += 1
            return ()
        return tuple(applied)

    def is_under_way(self, url: CutUrl, purpose: int) -> bool:
        """Record a request; return whether a request that is equal by the rules was sent and has no response yet."""
        reduced, applied = self._applied(url)
        key = hash((purpose, reduced))
        is_under_way = bool(applied) and key in self._sent and self._former(purpose, reduced, applied) is None
        self._sent[key] = None
        return is_under_way

    def forget(self, url: CutUrl, purpose: int) -> None:
        """Forget that the page at *url* was fetched, because its items were lost."""
        reduced, applied = self.reduce(url)
        for key in self._keys(purpose, reduced, applied):
            self.known.pop(key, None)

    def _applied(self, url: CutUrl) -> tuple[CutUrl, list[Rule]]:
        """Return the result of `reduce`; if no rule changes *url*, return it with the rules that may apply to it."""
        if not self.active:
            return url, []
        reduced, applied = self.reduce(url)
        return reduced, applied or self._active_in(self._shape_of(url))

    def _keys(self, purpose: int, reduced: CutUrl, applied: Iterable[Rule]) -> list[int]:
        """Return the keys of a page: for its reduced URL, and for each rule, which may have been inactive before."""
        return [hash((purpose, reduced)), *[hash((purpose, reduced, rule)) for rule in applied]]

    def _former(self, purpose: int, reduced: CutUrl, applied: Iterable[Rule]) -> int | None:
        keys = self._keys(purpose, reduced, applied)
        return next((found for key in keys if (found := self.known.get(key)) is not None), None)

    def _is_equal(self, content: Content, former: int, page: int) -> bool | None:
        """Return whether *content* equals that of the *former* page; None if unknown, or if it is the same page."""
        if not (former ^ page) & _URL_MASK:
            return None
        text = former >> _TEXT_AT
        return content.equals(text, self._links.get(text, 0), former >> _SIZE_AT & _SIZE_MASK)

    def _find_order(self, url: CutUrl, twin: CutUrl, purpose: int, content: Content) -> None:
        """Begin to test a rule about an order if two URLs with the same text differ only in that order."""
        if url == twin:
            return
        for rule in order_rules(url, rule_shape(url.path)):
            shorter = rule.without(url)
            if rule not in self._orders and shorter == rule.without(twin):
                self._orders.add(rule)
                self._reset_lookups()
                self.known.setdefault(hash((purpose, shorter, rule)), _packed(content, twin))

    def _shape_of(self, url: CutUrl) -> Shape:
        name = rule_shape(url.path)
        shape = self._shapes.get(name)
        if shape is None:
            if len(self._shapes) >= MAX_SHAPES:
                self._shapes.clear()
            shape = self._shapes[name] = Shape(name)
        return shape

    def _active_in(self, shape: Shape) -> list[Rule]:
        if shape.active is None:
            shape.active = [rule for rule in self.active if _holds_in(rule, shape.name)]
        return shape.active

    def _tested(self, url: CutUrl) -> Iterable[tuple[Rule, Evidence]]:
        """Return the rules to test with a URL that are not active, forbidden or hopeless."""
        shape, names = self._shape_of(url), url.names
        tested = shape.tested.get(names)
        if tested is None:
            rules = shape.parameter_rules(names) if names else []
            rules += [rule for rule in self._orders if _holds_in(rule, shape.name)]
            active = self._active_in(shape)
            shape.tested[names] = tested = [
                (rule, evidence)
                for rule in rules
                if rule not in active
                and not self._is_forbidden(rule)
                and not (evidence := self._evidence_of(rule)).is_hopeless
            ]
        return tested

    def _evidence_of(self, rule: Rule) -> Evidence:
        evidence = self.evidence.get(rule)
        if evidence is None:
            if len(self.evidence) >= MAX_SHAPES:
                self.evidence = {
                    active: self.evidence[active] for active in self.active if active in self.evidence
                }
                self._reset_lookups()
            evidence = self.evidence[rule] = Evidence()
        return evidence

    def _related(self, rule: Rule) -> int:
        """Return the number of active rules with the same or more parameters under another shape."""
        names = frozenset(rule.about.split(","))
        return sum(
            active.kind == rule.kind and names.issubset(active.about.split(",")) for active in self.active
        )

    def _is_forbidden(self, rule: Rule) -> bool:
        return rule in self.forbidden or rule._replace(shape="") in self.forbidden

    def _deactivate(self, rules: Iterable[Rule]) -> list[Rule]:
        deactivated = [rule for rule in rules if rule not in self.pinned]
        for rule in deactivated:
            self.active.remove(rule)
            self._evidence_of(rule).add_different()
        self._reset_lookups()
        return deactivated

    def _reset_lookups(self) -> None:
        for shape in self._shapes.values():
            shape.active = None
            shape.tested.clear()


def _packed(content: Content, url: CutUrl) -> int:
    return (content.text << 8 | content.size) << _SIZE_AT | (hash(url) & _URL_MASK)


def _holds_in(rule: Rule, shape: str) -> bool:
    """Return whether *rule* applies to URLs whose `rule_shape` is *shape*."""
    if rule.about == SEGMENTS:
        return shape.startswith(rule.shape.removesuffix("**"))
    return rule.shape in ("", shape)
