"""Writers of pages as files of HTML: into a folder, or a zip archive."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Set
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import urlsplit

from scrapy_simhash.exceptions import KindError
from scrapy_simhash.failing import failing
from scrapy_simhash.files.records.folder import PageFile
from scrapy_simhash.files.records.record import Record
from scrapy_simhash.files.records.writing.writer import Marks, Values, bytes_of

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
