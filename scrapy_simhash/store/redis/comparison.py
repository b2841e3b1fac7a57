"""Comparison: what the rule says of one page and the contents in its reach, which are in the server."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.index import Match
from scrapy_simhash.judge.rule import Nearest, Rule
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store.base import Claim, Posting
from scrapy_simhash.store.candidates import distance_of
from scrapy_simhash.store.damage import Damage
from scrapy_simhash.store.redis.layout import read_content
from scrapy_simhash.store.redis.link import Link
from scrapy_simhash.store.redis.records import Records
from scrapy_simhash.store.redis.replica import Replica
from scrapy_simhash.verdict import NearMiss


class _Compared(NamedTuple):
    similarity: float | None
    by_text: float | None
    distance: int


_FAR = _Compared(None, None, 0)


class Comparison:
    """The comparison of a page with contents of *replica*, whose records are in the hash *contents* of the server.

    What was compared stays, by content: who races with many like it asks often. *damage* gets records that cannot be
    read: what is in them is nobody's.
    """

    def __init__(self, link: Link, contents: str, replica: Replica, posting: Posting, damage: Damage) -> None:
        self._link, self._contents, self._replica, self._posting = link, contents, replica, posting
        self._damage = damage
        self._compared: dict[int, _Compared] = {}

    async def kin(self, matches: list[Match], rule: Rule) -> list[tuple[Match, float]]:
        """Return the contents among *matches* that the page repeats, with their similarity, best first."""
        page, compared = self._posting.fingerprint, self._compared
        new = [match for match in matches if match.key not in compared]
        if (rule.compares_sketches and page.sketch) or self._replica.has_own_values:
            known = await self._fetch([match.key for match in new])
        else:
            # Bits decide, and these are in the index.
            known = {match.key: Fingerprint(match.value).compared_bytes() for match in new}
        # A content that the server does not have any more is nobody's kin.
        compared.update((match.key, _FAR) for match in new)
        there = list(known.items())
        for place, similarity, by_text in rule.compare_all(page, [data for _, data in there]):
            content, data = there[place]
            compared[content] = _Compared(similarity, by_text, distance_of(page, data))
        kin = []
        for match in matches:
            similarity, _, distance = compared[match.key]
            if similarity is not None:
                kin.append((match._replace(distance=distance), similarity))
        return sorted(kin, key=lambda pair: (-pair[1], pair[0].distance, pair[0].key))

    def agrees_by_text(self, matches: list[Match]) -> bool:
        """Tell whether the page repeats any of *matches*, which were compared, if own parts are left aside."""
        return any(self._compared[match.key].by_text is not None for match in matches)

    async def nearest(self, matches: list[Match], rule: Rule) -> tuple[Match, Nearest] | None:
        """Return the most alike of *matches*, near-duplicate or not; None if nothing but bits is compared."""
        known = await self._fetch([match.key for match in matches])
        there = [match for match in matches if match.key in known]
        nearest = rule.nearest(self._posting.fingerprint, [known[match.key] for match in there])
        if nearest is None:
            return None
        match = there[nearest.place]
        distance = distance_of(self._posting.fingerprint, known[match.key])
        return match._replace(distance=distance), nearest

    async def with_latest(self, matches: list[Match], latest: int) -> list[Match]:
        """Return *matches* with the *latest* content of the page itself, see ``candidates``. One trip at most."""
        known = await self._fetch([latest])
        if latest not in known:
            return matches
        its = Fingerprint.from_compared_bytes(known[latest])
        return self._replica.with_latest(matches, latest, its, self._posting)

    async def _fetch(self, contents: list[int]) -> dict[int, bytes]:
        """Return what is compared of *contents*, by number. It never changes: little is asked for twice."""
        compared = self._replica.compared(contents)
        if missing := [content for content in contents if content not in compared]:
            records = await self._link.ask("HMGET", self._contents, *missing)
            for content, record in zip(missing, records, strict=True):
                if record is not None and (its := self._read(content, record)) is not None:
                    compared[content] = its.compared_bytes()
                    self._replica.keep_compared(content, compared[content])
        return compared

    def _read(self, number: int, record: bytes) -> Fingerprint | None:
        """Return the fingerprint of a content of the page's scope, None if its record is damaged."""
        content = self._damage.read(read_content, record, f"content {number}")
        if content is not None and content.scope != self._posting.scope:
            self._damage.note(f"content {number}: it is in another scope than its event says")
            return None
        return None if content is None else content.fingerprint


async def explained(
    claim: Claim, comparison: Comparison, matches: list[Match], rule: Rule, records: Records
) -> Claim:
    """Return *claim*, of a page that was compared with *matches*, with its threshold or its near miss.

    Two trips for a new page, none for others as a rule. Should the server go away meanwhile, the claim stands all the
    same, without.
    """
    with suppress(StoreUnavailable):
        if claim.original is not None:
            decided = [match for match in matches if match.key == claim.content]
            found = await comparison.nearest(decided, rule)
            if found is None:
                return claim
            _, _, threshold, decided_by, required = found[1]
            return claim._replace(threshold=threshold, decided_by=decided_by, required=required)
        found = await comparison.nearest(matches, rule)
        if found is not None:
            match, nearest = found
            page, url = await records.origin(match.key)
            if url is not None and page != claim.cluster:
                miss = NearMiss(url, match.distance, *nearest[1:])
                return claim._replace(near_miss=miss)
    return claim
