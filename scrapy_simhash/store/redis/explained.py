"""What a claim says of its threshold, or of its near miss, beside what the server has decided."""

from __future__ import annotations

from contextlib import suppress

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.index import Match
from scrapy_simhash.judge.rule import Rule
from scrapy_simhash.store.base import Claim
from scrapy_simhash.store.redis.comparison import Comparison
from scrapy_simhash.store.redis.records import Records
from scrapy_simhash.verdict import NearMiss


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
