"""Record: one page that lies on disk, and what a file had at a place where there should have been one."""

from __future__ import annotations

from dataclasses import dataclass

#: The most frequent reason to pass something over.
NOT_HTML = "not HTML"


@dataclass(frozen=True, slots=True)
class Record:
    """One page, as any kind of input has it."""

    url: str
    page: str | bytes
    """HTML, as text or as the bytes that came; plain text where it `is_text`."""
    place: str
    """For messages: the input and where in it, as ``crawl.warc.gz:12`` or ``pages.jsonl:17``."""
    is_text: bool = False
    content_type: str | None = None
    """The HTTP header, if the input has kept it: it helps to decode bytes."""
    content_language: str | None = None
    """The HTTP header, if the input has kept it."""
    seen: int | None = None
    """When the page was fetched, in seconds of Unix time; None if the input does not say."""
    source: object = None
    """What came, for the writer of the same kind: the fields of a feed, the bytes of a WARC record, a row."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Something that is no page: it is counted and named, and what can be read after it is."""

    place: str
    reason: str
    """One clause without a full stop: ``not JSON``, ``no field 'url'``, ``the gzip data ends too early``."""
    is_rest: bool = False
    """Whether it stands for a file, or the rest of one, that cannot be read: nobody knows how many pages it has."""


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Something that is whole, and no page of HTML or text: a picture, a redirect. Inputs are full of them."""

    place: str
    reason: str
    """Few words, the same for all of a kind: ``not HTML``, ``HTTP status 301``."""
    names: tuple[str, ...] = ()
    """The fields that a record of a feed has, if what it lacks is a field."""
