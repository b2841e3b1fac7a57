"""Record: one stored page, and what else a reader of files can find."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from scrapy_simhash.exceptions import KindError

#: The most frequent reason to skip a file or a record.
NOT_HTML = "not HTML"
#: Bytes of the largest record that is read, after decompression. Larger records are broken.
LIMIT = 64 << 20
TOO_LARGE = f"larger than {LIMIT >> 20} MB"


@dataclass(frozen=True, slots=True)
class Record:
    """One page, from any kind of input."""

    url: str
    page: str | bytes
    """HTML, as text or as the bytes that came; plain text if `is_text`."""
    place: str
    """For messages: the input and the position in it, as ``crawl.warc.gz:12`` or ``pages.jsonl:17``."""
    is_text: bool = False
    content_type: str | None = None
    """The HTTP header, if the input has it: it helps to decode bytes."""
    content_language: str | None = None
    """The HTTP header, if the input has it."""
    seen: int | None = None
    """When the page was fetched, in seconds of Unix time; None if the input has no time."""
    source: object = None
    """The record as it came, for a writer of the same kind: fields of a feed, a WARC record, a row."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A record that cannot be read. It is counted and named; records after it are read."""

    place: str
    reason: str
    """One clause without a full stop: ``not JSON``, ``the gzip data ends too early``."""
    is_rest: bool = False
    """Whether the rest of the file cannot be read: the number of lost pages is unknown."""


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A record that is valid, but no page of HTML or text: an image, a redirect."""

    place: str
    reason: str
    """A few words, the same for all of a kind: ``not HTML``, ``HTTP status 301``."""
    names: tuple[str, ...] = ()
    """The fields of a feed's record that lacks a field of a page."""


class BrokenStream(Exception):
    """A stream that cannot be read to its end; the message is the reason of a Broken."""


def extra(what: str, *modules: str) -> Any:
    """Return the first of *modules* that is installed. Raises KindError, which names the extra."""
    for module in modules:
        try:
            return import_module(module)
        except ImportError:
            continue
    raise KindError(f"{what} needs {modules[-1]}: pip install 'scrapy-simhash[files]'")
