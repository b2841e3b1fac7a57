"""Record: a stored page, and the other results of reading files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from scrapy_simhash.exceptions import KindError

#: The most frequent reason of `PassedOver`.
NOT_HTML = "not HTML"
#: Max bytes of a record after decompression. Larger records are broken.
LIMIT = 64 << 20
TOO_LARGE = f"larger than {LIMIT >> 20} MB"


@dataclass(frozen=True, slots=True)
class Record:
    """A page from an input of any format."""

    url: str
    page: str | bytes
    """HTML, as text or undecoded bytes, or plain text if `is_text`."""
    place: str
    """The place for messages: the input and the position in it, such as ``crawl.warc.gz:12`` or
    ``pages.jsonl:17``."""
    is_text: bool = False
    content_type: str | None = None
    """The HTTP header, if the input has it; used to decode bytes."""
    content_language: str | None = None
    """The HTTP header, if the input has it."""
    seen: int | None = None
    """When the page was fetched, in seconds of Unix time; None if the input has no time."""
    source: object = None
    """The original record, for a writer of the same format: fields of a feed, a WARC record, a row."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A record that cannot be read. It is counted and reported, and reading continues."""

    place: str
    reason: str
    """One clause without a full stop: ``not JSON``, ``the gzip data ends too early``."""
    is_rest: bool = False
    """Whether the rest of the file cannot be read: the number of lost pages is unknown."""


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A valid record that is not a page of HTML or text, such as an image or a redirect."""

    place: str
    reason: str
    """A few words that are the same for similar records: ``not HTML``, ``HTTP status 301``."""
    names: tuple[str, ...] = ()
    """For a record of a feed without a URL or a page, the names of its fields."""


#: The result of reading a file.
Found: TypeAlias = "Iterator[Record | Broken | PassedOver]"


class BrokenStream(Exception):
    """A stream cannot be read to the end. The message is the reason of a Broken."""


def extra(what: str, *modules: str) -> Any:
    """Return the first of *modules* that is installed. Raises KindError with the name of the extra."""
    for module in modules:
        try:
            return import_module(module)
        except ImportError:
            continue
    raise KindError(f"{what} needs {modules[-1]}: pip install 'scrapy-simhash[files]'")
