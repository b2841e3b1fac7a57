"""A linear search, with which every index is compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scrapy_simhash.index import Match


class Oracle:
    """A set of records with the methods of ``SimhashIndex``."""

    def __init__(self, max_distance: int = 3) -> None:
        self.max_distance = max_distance
        self.postings: set[tuple[int, int]] = set()
        self.next_key = 0

    def __len__(self) -> int:
        return len(self.postings)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.postings)

    def __contains__(self, posting: object) -> bool:
        return posting in self.postings

    def add(self, value: int, key: int) -> None:
        self.postings.add((value, key))
        self.next_key = max(self.next_key, key + 1)

    def add_many(self, values: Iterable[int], keys: Iterable[int] | None = None) -> None:
        values = list(values)
        for value, key in zip(values, keys or range(self.next_key, self.next_key + len(values)), strict=True):
            self.add(value, key)

    def discard(self, value: int, key: int) -> bool:
        is_there = (value, key) in self
        self.postings.discard((value, key))
        return is_there

    def find(self, value: int) -> list[Match]:
        return nearest_first(self._near(value))

    def find_many(self, values: Iterable[int]) -> Iterator[list[Match]]:
        return map(self.find, values)

    def nearest(self, values: Sequence[int], most: int) -> tuple[list[Match], list[int]]:
        found = [self._near(value) for value in values]
        # A record found by several values counts once for each of them.
        every = sorted((match for near in found for match in near), key=order)
        return nearest_first(every[:most]), [len(near) for near in found]

    def keys_of(self, value: int) -> list[int]:
        return sorted(key for its, key in self.postings if its == value)

    def find_or_add(self, value: int, key: int) -> list[Match]:
        matches = self.find(value)
        if not matches:
            self.add(value, key)
        return matches

    def _near(self, asked: int) -> list[Match]:
        near = [Match(key, value, (value ^ asked).bit_count()) for value, key in self.postings]
        return [match for match in near if match.distance <= self.max_distance]


def order(match: Match) -> tuple[int, int, int]:
    return match.distance, match.key, match.value


def nearest_first(matches: Iterable[Match]) -> list[Match]:
    """Return *matches* in order, only the first one per key."""
    by_key: dict[int, Match] = {}
    for match in sorted(matches, key=order):
        by_key.setdefault(match.key, match)
    return list(by_key.values())
