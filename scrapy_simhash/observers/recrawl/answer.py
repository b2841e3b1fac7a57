"""Answer: the validators of a page's latest answer, and how often the page was visited and had changed."""

from __future__ import annotations

from email.utils import formatdate, parsedate_to_datetime
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

#: Form, use, first visit, visits, changes, seconds of Last-Modified.
_HEAD = Struct(">BIIHHI")
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
