"""Difference: which parts of a URL are not in another one, so that a reader sees them at once."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

#: A URL in the parts that people change: folders, parameters, and what is between.
_PART = re.compile(r"[^/?&=#.:;_-]+|[/?&=#.:;_-]")
#: Parts of a URL beyond which only its beginning and its end are compared.
_MOST_PARTS = 120


def difference(url: str, other: str) -> list[tuple[str, bool]]:
    """Return *url* in pieces, and for each whether it is in *other* too, at its place.

    >>> difference("http://example.com/print/ferry", "http://example.com/boats/ferry?a=1")
    [('http://example.com/', True), ('print', False), ('/ferry', True)]
    """
    mine, its = _PART.findall(url), _PART.findall(other)
    if max(len(mine), len(its)) > _MOST_PARTS:
        return _by_ends(mine, its)
    pieces: list[tuple[str, bool]] = []
    for kind, start, end, _, _ in SequenceMatcher(None, mine, its, autojunk=False).get_opcodes():
        if start < end:
            pieces.append(("".join(mine[start:end]), kind == "equal"))
    return pieces


def _by_ends(mine: list[str], its: list[str]) -> list[tuple[str, bool]]:
    shorter = min(len(mine), len(its))
    begin = next((place for place in range(shorter) if mine[place] != its[place]), shorter)
    left = shorter - begin
    end = next((place for place in range(left) if mine[-1 - place] != its[-1 - place]), left)
    cuts = (mine[:begin], True), (mine[begin : len(mine) - end], False), (mine[len(mine) - end :], True)
    return [("".join(parts), is_common) for parts, is_common in cuts if parts]
