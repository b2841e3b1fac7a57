"""Records: those of pages and contents, asked of the server one by one and read. A damaged one costs one page."""

from __future__ import annotations

from collections.abc import Mapping

from scrapy_simhash.exceptions import RecordDamaged
from scrapy_simhash.store.base import Page, Run
from scrapy_simhash.store.damage import Damage, shown
from scrapy_simhash.store.redis import layout
from scrapy_simhash.store.redis.link import Link

#: Replies of scripts: what is damaged, empty for the page that was asked for.
_DAMAGED = {b"D": "", b"H": "the counters in its header"}


class Records:
    """Asks for records by *link*; *damage* gets those that cannot be read."""

    def __init__(self, link: Link, names: Mapping[str, str], damage: Damage) -> None:
        self._link = link
        self._names = names
        self._damage = damage

    async def page(self, key: bytes) -> Page | None:
        """Return what is known about a page, None if nothing is. One trip."""
        found = await self._link.ask("get", key)
        if not found:
            return None
        record, its_content, of_original, of_run = found
        try:
            page = layout.read_page(record)
            content = layout.read_content(its_content)
        except ValueError as error:
            raise self.damaged(page_name(key)) from error
        original = None
        if of_original and content.page != page.number:
            original = self._url(content.key, of_original)
        posting = layout.latest_posting(key, page, content, self._has_ended(page.run, of_run))
        return Page(page.number, posting, page.content, content.page, original)

    async def content_of(self, key: bytes) -> int | None:
        """Return the number of the content of a page, None if the page is not known. One trip."""
        record = await self._link.ask("HGET", self._names["pages"], key)
        try:
            return None if record is None else layout.read_page(record).content
        except ValueError as error:
            raise self.damaged(page_name(key)) from error

    async def origin(self, content: int) -> tuple[int | None, str | None]:
        """Return number and URL of the page that a content came from; None for what cannot be read. Two trips."""
        record = await self._link.ask("HGET", self._names["contents"], content)
        try:
            came = None if record is None else layout.read_content(record)
        except ValueError:
            self._damage.note(f"content {content}")
            came = None
        if came is None:
            return None, None
        page = await self._link.ask("HGET", self._names["pages"], came.key)
        return came.page, None if page is None else self._url(came.key, page)

    async def runs(self) -> list[Run]:
        """Return the runs that can be read, oldest first. One trip."""
        runs = []
        for number, record in (await self._link.ask("HGETALL", self._names["runs"])).items():
            try:
                runs.append(layout.read_run(int(number), record))
            except ValueError:
                self._damage.note(f"run {shown(number)}")
        return sorted(runs)

    def damaged(self, record: str) -> RecordDamaged:
        """Take note of a damaged *record*, and return the error for whoever asked for it."""
        self._damage.note(record)
        return RecordDamaged(f"{self._link.request.place} is damaged: {record}")

    def check(self, reply: bytes, key: bytes) -> None:
        """Raise RecordDamaged if the *reply* of a script says that what is kept of a page cannot be read."""
        if reply in _DAMAGED:
            raise self.damaged(_DAMAGED[reply] or page_name(key))

    def tell_of_pages(self, packed: bytes) -> None:
        """Take note of damaged pages whose keys are in *packed*, each after its length."""
        while packed:
            end = 4 + int.from_bytes(packed[:4], "big")
            self._damage.note(page_name(packed[4:end]))
            packed = packed[end:]

    def _url(self, key: bytes, record: bytes) -> str | None:
        try:
            return layout.read_page(record).url
        except ValueError:
            self._damage.note(page_name(key))
            return None

    def _has_ended(self, number: int, record: bytes) -> bool:
        try:
            return bool(record) and layout.read_run(number, record).ended is not None
        except ValueError:
            self._damage.note(f"run {number}")
            return False


def page_name(key: bytes) -> str:
    """Return how messages call the page with *key*."""
    return f"page with key {key.hex()}"
