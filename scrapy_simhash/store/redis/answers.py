"""Answers: what crawls keep of each page's latest answer, in the server, by key of the page."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from struct import Struct

from scrapy_simhash.store.base import Answered
from scrapy_simhash.store.redis import layout
from scrapy_simhash.store.redis.link import Link
from scrapy_simhash.store.redis.records import Records

#: Store, seconds until all is forgotten.
_HEAD = Struct(">8sI")


class KeepsAnswers:
    """The part of a RedisStore that keeps answers; see :class:`~scrapy_simhash.store.base.KeepsAnswers`."""

    _link: Link
    _names: Mapping[str, str]
    _records: Records

    async def answer(self, key: bytes) -> Answered | None:
        """See :meth:`KeepsAnswers.answer <scrapy_simhash.store.base.KeepsAnswers.answer>`. One trip."""
        await self._link.ready()
        page, record = await asyncio.gather(
            self._records.page(key), self._link.ask("HGET", self._names["answers"], key)
        )
        if page is None or record is None:
            return None
        posting = page.posting
        try:
            about, requests = layout.read_answer(record)
        except ValueError:
            return None  # it is asked in full, and kept anew
        return Answered(
            seen=posting.seen,
            is_settled=posting.is_delivered,
            text_hash=posting.text_hash,
            value=posting.fingerprint.value,
            is_short=posting.is_short,
            cluster=page.cluster,
            original=page.original,
            about=about,
            requests=requests,
        )

    async def keep_answers(self, answers: Collection[tuple[bytes, int, bytes, bytes]]) -> None:
        """See :meth:`KeepsAnswers.keep_answers <scrapy_simhash.store.base.KeepsAnswers.keep_answers>`. One trip."""
        replica = await self._link.ready()
        kept = [
            part
            for key, seen, *answer in answers
            for part in (key, layout.packed_time(seen), layout.answer_of(*answer))
        ]
        await self._link.ask("keep_answers", _HEAD.pack(replica.store_id, self._link.request.expire), *kept)
