"""Document to weighted features: the second arrow."""

from __future__ import annotations

from collections import Counter

from scrapy_simhash.features.shingles import shingle, with_stopword
from scrapy_simhash.features.weights import ZONES, weight
from scrapy_simhash.language import normalize, stopwords, tokenize
from scrapy_simhash.text import Document

#: Shingles with a stopword below which all shingles are features: a short page needs every piece it has to be told
#: from its like, and a list or a table has hardly any sentence.
LEAST_PROSE = 30


def features(document: Document, shingle_size: int = 2, min_shingles: int = 12) -> dict[str, int]:
    """Return the weight of every feature of *document*; empty when it has fewer than *min_shingles*.

    Features are shingles of *shingle_size* tokens inside one paragraph. Where the language has a
    stopword list only shingles with a stopword are kept, with two exceptions in which all are: when that
    leaves fewer than ``LEAST_PROSE``, and on a page that makes an offer, whose facts stand outside sentences.
    The order of the dictionary is that of the text and means nothing. O(tokens).
    """
    known = stopwords(document.language)
    is_offer = any(paragraph.zone == "offer" for paragraph in document.main)
    counts = _count(document, shingle_size, known) if known and not is_offer else {}
    if _distinct(counts) < LEAST_PROSE:
        counts = _count(document, shingle_size, frozenset())
    if _distinct(counts) < min_shingles:
        return {}
    weights: dict[str, int] = {}
    for zone, counter in counts.items():
        for feature, count in counter.items():
            weights[feature] = weights.get(feature, 0) + weight(zone, count)
    return weights


def _count(document: Document, size: int, known: frozenset[str]) -> dict[str, Counter[str]]:
    """Return how often each shingle occurs in each zone that counts; only those with a stopword if *known*."""
    runs: list[tuple[str, tuple[str, ...]]] = [(part.zone, part.tokens) for part in document.main]
    if ZONES["title"]:
        runs.append(("title", tuple(tokenize(normalize(document.title)))))
    counts: dict[str, Counter[str]] = {}
    for zone, tokens in runs:
        shingles = with_stopword(tokens, size, known) if known else shingle(tokens, size)
        counts.setdefault(zone, Counter()).update(shingles)
    return counts


def _distinct(counts: dict[str, Counter[str]]) -> int:
    return len(set().union(*counts.values()))
