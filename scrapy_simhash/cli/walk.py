"""A store from one end to the other, in an order in which another store can take all in.

Originals differ from each other, whatever their order. What repeats one of them must come after it, and pages that
were visited once came in just that order. The others are *late*: a page that said something of its own before it
came to repeat another one, as its cluster may be younger than it is, and a page that repeats what was removed.
Late pages follow at the end, so that each finds the original that it had, and not itself a new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import NamedTuple

from scrapy_simhash.cli.blocking import BATCH, pages_of
from scrapy_simhash.store import Page, Posting, Store


class WalkEntry(NamedTuple):
    """A posting of the store."""

    posting: Posting
    page: Page | None
    """The page that it is the present state of; None for what a page said before."""


def walk(store: Store) -> Iterator[WalkEntry]:
    """Yield every posting of *store*, and with the last one of a page what is known about that page.

    Memory for a few hundred pages at a time, and 60 bytes for each late page.
    """
    late: list[bytes] = []
    for batch in _batches(groupby(store, key=lambda posting: posting.key)):
        known = pages_of(store, [key for key, _ in batch])
        for (key, postings), page in zip(batch, known, strict=True):
            *formers, latest = postings
            for former in formers:
                yield WalkEntry(former, None)
            if page is not None and _is_late(page, bool(formers)):
                late.append(key)
            else:
                yield WalkEntry(latest, page)
    for start in range(0, len(late), BATCH):
        for page in pages_of(store, late[start : start + BATCH]):
            if page is not None:
                yield WalkEntry(page.posting, page)


def _batches(
    groups: Iterable[tuple[bytes, Iterable[Posting]]],
) -> Iterator[list[tuple[bytes, list[Posting]]]]:
    lists = ((key, list(postings)) for key, postings in groups)
    while batch := list(islice(lists, BATCH)):
        yield batch


def _is_late(page: Page, has_formers: bool) -> bool:
    if page.cluster == page.number:
        return False
    return has_formers or page.cluster > page.number or page.original is None
