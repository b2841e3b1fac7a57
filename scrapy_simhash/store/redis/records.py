"""Records: those of a store in the server, asked for one by one or all in order. A damaged one costs one page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection
from functools import partial
from itertools import islice

from scrapy_simhash.store.base import Page, Posting, Run
from scrapy_simhash.store.redis.damage import Damage, shown
from scrapy_simhash.store.redis.layout import (
    ContentRecord,
    PageRecord,
    posting_of,
    read_content,
    read_page,
    read_run,
)
from scrapy_simhash.store.redis.link import Link

#: Replies of scripts: what is damaged, empty for the page that was asked for.
_DAMAGED = {b"D": "", b"H": "the counters in its header"}
#: Records that are fetched together.
_STEP = 500
_EVENT_BYTES = 38


class Records:
    """Asks for records by *link*; *damage* gets those that cannot be read."""

    def __init__(self, link: Link, damage: Damage) -> None:
        self.link = link
        self._names = link.names
        self.damage = damage

    async def page(self, key: bytes) -> Page | None:
        """Return what is known about a page, None if nothing is. One trip."""
        found = await self.link.ask("get", key)
        if not found:
            return None
        record, its_content, of_original = found
        page, content = self._page(key, record), self.damage.read(read_content, its_content, page_name(key))
        if page is None or content is None:
            raise self.damage.found(page_name(key))
        original = None
        if of_original and content.page != page.number:
            original = self._url(content.key, of_original)
        posting = posting_of(page, content, key)
        return Page(page.number, posting, content.page, original, page.delivered or None)

    async def content_of(self, key: bytes) -> int | None:
        """Return the number of the content of a page, None if the page is not known. One trip."""
        record = await self.link.ask("HGET", self._names["pages"], key)
        page = None if record is None else self._page(key, record)
        if page is None and record is not None:
            raise self.damage.found(page_name(key))
        return page and page.content

    async def contents(self, numbers: Collection[int]) -> dict[int, ContentRecord]:
        """Return those contents that are there and can be read, by number. One trip, none for none."""
        if not numbers:
            return {}
        found: dict[int, ContentRecord] = {}
        records = await self.link.ask("HMGET", self._names["contents"], *numbers)
        for number, record in zip(numbers, records, strict=True):
            if record is not None and (
                content := self.damage.read(read_content, record, f"content {number}")
            ):
                found[number] = content
        return found

    async def origin(self, content: int) -> tuple[int | None, str | None, bytes | None]:
        """Return number, URL and key of the page that a content came from; None if they cannot be read. Two trips."""
        came = (await self.contents([content])).get(content)
        if came is None:
            return None, None, None
        page = await self.link.ask("HGET", self._names["pages"], came.key)
        return came.page, None if page is None else self._url(came.key, page), came.key

    async def runs(self) -> list[Run]:
        """Return the runs that can be read, oldest first. One trip."""
        records = await self.link.ask("HGETALL", self._names["runs"])
        runs = [self._run(number, record) for number, record in records.items()]
        return sorted(run for run in runs if run is not None)

    async def postings(self) -> AsyncIterator[Posting]:
        """Yield the posting of every page; see ``Store.__iter__``.

        The numbers of all pages are read and sorted first.
        """
        numbers: dict[bytes, int] = {}
        async for key, record in self._all("pages"):
            numbers[key] = int.from_bytes(record[:8], "big")
        keys = iter(sorted(numbers, key=numbers.__getitem__))
        while batch := list(islice(keys, _STEP)):
            found: list[tuple[bytes, PageRecord]] = []
            records = await self.link.ask("HMGET", self._names["pages"], *batch)
            for key, record in zip(batch, records, strict=True):
                if record is not None and (page := self._page(key, record)):
                    found.append((key, page))
            known = await self.contents(sorted({page.content for _, page in found}))
            for key, page in found:
                if content := known.get(page.content):
                    yield posting_of(page, content, key)
                else:
                    about = f"{shown(page.url)}, its content {page.content} cannot be read"
                    self.damage.note(f"{page_name(key)} ({about})")

    async def audit(self, number: int, tell: Callable[[int], None]) -> int:
        """Read everything; *tell* hears how many postings were read so far, after *number*. Return how many."""
        ask, names, damage = self.link.ask, self._names, self.damage
        async for _ in self.postings():
            number += 1
            tell(number)
        async for field, record in self._all("contents"):
            damage.read(read_content, record, f"content {shown(field)}")
        async for field, record in self._all("short"):
            damage.read(int, record, f"the short page with the value {field[:8].hex()}")
        for start in range(0, await ask("LLEN", names["events"]), _STEP):
            events = await ask("LRANGE", names["events"], start, start + _STEP - 1)
            for place, event in enumerate(events, start):
                if len(event) < _EVENT_BYTES or event[:1] not in (b"+", b"-"):
                    damage.note(f"event {place}")
        counted = ("pages", "contents", "runs")
        for what, count in zip(counted, await ask("HMGET", names["header"], *counted), strict=True):
            if count is None or not count.isdigit():
                damage.note(f"the counter of {what} in its header")
        return number

    def check(self, reply: bytes, key: bytes) -> None:
        """Raise RecordDamaged if the *reply* of a script says that what is kept of a page cannot be read."""
        if reply in _DAMAGED:
            raise self.damage.found(_DAMAGED[reply] or page_name(key))

    def tell_of_pages(self, packed: bytes) -> None:
        """Take note of damaged pages whose keys are in *packed*, each after its length."""
        while packed:
            end = 4 + int.from_bytes(packed[:4], "big")
            self.damage.note(page_name(packed[4:end]))
            packed = packed[end:]

    async def _all(self, name: str) -> AsyncIterator[tuple[bytes, bytes]]:
        """Yield fields and values of a hash; a field may come twice."""
        cursor = 0
        while True:
            cursor, part = await self.link.ask("HSCAN", self._names[name], cursor, "COUNT", _STEP)
            for pair in part.items():
                yield pair
            if not cursor:
                return

    def _url(self, key: bytes, record: bytes) -> str | None:
        page = self._page(key, record)
        return None if page is None else page.url

    def _page(self, key: bytes, record: bytes) -> PageRecord | None:
        return self.damage.read(read_page, record, page_name(key))

    def _run(self, number: int | bytes, record: bytes) -> Run | None:
        return self.damage.read(partial(read_run, number), record, f"run {shown(number)}")


def page_name(key: bytes) -> str:
    """Return how messages call the page with *key*."""
    return f"page with key {key.hex()}"
