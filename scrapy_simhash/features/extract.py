"""Document to weighted features: the second arrow."""

from __future__ import annotations

from collections import Counter

from scrapy_simhash.features.shingles import shingle, with_stopword
from scrapy_simhash.features.weights import weight
from scrapy_simhash.language import stopwords
from scrapy_simhash.text import Document

#: Shingles with a stopword below which all shingles are features: a short page needs every piece it has to be told
#: from its like, and a list or a table has hardly any sentence.
LEAST_PROSE = 30


def features(document: Document, shingle_size: int = 2, min_shingles: int = 12) -> dict[str, int]:
    """Return the weight of every feature of *document*; empty when it has fewer than *min_shingles*.

    Features are the shingles of *shingle_size* tokens inside one paragraph, and the words by themselves. Where the
    language has a stopword list only shingles with a stopword are kept, with two exceptions in which all are: when
    that leaves fewer than ``LEAST_PROSE``, and on a page that makes an offer, whose facts stand outside
    sentences. The order of the dictionary is that of the text and means nothing. O(tokens).
    """
    known = stopwords(document.language)
    is_offer = any(paragraph.zone == "offer" for paragraph in document.main)
    counts = _count_shingles(document, shingle_size, known) if known and not is_offer else {}
    if _distinct(counts) < LEAST_PROSE:
        counts = _count_shingles(document, shingle_size, frozenset())
    if _distinct(counts) < min_shingles:
        return {}
    weights: dict[str, int] = {}
    for zone, counter in counts.items():
        for feature, count in counter.items():
            weights[feature] = weights.get(feature, 0) + weight(zone, count)
    if shingle_size > 1:
        for zone, counter in _count_words(document).items():
            for feature, count in counter.items():
                weights[feature] = weights.get(feature, 0) + weight(zone, count, is_word=True)
    return weights


def shingle_counts(document: Document, shingle_size: int = 2) -> Counter[str]:
    """Return how often every shingle of the main text occurs, with a stopword or without: for the sketch."""
    counts: Counter[str] = Counter()
    for paragraph in document.main:
        counts.update(shingle(paragraph.tokens, shingle_size))
    return counts


def _count_shingles(document: Document, size: int, known: frozenset[str]) -> dict[str, Counter[str]]:
    """Return how often each shingle occurs in each zone; only those with a stopword if *known* has any."""
    counts: dict[str, Counter[str]] = {}
    for paragraph in document.main:
        tokens = paragraph.tokens
        shingles = with_stopword(tokens, size, known) if known and size > 1 else shingle(tokens, size)
        counts.setdefault(paragraph.zone, Counter()).update(shingles)
    return counts


def _count_words(document: Document) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for paragraph in document.main:
        counts.setdefault(paragraph.zone, Counter()).update(paragraph.tokens)
    return counts


def _distinct(counts: dict[str, Counter[str]]) -> int:
    return len(set().union(*counts.values()))
