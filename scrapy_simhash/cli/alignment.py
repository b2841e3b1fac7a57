"""Two texts side by side: which paragraph stands beside which, and which words of the two differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TypeAlias

from scrapy_simhash.page.language import normalize, tokenize

#: Pieces of a paragraph, each with whether the other text has it there too.
Side: TypeAlias = "list[tuple[str, bool]]"
#: Words of two paragraphs together from which on they are not compared word by word: that would take seconds.
MOST_WORDS = 20_000


def aligned(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[Side, Side]]:
    """Yield the paragraphs of two texts in their order, each with the one beside it, empty where there is none.

    Words are equal if fingerprints take them so: case and punctuation make no difference.

    >>> list(aligned(["A ship."], ["A boat."]))
    [([('A', True), ('ship.', False)], [('A', True), ('boat.', False)])]
    """
    matcher = SequenceMatcher(None, [_key(text) for text in ours], [_key(text) for text in theirs])
    for _, i, j, k, m in matcher.get_opcodes():
        for left, right in zip_longest(ours[i:j], theirs[k:m], fillvalue=""):
            yield _words(left, right)


def _words(left: str, right: str) -> tuple[Side, Side]:
    ours, theirs = left.split(), right.split()
    if len(ours) + len(theirs) > MOST_WORDS:
        return [(left, left == right)], [(right, left == right)]
    matcher = SequenceMatcher(None, list(map(_key, ours)), list(map(_key, theirs)))
    sides: tuple[Side, Side] = ([], [])
    for tag, i, j, k, m in matcher.get_opcodes():
        for side, words in ((sides[0], ours[i:j]), (sides[1], theirs[k:m])):
            if words:
                side.append((" ".join(words), tag == "equal"))
    return sides


def _key(text: str) -> str:
    """Return what fingerprints see of *text*."""
    return " ".join(tokenize(normalize(text)))
