"""Make shingles from tokens, and select shingles of prose."""

from __future__ import annotations

from collections.abc import Collection, Sequence

#: Min shingles with a stopword that make other shingles unnecessary: a short page needs all its shingles to differ
#: from similar pages, and a list or a table has hardly any sentences.
MIN_PROSE = 30


def selects_prose(has_list: bool, has_offer: bool, size: int, found: int) -> bool:
    """Return whether only shingles with a stopword are features.

    *found* is the number of distinct shingles with a stopword. False without a stopword list, for single words, and
    for a page with a product block, whose facts are outside sentences.
    """
    return has_list and size > 1 and not has_offer and found >= MIN_PROSE


def shingle(tokens: Sequence[str], size: int) -> list[str]:
    """Return every run of *size* consecutive tokens, joined by single spaces, in order.

    Fewer tokens than *size* make one shorter shingle; no tokens make no shingle. O(len(tokens) * size).

    >>> shingle(["a", "rose", "is", "a", "rose"], 3)
    ['a rose is', 'rose is a', 'is a rose']
    >>> shingle(["rose"], 3), shingle([], 3)
    (['rose'], [])
    """
    if len(tokens) < size:
        return [" ".join(tokens)] if tokens else []
    return list(map(" ".join, zip(*[tokens[i:] for i in range(size)], strict=False)))


def with_stopword(tokens: Sequence[str], size: int, stopwords: Collection[str]) -> list[str]:
    """Return the shingles of :func:`shingle` that contain at least one of *stopwords*.

    Advertisements, menus and lists of names contain few stopwords. In running text, one word in three is a stopword.
    Source: the *article* in notes/mechanisms.rst ("only taking shingles that include at least one stopword").

    >>> with_stopword("buy cheap boats now because the sea is calm".split(), 3, {"the", "is", "because"})
    ['boats now because', 'now because the', 'because the sea', 'the sea is', 'sea is calm']
    """
    kept = []
    last = -1  # index of the latest stopword
    for i, token in enumerate(tokens):
        if token in stopwords:
            last = i
        if last > i - size and i >= size - 1 and last >= 0:
            kept.append(" ".join(tokens[i - size + 1 : i + 1]))
    if 0 < len(tokens) < size and last >= 0:
        kept.append(" ".join(tokens))
    return kept
