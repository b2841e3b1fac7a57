"""Claims: compare a page with the originals within reach here, and store it on the server atomically."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable
from contextlib import suppress
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from scrapy_simhash.exceptions import RecordDamaged, StoreUnavailable
from scrapy_simhash.judge.rule import Rule
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store import candidates
from scrapy_simhash.store.base import Candidate, Claim, Posting, Visit
from scrapy_simhash.store.candidates import (
    BY_TEXT,
    NO_PAGE,
    Found,
    Original,
    distance_of,
    near,
)
from scrapy_simhash.store.redis import layout
from scrapy_simhash.store.redis.replica import Replica
from scrapy_simhash.store.redis.shard import HEAD, MOST_LOSSES, MOST_RACES, Shard, page_name

#: Reach, whether nothing is stored, the values by which the page is indexed if it is new, and these values.
_WANTED = Struct(">BBB24s")
#: Number of the page, the chosen original, flags, rank, then the lengths of what follows: head of the former row, key
#: and URL of the original, first copies.
_CLAIMED = Struct(">QQBIBBII")
_HAS_ORIGINAL, _IS_OWN, _IS_SAME_TEXT, _IS_BY_TEXT = 1, 2, 4, 8
#: Head of a first copy: its cluster, and the length of the compared bytes that follow.
_COPY = Struct(">QH")
_STORED, _UNREADABLE_ORIGINAL = b"S", b"G"
#: Flag in the number of an original that the page contradicts.
_CONTRADICTED = 1 << 63


class Near(NamedTuple):
    """An original that a page is a near-duplicate of. They sort by preference."""

    contradicts: bool
    difference: float
    """Minus the similarity."""
    distance: int
    number: int


class Comparison(NamedTuple):
    """A page and the originals within its reach."""

    found: Found
    near: list[Near]
    """Best first."""
    rows: dict[int, Original | None]
    """Rows of the originals that it was compared with; None for a skipped one."""


class Answer(NamedTuple):
    """The reply of the server to a claim."""

    claim: Claim
    chosen: int
    """The number of the original, or of the page's own row."""
    is_by_text: bool
    """Whether it was found by its text."""
    copies: bytes
    """First copies of originals that the page is not near."""


async def claim_page(shard: Shard, posting: Posting, is_look: bool, explains: bool) -> Claim:
    """Claim *posting*; the server decides and stores it, unless *is_look*.

    One round trip; one more for rows that are not cached, and one more each time another page was stored first.
    Raises StoreUnavailable without a reply; the claim may have been stored nevertheless.
    """
    key, scope = layout.field_of(posting.key), layout.checked("scope", layout.encoded(posting.scope))
    fingerprint = posting.fingerprint
    rest = fingerprint.sketch + fingerprint.own if fingerprint.sketch else b""
    # Identifies the claim if redis-py sends it again.
    visit = layout.packed_visit(posting, random.getrandbits(32) or 1)
    values = layout.packed_values(posting)
    losses = 0
    async with shard.turns:
        for _ in range(MOST_RACES):
            replica = await shard.ready(scope)
            comparison = await _compare(shard, replica, posting, key, scope)
            found, known, _ = comparison
            head = _WANTED.pack(replica.rule.reach, is_look, found.found_by, values)
            matches = [one.number + _CONTRADICTED * one.contradicts for one in known]
            reply = await shard.script(
                *("claim", shard.position(replica) + shard.in_run(replica)[8:] + head, visit, key, scope),
                *(rest, layout.encoded(posting.url), _packed(matches), _packed(found.others)),
            )
            if reply[:1] == _UNREADABLE_ORIGINAL:
                replica.unreadable.add(int.from_bytes(reply[1:], "big"))
            elif reply[:1] != _STORED:
                shard.check_reply(reply, posting.key)
                losses += await shard.learn(reply, replica)
                if losses == MOST_LOSSES:
                    break
            else:
                answer = _answer_in(reply, shard, replica, posting, known)
                if not is_look:
                    _keep_row(replica, posting, found, answer.claim)
                return await _explained(shard, replica, posting, comparison, answer, explains)
    raise shard.gives_up()


async def _compare(shard: Shard, replica: Replica, posting: Posting, key: bytes, scope: bytes) -> Comparison:
    """Compare a page with the originals within its reach. One round trip if some are not cached."""
    rows: dict[int, Original | None] = {}
    if posting.is_short:
        return Comparison(Found(), [], rows)
    fingerprint, rule = posting.fingerprint, replica.rule
    number = cluster = NO_PAGE
    missing: list[int] = []

    def read(number: int) -> Original | None:
        row = rows.get(number)
        if row is None and number not in rows:
            row = rows[number] = replica.row(number)
            if row is None:
                missing.append(number)
        return row

    while True:
        found = near(replica.index(scope), rule, fingerprint, {}, read, number, cluster)
        if missing:
            rows.update(await fetch(shard, replica, missing))
            missing.clear()
        elif len(rows) >= candidates.MOST_COMPARED and number == NO_PAGE:
            # The page's own row is always compared.
            record = await shard.ask("HGET", shard.names["pages"], key)
            row = read_record(shard, posting.key, record) if record else None
            if row is None or row.scope != posting.scope or row.is_short:
                break
            number, cluster = row.number, row.original
        else:
            break
    near_rows = [row for row in map(rows.get, found.near) if row is not None]
    compared = [row.compared for row in near_rows]
    all_near = [
        Near(
            *(one.contradicts, -one.similarity),
            *(distance_of(fingerprint, compared[one.place]), near_rows[one.place].number),
        )
        for one in rule.compare_all(fingerprint, compared, found.is_generic)
        if one.similarity is not None
    ]
    return Comparison(found, sorted(all_near), rows)


async def fetch(shard: Shard, replica: Replica, numbers: Collection[int]) -> dict[int, Original | None]:
    """Return the rows of originals, None for missing or unreadable ones. One round trip."""
    rows: dict[int, Original | None] = dict.fromkeys(numbers)
    asked = [number for number in numbers if number not in replica.unreadable]
    found = await shard.script("rows", *asked) if asked else []
    for number, key, record in zip(asked, found[::2], found[1::2], strict=True):
        row = _row_in(record) if record else None
        if row is not None and row.number == number:
            texts = key[1:], row.url, row.compared
            original = Original(number, *texts, row.page_hash, row.joined, row.found_by)
            rows[number] = original
            replica.keep(original)
        elif record:
            shard.note_damage(page_name(key[1:]))
            replica.unreadable.add(number)
    return rows


def read_record(shard: Shard, key: bytes, record: bytes) -> layout.Row:
    """Return the row in the record of the page with *key*. Raises RecordDamaged."""
    row = _row_in(record)
    if row is None:
        shard.note_damage(page_name(key))
        raise RecordDamaged(f"{shard.terms.place} is damaged: {page_name(key)}")
    return row


def _row_in(record: bytes) -> layout.Row | None:
    try:
        return layout.read_row(record)
    except (IndexError, ValueError, StructError):
        return None


def _answer_in(reply: bytes, shard: Shard, replica: Replica, posting: Posting, known: list[Near]) -> Answer:
    """Return the decision of the server, and apply the events of the reply."""
    number, chosen, flags, rank, *lengths = _CLAIMED.unpack_from(reply, HEAD.size)
    at = HEAD.size + _CLAIMED.size
    parts = []
    for length in lengths:
        parts.append(reply[at : at + length])
        at += length
    shard.apply(replica, reply, at)
    before, key, url, copies = parts
    former: Visit | None = layout.read_row_head(before).visit(shard.run) if before else None
    is_own, is_by_text = flags & _IS_OWN > 0, flags & _IS_BY_TEXT > 0
    if not flags & _HAS_ORIGINAL:
        return Answer(Claim(former, number, None, None, None, rank=rank), chosen, is_by_text, copies)
    distance, similarity = 0, 1.0
    if not is_by_text:
        one = next((one for one in known if one.number == chosen), None)
        if one is not None:
            distance, similarity = one.distance, -one.difference
    claim = Claim(
        former,
        number if is_own else chosen,
        layout.readable_text(url),
        distance,
        similarity,
        flags & _IS_SAME_TEXT > 0,
        rank,
        key[1:],
        contradicts=is_own,
    )
    return Answer(claim, chosen, is_by_text, copies)


def _keep_row(replica: Replica, posting: Posting, found: Found, claim: Claim) -> None:
    """Cache the row of a new page, since similar pages usually follow soon."""
    is_new = claim.original is None or claim.contradicts
    if posting.is_short or not is_new or replica.row(claim.cluster) is not None:
        return
    if claim.former is None:
        compared, page_hash = posting.fingerprint.compared_bytes(), posting.page_hash
        row = Original(claim.cluster, posting.key, posting.url, compared, page_hash, 0, found.found_by)
        replica.keep(row)
    if not found.found_by & BY_TEXT:
        replica.note_crowd(posting.scope)


async def _explained(
    shard: Shard, replica: Replica, posting: Posting, comparison: Comparison, answer: Answer, explains: bool
) -> Claim:
    """Return the claim with the results of the comparison. One round trip if a row is not cached."""
    claim, (found, known, rows) = answer.claim, comparison
    rule, fingerprint = replica.rule, posting.fingerprint
    if posting.is_short:
        return claim
    nearest = found.chosen.number if found.chosen is not None else None
    if answer.is_by_text:
        if claim.original is None:
            return claim
        row = rows.get(answer.chosen) or replica.row(answer.chosen)
        if row is None:
            with suppress(StoreUnavailable):
                rows.update(await fetch(shard, replica, [answer.chosen]))
            row = rows.get(answer.chosen)
        if row is not None:
            rows[answer.chosen] = row
            claim = _measured(claim, rule, fingerprint, row)
        nearest = answer.chosen
    else:
        also_near = {one.number for one in known}
        also_near |= _near_copies(rule, fingerprint, answer.copies, found.is_generic)
        also_near.discard(claim.cluster)
        claim = claim._replace(is_by_learning=found.is_by_learning, also_near=tuple(sorted(also_near)))
        if claim.original is not None:
            nearest = answer.chosen
    if explains and nearest is not None and (row := rows.get(nearest)) is not None:
        claim = claim._replace(nearest=Candidate(row.key, row.url, row.compared, found.is_generic))
    return claim


def _measured(claim: Claim, rule: Rule, fingerprint: Fingerprint, row: Original) -> Claim:
    """Return the claim of a page whose text its cluster already has, with its similarity to the original."""
    for one in rule.compare_all(fingerprint, [row.compared]):
        if one.similarity is not None:
            distance = distance_of(fingerprint, row.compared)
            return claim._replace(distance=distance, similarity=one.similarity)
    return claim


def _near_copies(rule: Rule, fingerprint: Fingerprint, copies: bytes, is_generic: bool) -> set[int]:
    """Return the clusters of the copies that a page is near."""
    clusters, compared = [], []
    at = 0
    while at < len(copies):
        cluster, length = _COPY.unpack_from(copies, at)
        at += _COPY.size
        clusters.append(cluster)
        compared.append(copies[at : at + length])
        at += length
    if not (compared and fingerprint.sketch and rule.compares_sketches):
        return set()
    near_ones = rule.compare_all(fingerprint, compared, is_generic)
    return {clusters[one.place] for one in near_ones if one.similarity is not None}


def _packed(numbers: Iterable[int]) -> bytes:
    return b"".join([number.to_bytes(8, "big") for number in numbers])
