"""Trials: each rule under test in each group of URLs, compared with the pages that came before."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias
from zlib import crc32

from scrapy_simhash.observers.url_rules.cut_url import CutUrl
from scrapy_simhash.observers.url_rules.evidence import MOST_UNDER, Entry, Evidence, Ring
from scrapy_simhash.observers.url_rules.hypotheses import (
    PARAMETER,
    PARAMETER_VALUE,
    Hypothesis,
    has_sign,
    hypotheses_about,
    prior,
    values_of,
)

#: Rules of a host that may be under test.
MOST_RULES = 64
#: Groups of a host that are told apart.
MOST_GROUPS = 256
#: URLs after which a ring in which nothing was found is given up.
PATIENCE = 256
#: Looks at pages of a host, and one more for so many pages that were compared. A rule takes some 150.
MOST_LOOKS, PAGES_A_LOOK = 1_000, 10
#: What things weigh, in bytes, for the bound over all hosts.
_RING, _TRIAL = 1_700, 600
#: Nobody sells a size for each link: a value by which variants of a product are never told.
_RANDOM = re.compile(
    r"=(?=[a-z]*[0-9])(?=[0-9]*[a-z])[0-9a-z]{12,}(?:&|\Z)|[0-9a-f]{8}-[0-9a-f-]{27}", re.IGNORECASE
)


#: Looks at a page when it is needed. Returns a hash of what the links of a listing say, 0 for other pages; None for a
#: page that is no evidence that it is the same as another one: a translation, a variant of a product. The argument
#: says whether a variant of a product is the same page all the same.
Looks: TypeAlias = Callable[[bool], int | None]


def unseen(any_variant: bool) -> int | None:
    """Look at a page that repeats no other: nothing of it is needed."""
    return None


class Comparison(NamedTuple):
    """A page that is compared with those that came before."""

    group: str
    """That of its URL."""
    same: tuple[int, int]
    """Its content, and one that is the same, 0 for none."""
    look: Looks
    content_of: Callable[[CutUrl], int]


@dataclass(slots=True)
class Trial:
    """A rule under test in one group of URLs."""

    ring: Ring | None
    tried: int = 0
    is_fresh: bool = False
    """Whether nearly every URL has a value of its own."""
    finds_fresh: bool = True
    """Whether that is to be found by the values; else by those of several parameters."""
    evidence: Evidence | None = None

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

    @property
    def has_ended(self) -> bool:
        """Whether it has found nothing, or surely no rule."""
        return self.tried >= PATIENCE if self.evidence is None else self.evidence.is_hopeless


class Trials:
    """The rules of one host under test."""

    __slots__ = (
        *("_compared", "_fresh", "_groups", "_host", "_is_alone", "_looks"),
        *("differing", "evidence", "has_counted", "weight"),
    )

    def __init__(self) -> None:
        self.evidence: dict[str, Evidence] = {}
        self.weight = 0
        #: By group of URLs and rule.
        self._groups: dict[str, dict[str, Trial]] = {}
        #: Rules of which the values were fresh in one group at least.
        self._fresh: set[str] = set()
        self._compared = self._looks = 0
        #: Scheme and host of the first URL, and whether all others had the same.
        self._host: tuple[str, str] | None = None
        self._is_alone = True
        #: Of the latest page: the rules against which it speaks, each with the URL without what the rule is about,
        #: and with the content of the other page.
        self.differing: list[tuple[str, CutUrl, int]] = []
        #: Whether any pair was counted for it.
        self.has_counted = False

    def get(self, group: str, rule: str) -> Trial | None:
        """Return the trial of *rule* in *group*, None if there was none."""
        return self._groups.get(group, {}).get(rule)

    @property
    def believed(self) -> list[str]:
        """The rules that are believed."""
        return [rule for rule, evidence in self.evidence.items() if evidence.stage]

    def begin_again(self) -> None:
        """Forget the URLs, since they are written in another way from now on; what was counted stays."""
        for trials in self._groups.values():
            for trial in trials.values():
                if trial.ring is not None:
                    trial.ring.empty()

    def forget(self, rule: str, group: str) -> None:
        """Forget what was counted for *rule* in the groups.

        Where pages differed, as now in *group*, it is not in force until the pairs of that group say so.
        """
        self._trial(group, rule).add(rule, 0, False)
        for trials in self._groups.values():
            if (trial := trials.get(rule)) is not None:
                was_wrong, trial.evidence = trial.is_wrong, None
                if was_wrong:
                    trial.add(rule, 0, False)

    def wrong_groups(self) -> dict[str, dict[str, Evidence]]:
        """Return for each rule the groups in which pages differed, with the evidence there."""
        found: dict[str, dict[str, Evidence]] = {}
        for group, trials in self._groups.items():
            for rule, trial in trials.items():
                if trial.evidence is not None and trial.is_wrong:
                    found.setdefault(rule, {})[group] = trial.evidence
        return found

    def put(self, rule: str, group: str, evidence: Evidence) -> None:
        """Put back what wrong_groups() gave."""
        self._trial(group, rule, has_ring=False).evidence = evidence

    def note(self, url: CutUrl, group: str) -> None:
        """Take note of the parameters of a URL whose page is no evidence."""
        for rule, value, _ in PARAMETER.of(url):
            if trial := self._trial_with_ring(group, rule):
                self._note(trial, rule, value)

    def compare(
        self,
        url: CutUrl,
        whole: CutUrl,
        same: tuple[int, int],
        look: Looks,
        content_of: Callable[[CutUrl], int],
    ) -> None:
        """Compare the page at *url*, which is *whole* without what has no effect, with those whose URLs differ a bit.

        That is in one part. *same* is its content, and one that is the same, 0 for none. *content_of* returns the
        content of the page at a URL that was fetched, 0 if none is known.
        """
        self.differing, self.has_counted = [], False
        self._compared += 1
        page: Comparison | None = None
        open_names: dict[str, Trial] = {}
        self._host = self._host or url[:2]
        self._is_alone = self._is_alone and url[:2] == self._host
        # Of most URLs without parameters none may be true.
        if self._is_alone and not url.query and not has_sign(url.path):
            return
        for hypothesis in hypotheses_about(url):
            for rule, value, shorter in hypothesis.of(url):
                other = 0 if hypothesis.has_many_values else content_of(shorter)
                if not hypothesis.has_many_values and not other:
                    continue
                page = page or Comparison(whole.group, same, look, content_of)
                if other:
                    self._compare_one(page, hypothesis, rule, shorter, other)
                    continue
                trial = self._compare(page, rule, value, shorter)
                if hypothesis is PARAMETER and trial is not None and not trial.is_wrong:
                    open_names[rule.partition(" ")[2]] = trial
        if page is None or len(open_names) < 2:
            return
        # Where several change at once, none can be told alone: all together, or at least those that always change.
        for names in (set(open_names), {name for name, trial in open_names.items() if trial.is_fresh}):
            if len(names) > 1:
                several = PARAMETER.difference(url, ",".join(sorted(names)), values_of(url, names))
                trial = self._compare(page, *several)
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

    def _compare(self, page: Comparison, rule: str, value: str, shorter: CutUrl) -> Trial | None:
        """Compare a page with the one that its group had before at the URL *shorter*; None if there is no room."""
        trial = self._trial_with_ring(page.group, rule)
        if trial is None or trial.ring is None:
            return trial
        ring, key, hashed = trial.ring, _key(shorter), self._note(trial, rule, value)
        other = ring.find(key)
        content = page.same[0]
        links = other.links if other is not None and other.content in page.same else 0
        if other is not None and other.value != hashed:
            if ring.times_under(content) <= MOST_UNDER:
                any_variant = rule in self._fresh and bool(_RANDOM.search(value))
                links = self._count(page, trial, rule, shorter, other.content, other.links, any_variant)
        elif other is None and ring.has_several_values and (known := page.content_of(shorter)):
            self._count(page, trial, rule, shorter, known, None)
        ring.put(key, Entry(content, hashed, links))
        if trial.has_ended:
            trial.ring = None
            self.weight -= _RING
        return trial

    def _compare_one(
        self, page: Comparison, hypothesis: Hypothesis, rule: str, shorter: CutUrl, other: int
    ) -> None:
        """Compare a page with the *other* one at the URL *shorter*, by a rule that has one value."""
        if hypothesis is PARAMETER_VALUE:
            name = rule.partition(" ")[2].partition("=")[0]
            trial = self.get(page.group, f"{PARAMETER.name} {name}")
            if trial is not None and trial.is_fresh:
                return
        # None of the others chooses a variant of a product.
        any_variant = hypothesis is not PARAMETER_VALUE
        self._count(
            page, self._trial(page.group, rule, has_ring=False), rule, shorter, other, None, any_variant
        )

    def _note(self, trial: Trial, rule: str, value: str) -> int:
        hashed = trial.note(value)
        if trial.is_fresh:
            self._fresh.add(rule)
        return hashed

    def _count(
        self,
        page: Comparison,
        trial: Trial,
        rule: str,
        shorter: CutUrl,
        other: int,
        links: int | None,
        any_variant: bool = False,
    ) -> int:
        """Count a pair of pages, and return what the links of this one say.

        *links* are those of the other page: 0 if nobody looked, None if nobody can.
        """
        content, is_same = page.same[0], other in page.same
        own = 0
        if is_same:
            # A page that is linked everywhere was counted often enough.
            if trial.evidence is not None and trial.evidence.has_enough_of(content):
                return links or 0
            if self._looks >= MOST_LOOKS + self._compared // PAGES_A_LOOK:
                return 0
            self._looks += 1
            seen = page.look(any_variant)
            if seen is None:
                return 0
            own = seen
            if own and not links:
                return own
            is_same = own == links or not own
        if rule not in self.evidence:
            if len(self.evidence) >= MOST_RULES:
                self._forget_weakest()
            self.evidence[rule] = Evidence(prior=prior(rule))
        trial.add(rule, content, is_same)
        self.evidence[rule].add(content, is_same)
        self.has_counted = True
        if not is_same:
            self.differing.append((rule, shorter, other))
        return own

    def _forget_weakest(self) -> None:
        """Forget the half of the rules with the fewest pairs; those that are believed stay."""
        ranked = sorted(self.evidence, key=lambda rule: (self.evidence[rule].stage, self.evidence[rule].same))
        for rule in ranked[: MOST_RULES // 2]:
            if not self.evidence[rule].stage:
                del self.evidence[rule]

    def _trial_with_ring(self, group: str, rule: str) -> Trial | None:
        """Return the trial of a rule that has many values, None if there are too many groups."""
        has_room = group in self._groups or len(self._groups) < MOST_GROUPS
        return self._trial(group, rule) if has_room else None

    def _trial(self, group: str, rule: str, *, has_ring: bool = True) -> Trial:
        trials = self._groups.setdefault(group, {})
        trial = trials.get(rule)
        if trial is None:
            trial = trials[rule] = Trial(Ring() if has_ring else None)
            self.weight += _TRIAL + (_RING if has_ring else 0)
        return trial


def _key(shorter: CutUrl) -> int:
    """Return by what a ring knows a URL: 64 bits, never 0."""
    return hash(shorter) & (1 << 64) - 1 or 1
