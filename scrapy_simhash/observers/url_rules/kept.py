"""Kept rules: what was learned about a host as bytes, joined with what others learned, and kept in the store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from zlib import compress, decompress
from zlib import error as ZlibError

from scrapy_simhash.exceptions import StoreError, StoreUnavailable
from scrapy_simhash.observers.url_rules.evidence import Evidence
from scrapy_simhash.observers.url_rules.host import HostRules
from scrapy_simhash.observers.url_rules.hypotheses import hypothesis_of, prior
from scrapy_simhash.observers.url_rules.novelty import MOST_GROUPS, Row
from scrapy_simhash.page.site.profiles import Keeper, SharedKeeper

#: Of the bytes. Who does not know it learns anew.
VERSION = 1
#: Before the name of a site, where a store keeps its rules beside the profiles of hosts: no host has a space.
_BEFORE = "url-rules "


def place_of_site(site: str) -> str:
    """Return under which name a store keeps the rules of *site*.

    >>> place_of_site("example.com"), site_at(place_of_site("example.com")), site_at("example.com")
    ('url-rules example.com', 'example.com', None)
    """
    return _BEFORE + site


def site_at(place: str) -> str | None:
    """Return the site of which rules are kept under the name *place*, None if it is something else."""
    return place.removeprefix(_BEFORE) if place.startswith(_BEFORE) else None


class KeptRules:
    """What one host's rules have in common with what is kept of them."""

    def __init__(self, host: HostRules) -> None:
        self.host = host
        self._shared: dict[str, list[int]] = {}
        #: Of groups of URLs that brought nothing new: to be shown only, since each crawl finds that out by itself.
        self.groups: dict[str, list[int]] = {}
        #: Of the bytes that were last read or written, where a store has versions.
        self.version = b""

    @property
    def has_news(self) -> bool:
        """Whether there is something to keep."""
        return self._groups() != self.groups or any(
            evidence.to_list() != self._shared.get(rule) for rule, evidence in self.host.evidence.items()
        )

    def join(self, data: bytes | None, now: int) -> None:
        """Join what is kept, whoever wrote it, with what was learned since; None if nothing is kept.

        Raises ValueError for what is no such data.
        """
        if data is None:
            self._shared = {}
            return
        kept = parsed(data)
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
            host.against.join(rule, pairs)
        self._shared = {rule: list(numbers) for rule, numbers in kept["rules"].items()}
        self.groups = dict(kept["groups"])
        host.find_rules(now)

    def to_bytes(self) -> bytes:
        """Return all of it, as it is to be kept."""
        host = self.host
        self._shared = {rule: evidence.to_list() for rule, evidence in host.evidence.items()}
        self.groups = self._groups()
        wrong = {
            rule: {group: evidence.to_list() for group, evidence in groups.items()}
            for rule, groups in host.trials.wrong_groups().items()
        }
        return packed(self._shared, wrong, self.groups, host.against)

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


#: How often another crawler may be faster before rules wait for the next time.
_LOSSES = 10


class RuleKeeper:
    """Loads and keeps the rules of hosts in a store. Trouble with the store raises nothing: it is tried again later.

    What a store elsewhere has of a host comes with the next exchange(): until then the host begins from nothing.
    """

    def __init__(self, store: object) -> None:
        self._local = store if isinstance(store, Keeper) and not isinstance(store, SharedKeeper) else None
        self._shared = store if isinstance(store, SharedKeeper) else None
        self._hosts: dict[str, KeptRules] = {}
        #: Hosts of which the store was not asked yet.
        self._new: set[str] = set()

    @property
    def is_shared(self) -> bool:
        """Whether the store is elsewhere: exchange() is to be awaited."""
        return self._shared is not None

    @property
    def has_new(self) -> bool:
        """Whether there are hosts of which the store is to be asked by exchange()."""
        return bool(self._new)

    def add(self, site: str, host: HostRules, now: int) -> None:
        """Take note of a host whose rules are used from now on, and join what the store has of it."""
        if self._local is None and self._shared is None:
            return
        kept = self._hosts[site] = KeptRules(host)
        if self._local is None:
            self._new.add(site)
            return
        # What is damaged is learned anew.
        with suppress(ValueError, StoreUnavailable):
            kept.join(self._local.load_site(place_of_site(site)), now)

    def drop(self, site: str) -> None:
        """Forget a host; what the store was not told of it is lost."""
        self._hosts.pop(site, None)
        self._new.discard(site)

    def keep(self) -> None:
        """Give the store what was learned since the last call."""
        if self._local is not None:
            changed = [(site, kept) for site, kept in self._hosts.items() if kept.has_news]
            with suppress(StoreUnavailable):
                self._local.keep_sites([(place_of_site(site), kept.to_bytes()) for site, kept in changed])

    async def exchange(self, now: int) -> None:
        """Do what keep() does; with a store that crawlers share, join what others have learned."""
        self.keep()
        if self._shared is None:
            return
        waiting = [(site, kept) for site, kept in self._hosts.items() if site in self._new or kept.has_news]
        for site, kept in waiting:
            with suppress(StoreError):
                await self._exchange_one(self._shared, site, kept, now)
                self._new.discard(site)

    async def _exchange_one(self, store: SharedKeeper, site: str, kept: KeptRules, now: int) -> None:
        for _ in range(_LOSSES):
            version, data = await store.load_site(place_of_site(site), kept.version)
            if version != kept.version:
                with suppress(ValueError):
                    kept.join(data, now)
                kept.version = version
            if not kept.has_news:
                return
            written = await store.replace_site(place_of_site(site), version, kept.to_bytes())
            if written is not None:
                kept.version = written
                return
