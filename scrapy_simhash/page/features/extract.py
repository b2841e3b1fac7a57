"""Document to weighted features: the second arrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from scrapy_simhash.page.features.shingles import selects_prose, shingle, with_stopword
from scrapy_simhash.page.features.weights import weight
from scrapy_simhash.page.language import stopwords
from scrapy_simhash.page.text import Document


def features(
    document: Document, shingle_size: int = 2, min_shingles: int = 12, mask_digits: bool = False
) -> dict[str, int]:
    """Return the weight of every feature of *document*; empty when it has fewer than *min_shingles*.

    Features are the shingles of *shingle_size* tokens inside one paragraph, those that ``selects_prose`` leaves, and
    the words by themselves. With *mask_digits* all numbers are one. The order of the dictionary is that of the text
    and means nothing. O(tokens).
    """
    runs = _runs(document, mask_digits)
    known = stopwords(document.language)
    has_offer = any(zone == "offer" for zone, _ in runs)
    counts = _count(runs, lambda tokens: with_stopword(tokens, shingle_size, known)) if known else {}
    if not selects_prose(bool(known), has_offer, shingle_size, _distinct(counts)):
        counts = _count(runs, lambda tokens: shingle(tokens, shingle_size))
    if _distinct(counts) < min_shingles:
        return {}
    weights: dict[str, int] = {}
    words = _count(runs, lambda tokens: tokens) if shingle_size > 1 else {}
    for counters, is_word in ((counts, False), (words, True)):
        for zone, counter in counters.items():
            _add(weights, _weigh(counter, zone, is_word))
    return weights


def shingle_counts(document: Document, shingle_size: int = 2, mask_digits: bool = False) -> Counter[str]:
    """Return how often every shingle of the main text occurs, with a stopword or without: for the sketch."""
    runs = _runs(document, mask_digits)
    return Counter(chain.from_iterable([shingle(tokens, shingle_size) for _, tokens in runs]))


def _runs(document: Document, mask_digits: bool) -> list[tuple[str, Sequence[str]]]:
    """Return zone and tokens of every paragraph of the main text."""
    if not mask_digits:
        return [(paragraph.zone, paragraph.tokens) for paragraph in document.main]
    return [
        (paragraph.zone, ["0" if token.isdecimal() else token for token in paragraph.tokens])
        for paragraph in document.main
    ]


def _count(
    runs: Sequence[tuple[str, Sequence[str]]], features_of: Callable[[Sequence[str]], Iterable[str]]
) -> dict[str, Counter[str]]:
    """Return how often each feature occurs in each zone."""
    found: dict[str, list[Iterable[str]]] = {}
    for zone, tokens in runs:
        found.setdefault(zone, []).append(features_of(tokens))
    return {zone: Counter(chain.from_iterable(parts)) for zone, parts in found.items()}


def _weigh(counts: Counter[str], zone: str, is_word: bool) -> dict[str, int]:
    """Return the weight of every feature of one zone: most occur once."""
    weights = dict.fromkeys(counts, weight(zone, 1, is_word))
    for feature, count in counts.items():
        if count > 1:
            weights[feature] = weight(zone, count, is_word)
    return weights


def _add(weights: dict[str, int], more: dict[str, int]) -> None:
    """Add the weights of *more* to *weights*."""
    for feature in weights.keys() & more.keys():
        more[feature] += weights[feature]
    weights.update(more)


def _distinct(counts: dict[str, Counter[str]]) -> int:
    return len(set().union(*counts.values()))
