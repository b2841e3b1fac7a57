"""Answers: what is kept of a page's latest answer, in a note beside the page."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from email.utils import formatdate, parsedate_to_datetime
from struct import Struct
from struct import error as StructError
from typing import TYPE_CHECKING, NamedTuple

from scrapy_simhash.exceptions import StoreError
from scrapy_simhash.notes import PAGE, Note
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store import Page
from scrapy_simhash.verdict import Reason, Status, Verdict
from scrapy_simhash.waiting import awaited, finished

if TYPE_CHECKING:
    from scrapy_simhash.store import Store

#: Length of what follows up to the requests; form, use, first visit, visits, changes, seconds of Last-Modified.
_HEAD = Struct(">HBIIHHI")
#: Forms: without Last-Modified; with its seconds; with the length of the ETag in their place, and behind that what
#: the server wrote.
_NONE, _SECONDS, _TEXT = 0, 1, 2
_MOST = 0xFFFF
#: Longer validators are not kept: no server needs them.
_LONGEST = 1_000
#: Answers that are put into the store together: a kill loses no more, and their pages are fetched in full again.
TOGETHER = 50


class Answer(NamedTuple):
    """What is kept of a page's latest answer that was read in full.

    >>> answer = Answer(7, 1_790_000_000).with_validators(b'"5f3e-2d"', b"Mon, 21 Sep 2026 14:13:20 GMT")
    >>> len(answer.to_note(b"requests")), Answer.from_note(answer.to_note(b"requests")) == (answer, b"requests")
    (36, True)
    >>> answer.modified
    b'Mon, 21 Sep 2026 14:13:20 GMT'
    """

    use: int
    """32 bits that say what the page was read for, and which text it had: see `use_of`."""
    since: int
    """When it was visited first, in seconds of Unix time."""
    visits: int = 1
    changes: int = 0
    """Visits at which the text was another than before."""
    etag: bytes = b""
    modified: bytes = b""
    """``Last-Modified`` as the server wrote it."""

    def with_validators(self, etag: bytes, modified: bytes) -> Answer:
        """Return it with other validators; those that cannot be sent back are left out."""
        return self._replace(etag=_sound(etag), modified=_sound(modified))

    def after_visit(self, has_changed: bool) -> Answer:
        """Return it as it is after one more visit."""
        return self._replace(
            visits=min(self.visits + 1, _MOST), changes=min(self.changes + has_changed, _MOST)
        )

    def of_no_use(self) -> Answer:
        """Return it as one that fits no request, so that the page is fetched in full."""
        return self._replace(use=self.use ^ 1, etag=b"", modified=b"")

    def to_note(self, requests: bytes) -> bytes:
        """Return it as the note of its page, with the *requests* that were in it.

        Beside these it takes 19 bytes and the ETag, and more for a date in no usual form.
        """
        form, number, text = _NONE, 0, b""
        if self.modified:
            known = _seconds(self.modified)
            form, number, text = (
                (_TEXT, len(self.etag), self.modified) if known is None else (_SECONDS, known, b"")
            )
        validators = self.etag + text
        length = _HEAD.size - 2 + len(validators)
        head = _HEAD.pack(length, form, self.use, self.since, self.visits, self.changes, number)
        return head + validators + requests

    @classmethod
    def from_note(cls, note: bytes) -> tuple[Answer, bytes]:
        """Return what to_note() took: the answer, and its requests. Raises ValueError for anything else."""
        try:
            length, form, use, since, visits, changes, number = _HEAD.unpack_from(note)
        except StructError as error:
            raise ValueError("an answer ends too soon") from error
        if length < _HEAD.size - 2:
            raise ValueError(f"an answer of {length} bytes")
        etag, modified, requests = note[_HEAD.size : 2 + length], b"", note[2 + length :]
        if form == _TEXT:
            etag, modified = etag[:number], etag[number:]
        elif form == _SECONDS:
            modified = formatdate(number, usegmt=True).encode()
        elif form != _NONE:
            raise ValueError(f"an answer of an unknown form, {form}")
        return cls(use, since, visits, changes, etag, modified), requests


def _sound(validator: bytes) -> bytes:
    is_sound = len(validator) <= _LONGEST and b"\n" not in validator and b"\r" not in validator
    return validator if is_sound else b""


def _seconds(modified: bytes) -> int | None:
    """Return the seconds of a date in the usual form, by which it can be written again; None for any other."""
    try:
        seconds = int(parsedate_to_datetime(modified.decode("ascii")).timestamp())
    except (ValueError, TypeError, OverflowError):
        return None
    is_usual = 0 <= seconds < 1 << 32 and formatdate(seconds, usegmt=True).encode() == modified
    return seconds if is_usual else None


class Known(NamedTuple):
    """What is known of a page before it is asked for again."""

    page: Page
    answer: Answer
    requests: bytes
    """What was kept of the requests in it, empty for none."""

    @property
    def text_hash(self) -> int | None:
        """The hash of the text that it had."""
        return self.page.posting.page_hash

    @property
    def verdict(self) -> Verdict:
        """The verdict on the page if it has the text of its last visit.

        Nothing is compared: what the page repeats is what it repeated then.
        """
        page, posting = self.page, self.page.posting
        is_short = posting.is_short
        return Verdict(
            Status.REVISIT,
            None if is_short else Fingerprint(posting.fingerprint.value),
            page.original,
            None if is_short else 0,
            cluster=None if is_short and page.original is None else page.cluster,
            reason=Reason.UNCHANGED,
            last_seen=posting.seen,
            is_delivered=True,
        )


class AnswerBook:
    """Answers of pages in *store*, which keeps their notes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[bytes, tuple[int, bytes]] = {}
        self._telling: asyncio.Task[None] | None = None

    async def find(self, key: bytes) -> Known | None:
        """Return what is known of a page, None if nothing is. Raises StoreUnavailable."""
        if self._store.is_remote:
            # Asked together, they take one trip.
            (_, note), page = await asyncio.gather(
                awaited(self._store.note(PAGE, key)), awaited(self._store.get(key))
            )
        else:
            _, note = await awaited(self._store.note(PAGE, key))
            page = None if note is None else await awaited(self._store.get(key))
        if note is None or page is None:
            return None
        # A damaged one: the page is fetched in full, and kept anew.
        with suppress(ValueError):
            return Known(page, *Answer.from_note(note))
        return None

    def put(self, key: bytes, answer: Answer, requests: bytes) -> None:
        """Put the answer of a visit of this moment into the store, with others.

        What gets lost is fetched in full next time. Raises what went wrong with those before.
        """
        self._waiting[key] = int(time.time()), answer.to_note(requests)
        if len(self._waiting) < TOGETHER:
            return
        if not self._store.is_remote:
            finished(self._tell())
        elif self._telling is None or self._telling.done():
            former, self._telling = self._telling, asyncio.create_task(self._tell())
            if former is not None:
                former.result()

    async def finish(self) -> None:
        """Put there what still waits."""
        try:
            if self._telling is not None:
                await self._telling
        finally:
            await self._tell()

    async def _tell(self) -> None:
        with suppress(StoreError):
            while self._waiting:
                waiting, self._waiting = self._waiting, {}
                notes = [Note(key, None, note) for key, (_, note) in waiting.items()]
                await awaited(self._store.replace_notes(PAGE, notes))
                await awaited(self._store.touch([(key, seen) for key, (seen, _) in waiting.items()]))
