"""Pages for the tests of inputs, and the results of reading a file as plain values."""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from pathlib import Path

from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.records import Broken, Fields, Record, read
from scrapy_simhash.files.records.opening import CODECS

URL = "https://example.com"
FERRY = "<!doctype html><html><head><title>Ferry</title></head><body><p>The ferry left at noon.</body></html>"
#: A page in KOI8-R, a Russian encoding that the page does not declare.
PILOT = "<html><body><p>Лоцман знает все мели.</body></html>".encode("koi8-r")
#: Three megabytes of text, compressed to three kilobytes.
LONG = "<!doctype html><html><body>" + "<p>The fog lay over the river." * 100_000


def found(*paths: Path | str, fields: Fields = Fields()) -> list[Record | Broken]:  # noqa: B008
    return list(read([str(path) for path in paths], fields))


def pages(*paths: Path | str) -> list[tuple[str, str | bytes]]:
    """Return all URLs and pages, and fail if a record is broken."""
    records = found(*paths)
    assert [one for one in records if isinstance(one, Broken)] == []
    return [(one.url, one.page) for one in records if isinstance(one, Record)]


def reasons(path: Path | str) -> list[str]:
    """Return the error message for a file, without its name."""
    return [
        f"{one.place.removeprefix(str(path))} {one.reason}" for one in found(path) if isinstance(one, Broken)
    ]


def passed_over(path: Path | str) -> Counter[str]:
    records = read([str(path)])
    list(records)
    return records.passed_over


def packed(ending: str, content: bytes) -> bytes:
    target = BytesIO()
    with CODECS[ending](target, "wb") as stream:
        stream.write(content)
    return target.getvalue()


def endings() -> list[str]:
    """Return the endings of compressed files whose packages are installed."""
    made = []
    for ending in CODECS:
        try:
            packed(ending, b"")
        except KindError:
            continue
        made.append(ending)
    return made
