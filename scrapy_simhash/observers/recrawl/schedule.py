"""Schedule: what is kept of a page's answer, and which known pages need not be asked for yet: ``SIMHASH_RECRAWL``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from email.utils import formatdate, parsedate_to_datetime
from enum import Enum
from math import log
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from scrapy_simhash.times import duration, parsed

#: Form, use, first visit, visits, changes, seconds of Last-Modified.
_HEAD = Struct(">BIIHHI")
#: Of a note: length of the answer, which comes next; then its requests.
_LENGTH = Struct(">H")
#: Forms: without Last-Modified; with its seconds; with the length of the ETag in their place, and behind that what
#: the server wrote.
_NONE, _SECONDS, _TEXT = 0, 1, 2
_MOST = 0xFFFF
#: Longer validators are not kept: no server needs them.
_LONGEST = 1_000


class Answer(NamedTuple):
    """What is kept of a page's latest answer that was read in full.

    >>> answer = Answer(7, 1_790_000_000).with_validators(b'"5f3e-2d"', b"Mon, 21 Sep 2026 14:13:20 GMT")
    >>> len(answer.to_bytes()), Answer.from_bytes(answer.to_bytes()) == answer
    (26, True)
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

    def to_bytes(self) -> bytes:
        """Return it as a store keeps it: 17 bytes and the ETag, and more for a date in no usual form."""
        form, number, text = _NONE, 0, b""
        if self.modified:
            known = _seconds(self.modified)
            form, number, text = (
                (_TEXT, len(self.etag), self.modified) if known is None else (_SECONDS, known, b"")
            )
        return _HEAD.pack(form, self.use, self.since, self.visits, self.changes, number) + self.etag + text

    @classmethod
    def from_bytes(cls, data: bytes) -> Answer:
        """Return what to_bytes() took. Raises ValueError for anything else."""
        try:
            form, use, since, visits, changes, number = _HEAD.unpack_from(data)
        except StructError as error:
            raise ValueError("an answer ends too soon") from error
        etag, modified = data[_HEAD.size :], b""
        if form == _TEXT:
            etag, modified = etag[:number], etag[number:]
        elif form == _SECONDS:
            modified = formatdate(number, usegmt=True).encode()
        elif form != _NONE:
            raise ValueError(f"an answer of an unknown form, {form}")
        return cls(use, since, visits, changes, etag, modified)

    def to_note(self, requests: bytes) -> bytes:
        """Return it as a note of the page, with the *requests* that were in it."""
        data = self.to_bytes()
        return _LENGTH.pack(len(data)) + data + requests

    @classmethod
    def from_note(cls, note: bytes) -> tuple[Answer, bytes]:
        """Return what to_note() took: the answer, and its requests. Raises ValueError for anything else."""
        end = _LENGTH.size + int.from_bytes(note[: _LENGTH.size], "big")
        return cls.from_bytes(note[_LENGTH.size : end]), note[end:]


def _sound(validator: bytes) -> bytes:
    return (
        validator if len(validator) <= _LONGEST and b"\n" not in validator and b"\r" not in validator else b""
    )


def _seconds(modified: bytes) -> int | None:
    """Return the seconds of a date in the usual form, by which it can be written again; None for any other."""
    try:
        seconds = int(parsedate_to_datetime(modified.decode("ascii")).timestamp())
    except (ValueError, TypeError, OverflowError):
        return None
    is_usual = 0 <= seconds < 1 << 32 and formatdate(seconds, usegmt=True).encode() == modified
    return seconds if is_usual else None


#: What a rule may say beside an age.
ALWAYS, AUTO, LASTMOD = "always", "auto", "lastmod"
_DAY = 86_400


class NotDue(Enum):
    """Why a page is not asked for."""

    AGE = "age"
    AUTO = "auto"
    LASTMOD = "lastmod"
    BUDGET = "budget"


class Schedule:
    """Tells of known pages whether they are due.

    *rules* are patterns of URLs and what holds for them: an age such as ``7d``, or one of the words. The first whose
    pattern is found in the URL holds; a page of none is always due. A page that is *max_age* seconds old is due in
    any case, 0 for never; of a host at most *budget* known pages are asked for beside these, 0 for no limit.

    >>> schedule = Schedule([("/news/", "1h"), ("", "7d")], 0, 0)
    >>> answer = Answer(use=0, since=0)
    >>> schedule.not_due("https://example.com/news/1", "example.com", 0, answer, None, 3_600)
    >>> schedule.not_due("https://example.com/about", "example.com", 0, answer, None, 3_600)
    <NotDue.AGE: 'age'>
    """

    def __init__(self, rules: Sequence[tuple[str, str]], max_age: int, budget: int) -> None:
        self._rules = [
            (re.compile(pattern), word, 0 if word in (ALWAYS, AUTO, LASTMOD) else duration(word))
            for pattern, word in rules
        ]
        self._max_age = max_age
        self._budget = budget
        self._asked: Counter[str] = Counter()

    def not_due(
        self, url: str, site: str, seen: int, answer: Answer, lastmod: object, now: int
    ) -> NotDue | None:
        """Return why the page at *url*, visited last at *seen*, is not to be asked for; None if it is due.

        *lastmod* is when it was changed, by a sitemap, None if nobody knows. Counts what is due for the budget of
        *site*.
        """
        age = now - seen
        if self._max_age and age >= self._max_age:
            return None
        for pattern, word, least in self._rules:
            if pattern.search(url):
                if word == AUTO:
                    reason = None if age >= interval(answer, seen) else NotDue.AUTO
                elif word == LASTMOD:
                    changed = moment(lastmod)
                    reason = None if changed is None or changed > seen else NotDue.LASTMOD
                else:
                    reason = None if age >= least else NotDue.AGE
                break
        else:
            reason = None
        if reason is None and self._budget:
            self._asked[site] += 1
            if self._asked[site] > self._budget:
                reason = NotDue.BUDGET
        return reason


def interval(answer: Answer, seen: int) -> float:
    """Return after how many seconds a page should be visited again that was visited last at *seen*.

    By the rate of its changes: until the chance is one half that it has changed. More than one change between two
    visits is seen as one, so the rate is that of Cho and Garcia-Molina, "Estimating frequency of change" (2003),
    whose bias is small also for few visits. At most as long as the page has been known: one that never changed is
    visited after 1, 2, 4, 8 days.

    >>> hour, day = 3_600, 86_400
    >>> interval(Answer(0, since=0, visits=1), 0), interval(Answer(0, since=0, visits=11), 10 * day) / day
    (0.0, 10.0)
    >>> round(interval(Answer(0, since=0, visits=11, changes=10), 10 * day) / hour, 1)
    5.5
    """
    known, again = seen - answer.since, answer.visits - 1
    if again < 1 or known <= 0:
        return 0.0
    changes = min(answer.changes, again)
    if not changes:
        return float(known)
    rate = -log((again - changes + 0.5) / (again + 0.5)) * again / known
    return min(log(2) / rate, float(known))


def moment(lastmod: object) -> int | None:
    """Return the latest second that *lastmod* of a sitemap can mean, None if it is no time.

    >>> moment("1970-01-02"), moment("1970-01-02T00:00:00Z"), moment("yesterday")
    (172799, 86400, None)
    """
    try:
        seconds = parsed(lastmod)
    except ValueError:
        return None
    is_date = isinstance(lastmod, str) and len(lastmod.strip()) == len("2026-01-01")
    return seconds + _DAY - 1 if is_date else seconds
