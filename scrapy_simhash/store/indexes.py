"""Which index finds what a rule asks for."""

from __future__ import annotations

from scrapy_simhash.index import HammingIndex, ProbingIndex, SimhashIndex
from scrapy_simhash.rule import Rule

#: Blocks where nobody says how many: ``SIMHASH_BLOCKS``.
BLOCKS = 6


def index_for(rule: Rule, blocks: int = BLOCKS) -> HammingIndex:
    """Return an empty index as wide as the reach of *rule*.

    Classic tables of *blocks* for a rule without a second look, or the best there are where so few blocks would not
    do; otherwise an index for wide distances.

    >>> index_for(Rule()), index_for(Rule(9, min_similarity=0))
    (<ProbingIndex: 0 postings within 10 bits>, <SimhashIndex: 0 postings within 9 bits>)
    """
    reach = rule.reach
    if rule.min_similarity:
        return ProbingIndex(reach)
    return SimhashIndex(reach, blocks if blocks > reach else "auto")
