"""Kept rules: what was learned about a host as the bytes of a note, joined with what others learned."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from zlib import compress, decompress
from zlib import error as ZlibError

from scrapy_simhash.notes import Noted
from scrapy_simhash.observers.url_rules.evidence import Evidence
from scrapy_simhash.observers.url_rules.host import MOST_PAIRS, HostRules
from scrapy_simhash.observers.url_rules.hypotheses import hypothesis_of, prior
from scrapy_simhash.observers.url_rules.novelty import MOST_GROUPS, Row

#: Of the bytes. Who does not know it learns anew.
VERSION = 1


class KeptRules(Noted):
    """The rules of one host, part of which is in a note."""

    def __init__(self, host: HostRules, clock: Callable[[], float] = time.time) -> None:
        """*clock* tells when rules come into force that are so by what others found."""
        self.host = host
        self._clock = clock
        #: What the note has of each rule, as of now and as of the last to_bytes().
        self._shared: dict[str, list[int]] = {}
        self._written: dict[str, list[int]] = {}
        self._written_groups: dict[str, list[int]] = {}
        #: Of groups of URLs that brought nothing new: to be shown only, since each crawl finds that out by itself.
        self.groups: dict[str, list[int]] = {}

    @property
    def has_news(self) -> bool:
        """See `Noted.has_news`."""
        return self._groups() != self.groups or any(
            evidence.to_list() != self._shared.get(rule) for rule, evidence in self.host.evidence.items()
        )

    def take(self, data: bytes | None) -> None:
        """See `Noted.take`."""
        kept = None
        if data is not None:
            with suppress(ValueError):
                kept = parsed(data)
        if kept is None:
            self._shared = {}
            return
        host = self.host
        for rule, numbers in kept["rules"].items():
            theirs, mine = Evidence.from_list(numbers, prior=prior(rule)), host.evidence.get(rule)
            if mine is not None:
                theirs.add_since(self._shared.get(rule), mine)
            host.evidence[rule] = theirs
        for rule, groups in kept["wrong"].items():
            for group, numbers in groups.items():
                if host.trials.get(group, rule) is None:
                    host.trials.put(rule, group, Evidence.from_list(numbers, prior=prior(rule)))
        for rule, pairs in kept["against"].items():
            both = (*map(tuple, pairs), *host.against.get(rule, ()))
            host.against[rule] = tuple(dict.fromkeys(both))[:MOST_PAIRS]
        self._shared = {rule: list(numbers) for rule, numbers in kept["rules"].items()}
        self.groups = dict(kept["groups"])
        host.find_rules(int(self._clock()))

    def to_bytes(self) -> bytes:
        """See `Noted.to_bytes`."""
        host = self.host
        self._written = {rule: evidence.to_list() for rule, evidence in host.evidence.items()}
        self._written_groups = self._groups()
        wrong = {
            rule: {group: evidence.to_list() for group, evidence in groups.items()}
            for rule, groups in host.trials.wrong_groups().items()
        }
        return packed(self._written, wrong, self._written_groups, host.against)

    def was_kept(self) -> None:
        """See `Noted.was_kept`."""
        self._shared, self.groups = self._written, self._written_groups

    def _groups(self) -> dict[str, list[int]]:
        rows = self.host.novelty.rows.items()
        found = {**self.groups, **{group: row.to_list() for group, row in rows if row.since}}
        return dict(list(found.items())[-MOST_GROUPS:])


def packed(
    rules: Mapping[str, list[int]],
    wrong: Mapping[str, Mapping[str, list[int]]],
    groups: Mapping[str, list[int]],
    against: Mapping[str, Sequence[tuple[str, str]]] = {},
) -> bytes:
    """Return the bytes for rules with their evidence, the groups in which pages differed, and the stopped groups.

    And for some pairs of URLs that speak *against* each rule.
    """
    kept = {"version": VERSION, "rules": rules, "wrong": wrong, "groups": groups, "against": against}
    return compress(json.dumps(kept, separators=(",", ":")).encode())


def joined(kept: bytes | None, others: bytes) -> bytes | None:
    """Return what a store keeps of a host once it has *others* too; None if that changes nothing.

    Of a rule that both have, the evidence with more pairs stays: the same pairs again are no more evidence.
    Raises ValueError if *others* is no such data; what is *kept* is learned anew if it is damaged.
    """
    own: dict[str, Any] = {"rules": {}, "wrong": {}, "groups": {}, "against": {}}
    if kept is not None:
        with suppress(ValueError):
            own = parsed(kept)
    theirs = parsed(others)
    rules, wrong = dict(own["rules"]), dict(own["wrong"])
    stopped = {**own["groups"], **theirs["groups"]}
    for rule, numbers in theirs["rules"].items():
        if rule not in rules or rules[rule][0] < numbers[0]:
            rules[rule] = numbers
    for rule, groups in theirs["wrong"].items():
        wrong[rule] = {**groups, **wrong.get(rule, {})}
    if kept is not None and (rules, wrong, stopped) == (own["rules"], own["wrong"], own["groups"]):
        return None
    return packed(rules, wrong, stopped, {**theirs["against"], **own["against"]})


def parsed(data: bytes) -> dict[str, Any]:
    """Return what to_bytes() gave, checked. Raises ValueError for anything else."""
    try:
        kept = json.loads(decompress(data))
        if kept["version"] != VERSION:
            raise ValueError(f"URL rules of version {kept['version']}, this release knows version {VERSION}")
        for rule, groups in [("", kept["rules"]), *kept["wrong"].items()]:
            for text, numbers in groups.items():
                hypothesis_of(rule or text)
                Evidence.from_list(numbers)
        for numbers in kept["groups"].values():
            Row.from_list(numbers)
        for pairs in kept.setdefault("against", {}).values():
            for first, second in pairs:
                if not (isinstance(first, str) and isinstance(second, str)):
                    raise ValueError(f"a pair of URLs must be two texts, got {(first, second)}")
    except (ZlibError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"damaged URL rules: {error}") from error
    return dict(kept)
