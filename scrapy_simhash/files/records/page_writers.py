"""Writers of pages as they came: HTML files in a folder or a zip archive, and records of WARC."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import IO, Any, TypeAlias
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

from scrapy_simhash.exceptions import KindError, failing
from scrapy_simhash.files.records.folder import PageFile
from scrapy_simhash.files.records.http import WarcRecord, headers_of
from scrapy_simhash.files.records.record import Record
from scrapy_simhash.times import written

#: Fields that are added to a record, and which types their values have, if they are not None: str, int, float, bool.
Marks: TypeAlias = "Mapping[str, type]"
Values: TypeAlias = "Mapping[str, str | int | float | bool | None]"


#: The file with the marks: a line for each page, with its name as ``file``.
MARKS = "verdicts.jsonl"
#: Bytes of a name that every system takes, with room for a number.
_LONGEST = 200
#: What no system takes in a name, and what Windows does not; wget writes it so, too.
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*]' if sys.platform == "win32" else r"[\x00-\x1f\x7f]")


class _Names:
    """The names of pages in a folder: where they lay, or made of their URLs as wget does; each once."""

    def __init__(self) -> None:
        #: What is taken, in lower case as for systems that tell no capitals, and all folders above.
        self._files: set[str] = {MARKS}
        self._folders: set[str] = set()

    def of(self, record: Record) -> str:
        if record.is_text:
            raise KindError(
                f"{record.place}: text, and no HTML, cannot be a file of HTML: write JSON Lines instead"
            )
        wanted = record.source.path if isinstance(record.source, PageFile) else _of_url(record.url)
        parts = [_safe(part) for part in wanted.split("/") if part not in ("", ".", "..")] or ["index.html"]
        folder = ""
        for part in parts[:-1]:
            folder = _free(folder + part, self._files) + "/"
            self._folders.add(folder[:-1].lower())
        name = _free(folder + parts[-1], self._files, self._folders)
        self._files.add(name.lower())
        return name


def _free(name: str, *taken: Set[str]) -> str:
    """Return *name*, or where it is *taken* the next one with a number."""
    path = PurePosixPath(name)
    number = 1
    while any(name.lower() in names for names in taken):
        number += 1
        name = path.with_name(f"{path.stem}~{number}{path.suffix}").as_posix()
    return name


class FolderWriter:
    """Writes a file for each page; some 150 bytes of memory for each, for its name."""

    def __init__(self, folder: Path, marks: Marks | None) -> None:
        self._folder = folder
        self._names = _Names()
        with failing(f"write {folder}"):
            self._marks = (folder / MARKS).open("wb") if marks is not None else None

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write a file."""
        name = self._names.of(record)
        path = self._folder / name
        with failing(f"write {path}"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(bytes_of(record))
            if self._marks is not None:
                self._marks.write(_line(name, record, marks))

    def close(self) -> None:
        """Close the file of the marks."""
        self.end()

    def end(self) -> None:
        """Close the file of the marks, after an error too."""
        if self._marks is not None:
            self._marks.close()


class ZipWriter:
    """Writes a member for each page; the marks, which come last, wait in memory."""

    def __init__(self, stream: IO[bytes], marks: Marks | None) -> None:
        self._zip = zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED)
        self._names = _Names()
        self._marks: list[bytes] | None = None if marks is None else []

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write a member."""
        name = self._names.of(record)
        # Without the time of now, so that the same records are the same bytes.
        self._add(name, bytes_of(record))
        if self._marks is not None:
            self._marks.append(_line(name, record, marks))

    def close(self) -> None:
        """Write the marks, and the list of names."""
        if self._marks is not None:
            self._add(MARKS, b"".join(self._marks))
        self._zip.close()

    def end(self) -> None:
        """Let go of the stream, after an error too: else the garbage collector would write to it."""
        with suppress(Exception):
            self._zip.close()

    def _add(self, name: str, content: bytes) -> None:
        info = zipfile.ZipInfo(name)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = 0o644 << 16
        self._zip.writestr(info, content)


def _of_url(url: str) -> str:
    """Return a name for the page of *url* from which its URL can be told again.

    >>> _of_url("https://example.com/a?b=1"), _of_url("https://example.com/a/")
    ('https/example.com/a?b=1', 'https/example.com/a/index.html')
    """
    try:
        parts = urlsplit(url)
        host = parts.netloc
    except ValueError:
        return _digest(url)
    path = parts.path.lstrip("/")
    path += "index.html" if not path or path.endswith("/") else ""
    return f"{parts.scheme}/{host or 'no-host'}/{path}{'?' + parts.query if parts.query else ''}"


def _safe(part: str) -> str:
    part = _FORBIDDEN.sub("_", part).replace("\\", "_").rstrip(" .") or "_"
    if len(part.encode("utf-8", "replace")) <= _LONGEST:
        return part
    return f"{part[:60]}-{_digest(part)}"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _line(name: str, record: Record, marks: Values | None) -> bytes:
    return json.dumps({"file": name, "url": record.url, **(marks or {})}).encode("ascii") + b"\n"


class WarcWriter:
    """Writes each record as a piece of its own, compressed by itself, and its marks as a metadata record after it."""

    def __init__(self, stream: IO[bytes], marks: Marks | None, compress: Callable[[Any], Any] | None) -> None:
        self._stream = stream
        self._compress = compress

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write a record."""
        made = record.source if isinstance(record.source, WarcRecord) else _made(record)
        self._append(made)
        if marks is not None:
            self._append(_metadata(record.url, made, marks))

    def close(self) -> None:
        """Nothing is left to be written."""

    def _append(self, record: WarcRecord) -> None:
        piece = b"".join((record.header, record.block, b"\r\n\r\n"))
        if self._compress is None:
            self._stream.write(piece)
            return
        with self._compress(self._stream) as stream:
            stream.write(piece)


def _made(record: Record) -> WarcRecord:
    """Return a record of an archive for one that came from elsewhere; the same for the same page."""
    page = bytes_of(record)
    seen = record.seen or 0
    if record.is_text:
        return _record("conversion", record.url, seen, "text/plain", page.removeprefix(b"\xef\xbb\xbf"))
    headers = {
        "Content-Type": record.content_type or "text/html",
        "Content-Language": record.content_language,
    }
    lines = [f"{name}: {_one_line(value)}" for name, value in headers.items() if value]
    answer = "\r\n".join(["HTTP/1.1 200 OK", *lines, f"Content-Length: {len(page)}", "", ""])
    block = answer.encode("latin-1", "replace") + page
    return _record("response", record.url, seen, "application/http; msgtype=response", block)


def _metadata(url: str, about: WarcRecord, marks: Values) -> WarcRecord:
    """Return the record of the verdict on the page in *about*."""
    values = ((name, _shown(value)) for name, value in marks.items() if value is not None)
    block = "".join(f"{name}: {value}\r\n" for name, value in values).encode()
    fields = headers_of(about.header.partition(b"\n")[2])
    refers = {"WARC-Refers-To": fields["warc-record-id"]} if "warc-record-id" in fields else {}
    date = {"WARC-Date": fields["warc-date"]} if "warc-date" in fields else {}
    return _record("metadata", url, 0, "application/warc-fields", block, {**refers, **date})


def _record(
    kind: str, url: str, seen: int, media: str, block: bytes, more: Mapping[str, str] = MappingProxyType({})
) -> WarcRecord:
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid5(NAMESPACE_URL, f'{kind} {seen} {len(block)} {url}')}>",
        "WARC-Target-URI": _one_line(url),
        # A date there must be.
        "WARC-Date": str(written(seen)),
        **more,
        "Content-Type": media,
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return WarcRecord(f"WARC/1.1\r\n{lines}\r\n".encode(), block)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else _one_line(str(value))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def bytes_of(record: Record) -> bytes:
    """Return the page of *record* as a file that is decoded to the same text."""
    if isinstance(record.page, bytes):
        return record.page
    # The mark at the beginning decides, whatever encoding the page says it has.
    return b"\xef\xbb\xbf" + record.page.encode("utf-8", "replace")
