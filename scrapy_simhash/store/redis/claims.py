"""Claims: decide about a page in the crawler, and store it on the server unless the underlying data has changed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from struct import Struct

from scrapy_simhash.exceptions import RecordDamaged
from scrapy_simhash.store.base import Claim, Original, Posting, Row
from scrapy_simhash.store.claims import Decision, decide, find, with_copies
from scrapy_simhash.store.redis import layout
from scrapy_simhash.store.redis.layout import FAULTS, encoded, field_of
from scrapy_simhash.store.redis.replica import Replica
from scrapy_simhash.store.redis.shard import DONE, HEAD, LOST, MAX_LOSSES, MAX_RACES, Shard

#: Fields of a claim: whether nothing is stored, reach, whether the page keeps its row, joins the chosen original,
#: takes the next number, the values by which it is indexed, its values, versions of claim and former row, original of
#: its text, the chosen original and its version. Numbers are incremented by 1, so that 0 means none.
_CLAIM = Struct(">BBBBBB24sIIQQI")
#: Replaces the reach for a short page, which is never near another page.
_NO_REACH = 255
#: Reply to a claim: number and rank of the page, and the length of the copies that follow.
_CLAIMED = Struct(">QII")
#: The cluster of a first copy, and the length of its record, which follows.
_COPY = Struct(">QI")


@dataclass
class Known:
    """The data about a page that the crawler has read from the server; initially none."""

    key: bytes
    """Field of the page in the hash ``pages``."""
    text: bytes
    """Field of its text in the hash ``texts``."""
    former: Row | None = None
    version: int = 0
    """The version of the former row."""
    with_text: int = 0
    """One more than the number of the original of the text; 0 for none."""
    equal: Original | None = None
    """This original; None if its row cannot be read."""

    def update(self, shard: Shard, replica: Replica, read: list[bytes]) -> None:
        """Set what *read* contains: the record of the page; number, key and record of the original of its text."""
        record, number, key, text_record = read
        self.former = shard.read_row(self.key[1:], record) if record else None
        self.version = layout.version_in(record)
        self.with_text = int(number) + 1 if number else 0
        self.equal = _kept(shard, replica, key, text_record)


async def claim_page(shard: Shard, posting: Posting, is_look: bool) -> Claim:
    """Claim *posting*, and store it unless *is_look*.

    Takes one round trip for a new page; two if the page or its text is known, or if rows of originals are not cached;
    and one more each time another page was stored first. Raises StoreUnavailable without a reply, although the claim
    may have been stored.
    """
    scope = layout.checked("scope", encoded(posting.scope))
    known = Known(field_of(posting.key), layout.text_of(posting))
    # Identifies the claim if redis-py sends it again.
    version = random.getrandbits(32) or 1
    losses, values = 0, layout.packed_values(posting)
    async with shard.turns:
        for _ in range(MAX_RACES):
            replica = await shard.ready()
            decision = await _decide(shard, replica, posting, scope, known)
            row, chosen, former = decision.row, decision.chosen, known.former
            head = _CLAIM.pack(
                *(is_look, _NO_REACH if posting.is_short else replica.rule.reach, decision.keeps_row),
                *(decision.joined is not None, decision.takes_number, row.found_by, values, version),
                *(known.version, known.with_text),
                *((chosen.number + 1, chosen.version) if chosen is not None else (0, 0)),
            )
            others = [number for number in decision.found.others if former is None or number != former.number]
            reply = await shard.script(
                *("claim", replica.position + head, known.key, scope, known.text, *layout.record_of(row)),
                b"".join([number.to_bytes(8, "big") for number in others]),
            )
            if isinstance(reply, list):
                events, *read, original_key, original = reply
                shard.apply(replica, events, HEAD.size)
                known.update(shard, replica, read)
                if chosen is not None and _kept(shard, replica, original_key, original) is None:
                    replica.forget(chosen.number)
            elif reply[:1] == DONE:
                return _stored(shard, replica, reply, posting, decision, None if is_look else version)
            else:
                shard.check_readable(reply, posting.key)
                await shard.learn(reply, replica)
                losses += reply == LOST
                if losses == MAX_LOSSES:
                    break
    raise shard.too_many_retries()


async def _decide(shard: Shard, replica: Replica, posting: Posting, scope: bytes, known: Known) -> Decision:
    """Return the decision on *posting*. If rows are not cached, takes a round trip, which also updates *known*."""
    rows: dict[int, Original | None] = {}
    missing: list[int] = []

    def read(number: int) -> Original | None:
        row = rows.get(number)
        if row is None and number not in rows:
            row = rows[number] = replica.row(number)
            if row is None:
                missing.append(number)
        return row

    while True:
        former, equal = known.former, known.equal
        if equal is not None:
            rows[equal.number] = equal
        found = find(posting, former, equal, replica.index(scope), replica.rule, {}, read)
        decision = decide(posting, former, found, read, shard.session.run, replica.known)
        if not missing:
            return decision
        reply = await shard.script("read", known.key, known.text, *missing)
        known.update(shard, replica, reply[:4])
        for number, key, record in zip(missing, reply[4::2], reply[5::2], strict=True):
            rows[number] = _kept(shard, replica, key, record)
        missing.clear()


def _stored(
    shard: Shard, replica: Replica, reply: bytes, posting: Posting, decision: Decision, version: int | None
) -> Claim:
    """Return the claim with the number and rank from the server. The page was stored unless *version* is None."""
    number, rank, length = _CLAIMED.unpack_from(reply, HEAD.size)
    at = HEAD.size + _CLAIMED.size
    shard.apply(replica, reply, at + length)
    claim = decision.claim._replace(rank=rank)
    if decision.joined is None:
        claim = claim._replace(cluster=number)
    row = decision.row
    if version is not None and decision.keeps_row:
        if kept := replica.row(number):
            replica.keep(kept._replace(url=posting.url, page_hash=posting.own_page_hash, version=version))
    elif version is not None and decision.joined is None and not posting.is_short:
        # Cached, because similar pages usually follow soon.
        compared = posting.fingerprint.compared_bytes()
        page = (posting.key, posting.url, compared, posting.page_hash, 0, row.found_by, version)
        replica.keep(Original(number, *page))
    copies = _copies(reply[at : at + length])
    return with_copies(claim, replica.rule, posting, decision.found.is_generic, copies)


def _copies(packed: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the cluster and the compared bytes of each copy."""
    at = 0
    while at < len(packed):
        cluster, length = _COPY.unpack_from(packed, at)
        at += _COPY.size
        with suppress(*FAULTS):
            yield (
                cluster,
                layout.read_row(b"", packed[at : at + length]).posting.fingerprint.compared_bytes(),
            )
        at += length


def _kept(shard: Shard, replica: Replica, field: bytes, record: bytes) -> Original | None:
    """Return and cache the original in a record; None without an original, or if it cannot be read."""
    with suppress(RecordDamaged):
        if record:
            row = shard.read_row(field[1:], record)
            posting = row.posting
            compared = posting.fingerprint.compared_bytes()
            page = (posting.key, posting.url, compared, posting.page_hash, row.joined, row.found_by)
            original = Original(row.number, *page, layout.version_in(record))
            replica.keep(original)
            return original
    return None
