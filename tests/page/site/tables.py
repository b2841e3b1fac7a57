"""The two piece tables, and a third one that does what their docstring says in the plainest way."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import Any

import pytest

from scrapy_simhash import kernel
from scrapy_simhash.page.site import profile as table

_KEY = Struct("<Q")
LEAST, LEAST_SHORT = 6, 12

#: The compiled twin; None where the kernel is the pure one.
COMPILED: Any = getattr(kernel.native, "PieceTable", None)
KINDS = [
    pytest.param(table.PieceTable, id="pure"),
    pytest.param(COMPILED, id="compiled", marks=pytest.mark.skipif(COMPILED is None, reason="no kernel")),
]


def packed(keys: Sequence[int]) -> bytes:
    return b"".join(map(_KEY.pack, keys))


class NaiveTable:
    """All pieces in one list, newest first; buckets are found by looking at every piece."""

    def __init__(self) -> None:
        self.pieces: list[tuple[int, int]] = []
        self.buckets = table.FIRST_BUCKETS

    def learn(self, keys: Sequence[int], subject: int) -> None:
        for key in keys:
            self.note(key, subject)

    def note(self, key: int, subject: int) -> None:
        known = dict(self.pieces)
        if key in known:
            place = self.pieces.index((key, known[key]))
            self.pieces[place] = key, known[key] | 1 << subject
            return
        while len(of_bucket := self.of_bucket(key)) == table.BUCKET and self.buckets < table.MOST_BUCKETS:
            self.buckets *= 2
        if len(of_bucket) == table.BUCKET:
            fewest = min(subjects.bit_count() for _, subjects in of_bucket)
            if fewest >= LEAST:
                return
            oldest = [one for one in of_bucket if one[1].bit_count() == fewest][-1]
            self.pieces.remove(oldest)
        self.pieces.insert(0, (key, 1 << subject))
        if len(self.pieces) > 6 * self.buckets and self.buckets < table.MOST_BUCKETS:
            self.buckets *= 2

    def of_bucket(self, key: int) -> list[tuple[int, int]]:
        return [one for one in self.pieces if self.bucket(one[0]) == self.bucket(key)]

    def bucket(self, key: int) -> int:
        return (key >> 1) % self.buckets

    def flag(self, key: int) -> int:
        least = LEAST_SHORT if key % 2 else LEAST
        count = dict(self.pieces).get(key, 0).bit_count()
        return 1 if count >= least else 2 if count * 2 >= least else 0

    def known(self) -> dict[int, int]:
        return {key: subjects.bit_count() for key, subjects in self.pieces if self.flag(key) == 1}
