"""All that a store holds, in order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from itertools import islice

from scrapy_simhash.store.base import Posting
from scrapy_simhash.store.damage import Damage, shown
from scrapy_simhash.store.redis.layout import (
    ContentRecord,
    PageRecord,
    first_posting,
    latest_posting,
    read_content,
    read_page,
)
from scrapy_simhash.store.redis.opening import Ask
from scrapy_simhash.store.redis.records import page_name

#: Pages that are fetched together.
_PAGES = 500


async def walk(ask: Ask, names: Mapping[str, str], ended: set[int], damage: Damage) -> AsyncIterator[Posting]:
    """Yield a posting for every content and every page, page after page; see ``Store.__iter__``.

    *names* are those of the keys. The numbers of all pages are read and sorted first. *damage* gets the
    records that cannot be read; they are left out.
    """
    pages, contents = names["pages"], names["contents"]
    numbers: dict[bytes, int] = {}
    cursor = 0
    while True:
        cursor, part = await ask("HSCAN", pages, cursor, "COUNT", _PAGES)
        numbers |= {key: int.from_bytes(record[:8], "big") for key, record in part.items()}
        if not cursor:
            break
    keys = iter(sorted(numbers, key=numbers.__getitem__))
    while batch := list(islice(keys, _PAGES)):
        found: list[tuple[bytes, PageRecord]] = []
        for key, record in zip(batch, await ask("HMGET", pages, *batch), strict=True):
            try:
                if record:
                    found.append((key, read_page(record)))
            except ValueError:
                damage.note(page_name(key))
        known = await _contents(ask, contents, found, damage)
        for key, page in found:
            for posting in _postings(key, page, known, page.run in ended, damage):
                yield posting


async def _contents(
    ask: Ask, contents: str, pages: Iterable[tuple[bytes, PageRecord]], damage: Damage
) -> dict[int, ContentRecord]:
    """Return the contents of *pages*, and those that they had before, by number, without those that are damaged."""
    known: dict[int, ContentRecord] = {}
    wanted = {page.content for _, page in pages} | {page.own - 1 for _, page in pages if page.own}
    asked: set[int] = set()
    while wanted:
        order = sorted(wanted)
        for number, record in zip(order, await ask("HMGET", contents, *order), strict=True):
            try:
                known[number] = read_content(record or b"")
            except ValueError:
                damage.note(f"content {number}")
        asked |= wanted
        # The contents that a page had before: each names the one before it.
        wanted = {known[n].before - 1 for n in order if n in known and known[n].before} - asked
    return known


def _postings(
    key: bytes, page: PageRecord, known: Mapping[int, ContentRecord], is_settled: bool, damage: Damage
) -> Iterator[Posting]:
    """Yield the postings of one page: of the contents that came from it, and its latest."""
    if page.content not in known:
        damage.note(f"{page_name(key)} ({shown(page.url)}): its content {page.content} cannot be read")
        return
    own, at = [], page.own
    while at and at - 1 in known:
        content = known[at - 1]
        if content.page != page.number:
            damage.note(f"content {at - 1}, an earlier one of {page_name(key)} ({shown(page.url)})")
            break
        own.append(at - 1)
        # Contents that came before have lower numbers: a chain that is damaged ends.
        at = content.before if content.before < at else 0
    for number in reversed(own):
        is_latest = number == page.content and page.fingerprint is None
        if not is_latest or page.value != known[number].fingerprint.value:
            yield first_posting(page, known[number], is_settled)
    yield latest_posting(key, page, known[page.content], is_settled)
