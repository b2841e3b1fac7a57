"""Tokens to shingles, and which of them are kept: those that read like prose."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def shingle(tokens: Sequence[str], size: int) -> list[str]:
    """Return every run of *size* consecutive tokens, joined by single spaces, in order.

    Fewer tokens than *size* make one shorter shingle, so that a line of two words is not nothing; no
    token makes none. O(len(tokens) * size).

    >>> shingle(["a", "rose", "is", "a", "rose"], 3)
    ['a rose is', 'rose is a', 'is a rose']
    >>> shingle(["rose"], 3), shingle([], 3)
    (['rose'], [])
    """
    if len(tokens) < size:
        return [" ".join(tokens)] if tokens else []
    return list(map(" ".join, zip(*[tokens[i:] for i in range(size)], strict=False)))


def with_stopword(tokens: Sequence[str], size: int, stopwords: Collection[str]) -> list[str]:
    """Return the shingles of :func:`shingle` that hold at least one of *stopwords*.

    Advertisements, menus and lists of names hold few stopwords, running text one in three words.
    Source: the English article among the project's sources ("only taking shingles that include at least
    one stopword").

    >>> with_stopword("buy cheap boats now because the sea is calm".split(), 3, {"the", "is", "because"})
    ['boats now because', 'now because the', 'because the sea', 'the sea is', 'sea is calm']
    """
    kept = []
    last = -1  # place of the latest stopword
    for i, token in enumerate(tokens):
        if token in stopwords:
            last = i
        if last > i - size and i >= size - 1 and last >= 0:
            kept.append(" ".join(tokens[i - size + 1 : i + 1]))
    if 0 < len(tokens) < size and last >= 0:
        kept.append(" ".join(tokens))
    return kept
