"""Claim: one page is compared with the contents in its reach, which are in the server, and decided there."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from struct import Struct
from typing import NamedTuple

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.index import Match
from scrapy_simhash.judge.rule import Rule
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store import candidates
from scrapy_simhash.store.base import Candidate, Claim, Posting
from scrapy_simhash.store.candidates import distance_of
from scrapy_simhash.store.redis import layout
from scrapy_simhash.store.redis.link import LOSSES
from scrapy_simhash.store.redis.records import Records
from scrapy_simhash.store.redis.replica import Replica

#: Store, events known, what the last of them ends with, one more than the highest number of a page that was seen,
#: run, its token, seconds until all is forgotten, reach; whether it is a look only, short, delivered; how it is
#: found if it is new, and its values.
_CLAIM = Struct(">8sQ4sQI8sIB???25s")
#: Pages, number of the page, content, page that had it first, place among the kin (0: none), rank, 1 for the same
#: text and 2 if it was found by the text, the former visit, lengths of the key and URL of the original, of the keys
#: of damaged pages and of first copies, which follow.
_CLAIMED = Struct(">cQQQQIIBBBQ24sHIII")
#: Of a first copy: its cluster, and the length of what is compared, which follows.
_COPY = Struct(">QH")
_STORED = b"S"
#: Marks a content that the page contradicts, which is only of use if it is its own.
_CONTRADICTED = 1 << 63


class _Compared(NamedTuple):
    similarity: float | None
    by_text: float | None
    distance: int
    contradicts: bool = False


_FAR = _Compared(None, None, 0)


class Comparison:
    """The comparison of a page with contents of *replica*, whose *records* are in the server.

    What was compared stays, by content: who races with many like it asks often.
    """

    def __init__(self, records: Records, replica: Replica, posting: Posting) -> None:
        self._records, self.replica, self._posting = records, replica, posting
        self._compared: dict[int, _Compared] = {}
        self._has_generic_title = False
        #: The clusters of the contents that it repeats, if these are several.
        self._near: set[int] = set()
        #: Of the others the first clusters, of which the server has copies.
        self.others: list[int] = []
        #: Whether there is a content that the page repeats, whether it contradicts that or not.
        self.is_near = False
        #: The content that it repeats and contradicts, where there is none that it does not contradict.
        self._contradicted: tuple[Match, float] | None = None

    async def kin(self, matches: list[Match], rule: Rule) -> list[tuple[Match, float]]:
        """Return the contents among *matches* that the page repeats, with their similarity, best first.

        Those that it contradicts come last.
        """
        page = self._posting.fingerprint
        has_sketch = rule.compares_sketches and page.sketch
        if has_sketch or self.replica.has_own_values:
            known = await self._fetch([match.key for match in matches])
        else:
            # Bits decide, and these are in the index.
            known = {match.key: (0, Fingerprint(match.value).compared_bytes()) for match in matches}
        has_generic_title = candidates.is_generic(page, known.values())
        if has_generic_title != self._has_generic_title:
            # By what came meanwhile.
            self._has_generic_title, self._compared = has_generic_title, {}
        compared = self._compared
        new = [match.key for match in matches if match.key not in compared]
        # A content that the server does not have any more is nobody's kin.
        compared.update((content, _FAR) for content in new)
        found = [(content, known[content][1]) for content in new if content in known]
        near = rule.compare_all(page, [data for _, data in found], has_generic_title)
        for place, similarity, by_text, contradicts in near:
            content, data = found[place]
            compared[content] = _Compared(similarity, by_text, distance_of(page, data), contradicts)
        kin = []
        for match in matches:
            similarity, _, distance, _ = compared[match.key]
            if similarity is not None:
                kin.append((match._replace(distance=distance), similarity))
        kin.sort(key=lambda pair: (-pair[1], pair[0].distance, pair[0].key))
        self._near = set()
        if len(kin) > 1 or any(compared[match.key].contradicts for match, _ in kin):
            # A trip only where bits decide.
            there = await self._fetch([match.key for match, _ in kin])
            self._near = {cluster for cluster, _ in there.values()}
        self.others = []
        if has_sketch:
            repeated = {known[match.key][0] for match, _ in kin if match.key in known}
            clusters = (known[match.key][0] for match in matches if match.key in known)
            others = dict.fromkeys(cluster for cluster in clusters if cluster not in repeated)
            self.others = list(islice(others, candidates.MOST_CLUSTERS))
        self.is_near = bool(kin)
        kin.sort(key=lambda pair: compared[pair[0].key].contradicts)
        self._contradicted = kin[0] if kin and compared[kin[0][0].key].contradicts else None
        return kin

    def told(self, content: int) -> bytes:
        """Return the number of a content in 8 bytes, with the highest bit if the page contradicts it."""
        flag = _CONTRADICTED if self._compared[content].contradicts else 0
        return (content | flag).to_bytes(8, "big")

    def also_near(self, claim: Claim, is_new: bool, copies: bytes, rule: Rule) -> tuple[int, ...]:
        """Return the clusters that the page repeats, or of which one of *copies* is near, beside that of *claim*."""
        near = set() if is_new and self._contradicted is None else self._near
        clusters, compared = [], []
        while copies:
            cluster, length = _COPY.unpack_from(copies)
            data, copies = copies[_COPY.size : _COPY.size + length], copies[_COPY.size + length :]
            # A damaged one names nothing.
            with suppress(ValueError):
                Fingerprint.from_compared_bytes(data)
                clusters.append(cluster)
                compared.append(data)
        for found in rule.compare_all(self._posting.fingerprint, compared, self._has_generic_title):
            if found.similarity is not None:
                near = near | {clusters[found.place]}
        return tuple(sorted(near - {claim.cluster}))

    async def contradicting(self, claim: Claim) -> Claim:
        """Return *claim*, of a page that repeats none, with the page whose facts it contradicts, if there is one."""
        if self._contradicted is None or claim.original is not None:
            return claim
        match, similarity = self._contradicted
        with suppress(StoreUnavailable):
            page, url, key = await self._records.origin(match.key)
            if url is not None and page != claim.cluster:
                return claim._replace(
                    original=url,
                    original_key=key,
                    distance=match.distance,
                    similarity=similarity,
                    contradicts=True,
                )
        return claim

    def agrees_by_text(self, matches: list[Match]) -> bool:
        """Tell whether the page repeats any of *matches*, which were compared, if own parts are left aside."""
        return any(self._compared[match.key].by_text is not None for match in matches)

    async def of_equal_text(self, claim: Claim, content: int, rule: Rule, explains: bool) -> Claim:
        """Return *claim*, of the page whose text others have, with how like the original it is. A trip at most."""
        page = self._posting.fingerprint
        with suppress(StoreUnavailable):
            for _, data in (await self._fetch([content])).values():
                for _, similarity, *_ in rule.compare_all(page, [data]):
                    if similarity is not None:
                        claim = claim._replace(distance=distance_of(page, data), similarity=similarity)
                if explains and claim.original is not None and claim.original_key is not None:
                    claim = claim._replace(nearest=Candidate(claim.original_key, claim.original, data))
        return claim

    async def with_nearest(self, claim: Claim, content: int, matches: list[Match], rule: Rule) -> Claim:
        """Return *claim*, of the page that was compared with *matches*, with the nearest candidate.

        Two trips for a new page, none for others as a rule. Should the server go away meanwhile, the claim stands all
        the same, without.
        """
        with suppress(StoreUnavailable):
            if claim.original is not None:
                if claim.contradicts and self._contradicted is not None:
                    content = self._contradicted[0].key
                matches = [match for match in matches if match.key == content]
            known = await self._fetch([match.key for match in matches])
            there = [match.key for match in matches if match.key in known]
            fingerprint = self._posting.fingerprint
            compared = [known[key][1] for key in there]
            nearest = rule.nearest(fingerprint, compared, self._has_generic_title)
            if nearest is None:
                return claim
            data = compared[nearest.place]
            key, url = claim.original_key, claim.original
            if url is None:
                page, url, key = await self._records.origin(there[nearest.place])
                if page == claim.cluster:
                    return claim
            if url is not None and key is not None:
                return claim._replace(nearest=Candidate(key, url, data, self._has_generic_title))
        return claim

    async def with_latest(self, matches: list[Match], latest: int) -> list[Match]:
        """Return *matches* with the *latest* content of the page itself, see ``candidates``. One trip at most."""
        known = await self._fetch([latest])
        if latest not in known:
            return matches
        its = Fingerprint.from_compared_bytes(known[latest][1])
        return self.replica.with_latest(matches, latest, its, self._posting)

    async def _fetch(self, contents: list[int]) -> dict[int, tuple[int, bytes]]:
        """Return cluster and what is compared of *contents*, by number. It never changes: little is asked twice."""
        compared = self.replica.compared(contents)
        missing = [content for content in contents if content not in compared]
        for number, content in (await self._records.contents(missing)).items():
            if content.scope != self._posting.scope:
                self._records.damage.note(f"content {number}: it is in another scope than its event says")
                continue
            compared[number] = content.page, content.fingerprint.compared_bytes()
            self.replica.keep_compared(number, *compared[number])
        return compared


async def decide(records: Records, posting: Posting, is_look: bool, explains: bool) -> Claim:
    """Return the claim of *posting*, which the server has decided and stored, unless it *is_look*.

    One trip, rarely two or more. When a server does not answer in time, StoreUnavailable is all that is known: it may
    have stored the claim.
    """
    link, terms, fingerprint = records.link, records.link.terms, posting.fingerprint
    key = layout.checked("key", posting.key)
    scope = layout.checked("scope", layout.encoded(posting.scope))
    about = (
        key,
        layout.stamp_of(posting),
        scope,
        fingerprint.sketch,
        fingerprint.own,
        layout.encoded(posting.url),
    )
    losses = 0
    comparison: Comparison | None = None
    async with link.turns:
        while losses < LOSSES:
            replica = await link.ready(scope)
            if comparison is None or comparison.replica is not replica:
                # The same numbers may be other contents.
                comparison = Comparison(records, replica, posting)
            assert terms.header is not None
            rule = terms.header.rule
            # Without waiting: what is found is what the first so many events say.
            first, mark = replica.position, replica.mark
            matches, found_by, _, is_cut = (
                candidates.NOTHING if posting.is_short else replica.find(posting.scope, fingerprint)
            )
            if is_cut:
                latest = await records.content_of(key)
                if latest is not None:
                    matches = await comparison.with_latest(matches, latest)
            kin = await comparison.kin(matches, rule) if matches else []
            head = _CLAIM.pack(
                *(
                    replica.store_id,
                    first,
                    mark,
                    link.numbers,
                    link.run,
                    terms.token,
                    terms.expire,
                    rule.reach,
                ),
                *(is_look, posting.is_short, posting.is_delivered),
                layout.packed_values(fingerprint, found_by),
            )
            known = b"".join([comparison.told(match.key) for match, _ in kin])
            others = b"".join([cluster.to_bytes(8, "big") for cluster in comparison.others])
            reply = await link.ask("claim", head, *about, known, others)
            if reply[:1] != _STORED:
                records.check(reply, key)
                losses += await link.learn(reply, replica, first)
                continue
            if not is_look:
                link.note_claim(_CLAIMED.unpack_from(reply)[2])
            claim, content, is_new, is_by_text, copies = _claimed(
                reply, posting, records, replica, first, kin
            )
            if is_by_text:
                if claim.original is None:
                    return claim
                return await comparison.of_equal_text(claim, content, rule, explains)
            is_by_learning = comparison.agrees_by_text(matches) != comparison.is_near
            also_near = comparison.also_near(claim, is_new, copies, rule)
            claim = claim._replace(is_by_learning=is_by_learning, also_near=also_near)
            claim = await comparison.contradicting(claim)
            if explains and matches:
                claim = await comparison.with_nearest(claim, content, matches, rule)
            if is_new and not is_look and found_by & candidates.BY_TEXT:
                replica.keep_compared(content, claim.cluster, fingerprint.compared_bytes())
            elif is_new and not is_look:
                replica.note_crowd(posting.scope)
            return claim
        raise link.loses()


def _claimed(
    reply: bytes,
    posting: Posting,
    records: Records,
    replica: Replica,
    first: int,
    kin: list[tuple[Match, float]],
) -> tuple[Claim, int, bool, bool, bytes]:
    """Return the claim in *reply*, its content, whether that is new, whether pages have its text, and copies."""
    fields = _CLAIMED.unpack_from(reply)
    _, records.link.pages, number, content, owner, place, rank, about_text = fields[:8]
    is_by_text = about_text & 2 > 0
    *visit, key_length, length, told, copied = fields[8:]
    key_end = _CLAIMED.size + key_length
    end = key_end + length
    records.tell_of_pages(reply[end : end + told])
    copies = reply[end + told : end + told + copied]
    replica.apply(reply, end + told + copied, first)
    former = layout.read_visit(*visit)
    if owner == number:
        is_new = not place and not posting.is_short
        return Claim(former, number, None, None, None, rank=rank), content, is_new, is_by_text, copies
    key, original = reply[_CLAIMED.size : key_end], layout.told(reply[key_end:end])
    distance, similarity = 0, 1.0
    if not (posting.is_short or is_by_text):
        match, similarity = kin[place - 1]
        distance = match.distance
    is_same_text = about_text & 1 > 0
    claim = Claim(former, owner, original, distance, similarity, is_same_text, rank, key)
    return claim, content, False, is_by_text, copies
