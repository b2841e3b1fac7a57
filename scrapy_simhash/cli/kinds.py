"""Kinds of files, recognised by their first bytes, and the subcommand that reads each."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from scrapy_simhash.cli.streams import BYTE_ORDER_MARK, GZIP, Refused
from scrapy_simhash.exceptions import failing

STORE, EXPORT, REPORT = "a store", "an export of a store", "a report of a crawl"
PAGES, FOLDER, HTML, HASHES = "a file of pages", "a folder", "an HTML page", "a list of hashes"
#: The subcommand that reads each kind.
VERB: Mapping[str, str] = {
    STORE: "info",
    EXPORT: "import STORE",
    REPORT: "report",
    PAGES: "dedup",
    FOLDER: "dedup",
    HTML: "text",
    HASHES: "find",
}
#: Bytes of a file that are read to recognise its kind.
HEAD = 1 << 16
#: The first bytes of each kind: SQLite, WARC, Parquet and zip (for WACZ), then text.
_BEGINNINGS = {
    re.compile(rb"SQLite format 3\x00"): STORE,
    re.compile(rb"WARC/|PAR1|PK\x03\x04"): PAGES,
    re.compile(rb'\s*\{\s*"format"\s*:\s*"scrapy-simhash'): EXPORT,
    re.compile(rb"\s*\["): PAGES,
    re.compile(rb"\s*<"): HTML,
    re.compile(rb"\s*(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})[ \t]*(?:[\r\n]|$)"): HASHES,
}


def kind_of(path: Path) -> str | None:
    """Return the kind of the file or folder at *path*; None if it is unknown. Raises FileError."""
    if path.is_dir():
        return FOLDER
    with failing(f"read {path}"), path.open("rb") as file:
        return kind_of_head(file.read(HEAD))


def kind_of_head(head: bytes) -> str | None:
    """Return the kind of a file that begins with *head*, which may be gzip data; None if it is unknown.

    >>> kind_of_head(b'{"url": "https://example.com/", "html": ""}'), kind_of_head(b"<p>A ship")
    ('a file of pages', 'an HTML page')
    """
    if head.startswith(GZIP):
        try:
            head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, HEAD)
        except zlib.error:
            return None
    head = head.removeprefix(BYTE_ORDER_MARK)
    kind = next((kind for beginning, kind in _BEGINNINGS.items() if beginning.match(head)), None)
    if kind is None and head.lstrip().startswith(b"{"):
        return _kind_of_line(head.lstrip().partition(b"\n")[0])
    return kind


def _kind_of_line(line: bytes) -> str:
    """Return whether a file of JSON Lines is a report or has pages, judging by its first line."""
    # Imported here, because help does not need it.
    from scrapy_simhash.verdict import Status

    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        # The line is cut after HEAD bytes, because it contains the HTML of a page.
        return PAGES
    # Pages may also have a status, such as the HTTP status.
    is_report = "url" in fields and fields.get("status") in [status.value for status in Status]
    return REPORT if is_report else PAGES


def refusal(name: str, kind: str | None, wanted: str) -> Refused:
    """Return the error for the file *name*, whose *kind* differs from the *wanted* kind."""
    if kind is None:
        return Refused(f"{name} is not {wanted}")
    return Refused(f'{name} is {kind}, not {wanted}: run "scrapy-simhash {VERB[kind]} {name}"')


def check_pages(names: Iterable[str], *more: str) -> None:
    """Raise Refused if one of *names* is a local file of a kind without pages, unless the kind is in *more*."""
    for path in map(Path, names):
        kind = kind_of(path) if path.is_file() else None
        if kind in (STORE, EXPORT, REPORT, HASHES) and kind not in more:
            raise refusal(str(path), kind, PAGES)
