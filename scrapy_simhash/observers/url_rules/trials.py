"""Trials: each rule under test in each group of URLs, compared with the pages that came before."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias
from zlib import crc32

from scrapy_simhash.observers.url_rules.cut_url import CutUrl
from scrapy_simhash.observers.url_rules.evidence import MOST_UNDER, Entry, Evidence, Ring
from scrapy_simhash.observers.url_rules.hypotheses import HYPOTHESES, PARAMETER, PARAMETER_VALUE, prior

#: Rules of a host that may be under test.
MOST_RULES = 64
#: Groups of a host that are told apart.
MOST_GROUPS = 256
#: URLs after which a ring in which nothing was found is given up.
PATIENCE = 256
#: Looks at pages of a host, and one more for so many pages that were compared. A rule takes some 150.
MOST_LOOKS, PAGES_A_LOOK = 1_000, 10
WITH_MANY_VALUES = [each for each in HYPOTHESES if each.has_many_values and each is not PARAMETER]
WITH_ONE_VALUE = [each for each in HYPOTHESES if not each.has_many_values and each is not PARAMETER_VALUE]
#: What things weigh, in bytes, for the bound over all hosts.
_RING, _TRIAL = 1_200, 600
_NEVER = 1 << 62
#: Nobody sells a size for each link: a value by which variants of a product are never told.
_RANDOM = re.compile(
    r"=(?=[a-z]*[0-9])(?=[0-9]*[a-z])[0-9a-z]{12,}(?:&|\Z)|[0-9a-f]{8}-[0-9a-f-]{27}", re.IGNORECASE
)


class Look(NamedTuple):
    """What is seen of a page only when it is needed."""

    is_barred: bool = False
    """Whether it is no evidence that it is the same as another page: a translation, a variant of a product."""
    links: int = 0
    """Hash of what the links of a listing say; 0 for other pages."""


#: Returns what is seen of a page. The argument says whether a variant of a product is the same page all the same.
Looks: TypeAlias = Callable[[bool], Look]


class Trial:
    """A rule under test in one group of URLs."""

    __slots__ = ("evidence", "finds_fresh", "is_fresh", "ring", "tried")

    def __init__(self, ring: Ring | None) -> None:
        self.ring = ring
        self.tried = 0
        self.is_fresh = False
        self.finds_fresh = True
        self.evidence: Evidence | None = None

    def note(self, value: str) -> int:
        """Take note of what a URL had, and return its hash."""
        hashed = crc32(value.encode("utf-8", "replace"))
        self.tried += 1
        if self.ring is not None:
            self.ring.note(hashed)
            if self.tried % 16 == 0 and self.finds_fresh:
                self.is_fresh = self.ring.values_are_fresh
        return hashed

    def add(self, rule: str, content: int, is_same: bool) -> None:
        """Count a pair of pages for or against *rule*, which is on trial here."""
        if self.evidence is None:
            self.evidence = Evidence(prior=prior(rule))
        self.evidence.add(content, is_same)

    @property
    def is_wrong(self) -> bool:
        """Whether pages differed here."""
        return self.evidence is not None and self.evidence.different > 0


class Trials:
    """The rules of one host under test."""

    __slots__ = ("_compared", "_fresh", "_groups", "_looks", "differing", "evidence", "weight")

    def __init__(self) -> None:
        self.evidence: dict[str, Evidence] = {}
        self.weight = 0
        #: By group of URLs and rule.
        self._groups: dict[str, dict[str, Trial]] = {}
        #: Rules of which the values were fresh in one group at least.
        self._fresh: set[str] = set()
        self._compared = self._looks = 0
        #: Of the latest page: the rules against which it speaks, each with the URL without what the rule is about,
        #: and with the content of the other page.
        self.differing: list[tuple[str, CutUrl, int]] = []

    def get(self, group: str, rule: str) -> Trial | None:
        """Return the trial of *rule* in *group*, None if there was none."""
        trials = self._groups.get(group)
        return None if trials is None else trials.get(rule)

    @property
    def believed(self) -> list[str]:
        """The rules that are believed."""
        return [rule for rule, evidence in self.evidence.items() if evidence.stage]

    def believed_by_age(self, now: int) -> list[str]:
        """Return the same, those first that were believed first, so that nothing changes without need."""
        key = {rule: self.evidence[rule] for rule in self.believed}
        return sorted(key, key=lambda rule: (key[rule].since or now or _NEVER, -key[rule].same))

    def begin_again(self) -> None:
        """Forget the URLs, since they are written in another way from now on; what was counted stays."""
        for trials in self._groups.values():
            for trial in trials.values():
                if trial.ring is not None:
                    trial.ring = trial.ring.emptied()

    def forget(self, rule: str, group: str) -> None:
        """Forget what was counted for *rule* in the groups.

        Where pages differed, as now in *group*, it is not in force until the pairs of that group say so.
        """
        self._trial(group, rule, True).add(rule, 0, False)
        for trials in self._groups.values():
            if rule in trials:
                former = trials[rule].evidence
                trials[rule].evidence = None
                if former is not None and former.different:
                    trials[rule].add(rule, 0, False)

    def wrong_groups(self) -> dict[str, dict[str, Evidence]]:
        """Return for each rule the groups in which pages differed, with the evidence there."""
        found: dict[str, dict[str, Evidence]] = {}
        for group, trials in self._groups.items():
            for rule, trial in trials.items():
                if trial.evidence is not None and trial.evidence.different:
                    found.setdefault(rule, {})[group] = trial.evidence
        return found

    def put(self, rule: str, group: str, evidence: Evidence) -> None:
        """Put back what wrong_groups() gave."""
        self._trial(group, rule, False).evidence = evidence

    def note(self, url: CutUrl, group: str) -> None:
        """Take note of the parameters of a URL whose page is no evidence."""
        for rule, value, _ in PARAMETER.of(url):
            if trial := self._trial_for(group, rule):
                self._note(trial, rule, value)

    def compare(
        self,
        url: CutUrl,
        group: str,
        content: int,
        look: Looks,
        content_of: Callable[[CutUrl], int],
        former: int = 0,
    ) -> None:
        """Compare a page with those whose URLs differ from its own in one part.

        *content_of* returns the content of the page at a URL that was fetched, 0 if none is known. *former* is a
        content that is the same as *content*, 0 for none.
        """
        self.differing = []
        same = (content, former)
        self._compared += 1
        open_names: dict[str, Trial] = {}
        for rule, value, shorter in PARAMETER.of(url) if url.query else ():
            trial = self._compare(group, rule, value, shorter, same, look, content_of)
            if trial is not None and not trial.is_wrong:
                open_names[rule.partition(" ")[2]] = trial
        for hypothesis in WITH_MANY_VALUES:
            for rule, value, shorter in hypothesis.of(url):
                self._compare(group, rule, value, shorter, same, look, content_of)
        for hypothesis in WITH_ONE_VALUE:
            for rule, _, shorter in hypothesis.of(url):
                if other := content_of(shorter):
                    # None of them chooses a variant of a product.
                    self._count(self._trial(group, rule, False), rule, shorter, same, other, None, look, True)
        for rule, value, shorter in PARAMETER_VALUE.of(url) if url.query else ():
            trial = self.get(group, f"{PARAMETER.name} {value.partition('=')[0]}")
            if (trial is None or not trial.is_fresh) and (other := content_of(shorter)):
                self._count(self._trial(group, rule, False), rule, shorter, same, other, None, look)
        if not open_names:
            return
        # Where several change at once, none can be told alone: all together, or at least those that always change.
        for names in (set(open_names), {name for name, trial in open_names.items() if trial.is_fresh}):
            if len(names) > 1:
                rule, value, shorter = PARAMETER.difference(url, ",".join(sorted(names)))
                trial = self._compare(group, rule, value, shorter, same, look, content_of)
                if trial is not None:
                    trial.finds_fresh = False
                    trial.is_fresh = all(open_names[name].is_fresh for name in names)
                    if not trial.is_wrong:
                        break

    def without_open(self, url: CutUrl, group: str) -> int | None:
        """Return the hash of a URL without the parameters that may have no effect, None if it has none of them."""
        trials = self._groups.get(group, {})
        rules = {name: trials.get(f"{PARAMETER.name} {name}") for name in url.names}
        open_names = [name for name, trial in rules.items() if trial is not None and not trial.is_wrong]
        return hash(PARAMETER.without(url, ",".join(open_names))) if open_names else None

    def _compare(
        self,
        group: str,
        rule: str,
        value: str,
        shorter: CutUrl,
        same: tuple[int, int],
        look: Looks,
        content_of: Callable[[CutUrl], int],
    ) -> Trial | None:
        trial = self._trial_for(group, rule)
        if trial is None or trial.ring is None:
            return trial
        ring, key, hashed = trial.ring, _key(shorter), self._note(trial, rule, value)
        other = ring.find(key)
        content = same[0]
        links = other.links if other is not None and other.content in same else 0
        if other is not None and other.value != hashed:
            if ring.times_under(content) <= MOST_UNDER:
                any_variant = rule in self._fresh and bool(_RANDOM.search(value))
                links = self._count(trial, rule, shorter, same, other.content, other.links, look, any_variant)
        elif other is None and ring.has_several_values and (known := content_of(shorter)):
            self._count(trial, rule, shorter, same, known, None, look)
        ring.put(key, Entry(content, hashed, links))
        evidence = trial.evidence
        if (evidence is None and trial.tried >= PATIENCE) or (evidence is not None and evidence.is_hopeless):
            trial.ring = None
            self.weight -= _RING
        return trial

    def _note(self, trial: Trial, rule: str, value: str) -> int:
        hashed = trial.note(value)
        if trial.is_fresh:
            self._fresh.add(rule)
        return hashed

    def _count(
        self,
        trial: Trial,
        rule: str,
        shorter: CutUrl,
        same: tuple[int, int],
        other: int,
        links: int | None,
        look: Looks,
        any_variant: bool = False,
    ) -> int:
        """Count a pair of pages, and return what the links of this one say.

        *links* are those of the other page: 0 if nobody looked, None if nobody can.
        """
        content, is_same = same[0], other in same
        own = 0
        if is_same:
            # A page that is linked everywhere was counted often enough.
            if trial.evidence is not None and trial.evidence.has_enough_of(content):
                return links or 0
            if self._looks >= MOST_LOOKS + self._compared // PAGES_A_LOOK:
                return 0
            self._looks += 1
            seen = look(any_variant)
            if seen.is_barred:
                return 0
            own = seen.links
            if own and not links:
                return own
            is_same = own == links or not own
        if rule not in self.evidence:
            if len(self.evidence) >= MOST_RULES:
                self._forget_weakest()
            self.evidence[rule] = Evidence(prior=prior(rule))
        trial.add(rule, content, is_same)
        self.evidence[rule].add(content, is_same)
        if not is_same:
            self.differing.append((rule, shorter, other))
        return own

    def _trial_for(self, group: str, rule: str) -> Trial | None:
        """Return the trial of a rule that has many values, None if there are too many others."""
        trials = self._groups.get(group)
        if trials is None and len(self._groups) >= MOST_GROUPS:
            return None
        return (trials and trials.get(rule)) or self._trial(group, rule, True)

    def _forget_weakest(self) -> None:
        """Forget the half of the rules with the fewest pairs; those that are believed stay."""
        ranked = sorted(self.evidence, key=lambda rule: (self.evidence[rule].stage, self.evidence[rule].same))
        for rule in ranked[: MOST_RULES // 2]:
            if not self.evidence[rule].stage:
                del self.evidence[rule]

    def _trial(self, group: str, rule: str, has_ring: bool) -> Trial:
        trials = self._groups.setdefault(group, {})
        trial = trials.get(rule)
        if trial is None:
            trial = trials[rule] = Trial(Ring() if has_ring else None)
            self.weight += _TRIAL + (_RING if has_ring else 0)
        return trial


def _key(shorter: CutUrl) -> int:
    """Return by what a ring knows a URL: 64 bits, never 0."""
    return hash(shorter) & (1 << 64) - 1 or 1
