"""Which index finds the candidates of a rule."""

from __future__ import annotations

from scrapy_simhash.index import HammingIndex, ProbingIndex, SimhashIndex
from scrapy_simhash.judge.rule import ClassicRule, Rule

#: Blocks where nobody says how many: ``SIMHASH_BLOCKS``.
BLOCKS = 6


def index_for(rule: Rule, blocks: int = BLOCKS) -> HammingIndex:
    """Return an empty index as wide as the reach of *rule*.

    Permuted tables of *blocks* for the classic rule, or the best plan where *blocks* are too few for its distance;
    otherwise an index for wide distances.

    >>> from scrapy_simhash.judge.rule import SimilarityRule
    >>> index_for(SimilarityRule()), index_for(ClassicRule(9))
    (<ProbingIndex: 0 postings within 8 bits>, <SimhashIndex: 0 postings within 9 bits>)
    """
    if isinstance(rule, ClassicRule):
        return SimhashIndex(rule.reach, blocks if blocks > rule.reach else "auto")
    return ProbingIndex(rule.reach)
