"""All that a store holds, in order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from itertools import islice

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.store.base import Posting, Run
from scrapy_simhash.store.redis.layout import (
    ContentRecord,
    first_posting,
    latest_posting,
    read_content,
    read_page,
    read_run,
)
from scrapy_simhash.store.redis.opening import Ask

#: Pages that are fetched together.
_PAGES = 500


def read_runs(records: Mapping[bytes, bytes]) -> list[Run]:
    """Return the runs of their records, oldest first."""
    return sorted(read_run(int(number), record) for number, record in records.items())


def ended_runs(runs: Iterable[Run]) -> set[int]:
    """Return the numbers of those that ended in order."""
    return {run.number for run in runs if run.ended is not None}


async def walk(ask: Ask, pages: str, contents: str, ended: set[int]) -> AsyncIterator[Posting]:
    """Yield a posting for every content and every page, page after page; see ``Store.__iter__``.

    *pages* and *contents* are names of keys. The numbers of all pages are read and sorted first.
    """
    numbers: dict[int, bytes] = {}
    cursor = 0
    while True:
        cursor, part = await ask("HSCAN", pages, cursor, "COUNT", _PAGES)
        numbers |= {int.from_bytes(record[:8], "big"): key for key, record in part.items()}
        if not cursor:
            break
    keys = (numbers[number] for number in sorted(numbers))
    while batch := list(islice(keys, _PAGES)):
        records = await ask("HMGET", pages, *batch)
        found = [(key, read_page(record)) for key, record in zip(batch, records, strict=True) if record]
        known: dict[int, ContentRecord] = {}
        wanted = {page.content for _, page in found} | {page.own - 1 for _, page in found if page.own}
        while wanted:
            order = sorted(wanted)
            fetched = await ask("HMGET", contents, *order)
            if None in fetched:
                raise StoreUnavailable(f"{contents} lost contents of {pages} while it was read")
            known |= {n: read_content(r) for n, r in zip(order, fetched, strict=True)}
            # The contents that a page had before: each names the one before it.
            wanted = {known[n].before - 1 for n in order if known[n].before} - known.keys()
        for key, page in found:
            is_settled = page.run in ended
            own, at = [], page.own
            while at:
                own.append(at - 1)
                at = known[at - 1].before
            for number in reversed(own):
                is_latest = number == page.content and page.fingerprint is None
                if not is_latest or page.value != known[number].fingerprint.value:
                    yield first_posting(page, known[number], is_settled)
            yield latest_posting(key, page, known[page.content], is_settled)
