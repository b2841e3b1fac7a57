"""Scrapy's HTTP cache, a folder: its pages in the order in which they were fetched.

Scrapy keeps them pickled. A pickle from elsewhere can run any code when it is read in the usual way; here it can hold
nothing but plain values.
"""

from __future__ import annotations

import gzip
import io
import os
import pickle
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from scrapy_simhash.files.records.http import Answer, headers_of, page_of
from scrapy_simhash.files.records.record import Broken, PassedOver, Record
from scrapy_simhash.files.records.source import LIMIT, TOO_LARGE

#: The file of each page that is looked at first.
META = "pickled_meta"
_HEX = re.compile(r"[0-9a-f]{2,64}")
#: What Scrapy says of a body that is not complete.
_INCOMPLETE = ("dataloss", "download_stopped")


class CacheEntry(NamedTuple):
    """Under which key a cache had a page."""

    key: str


def is_cache(folder: str) -> bool:
    """Tell whether *folder* is the cache of a spider: ``3f/3f9a.../pickled_meta`` in there."""
    path = Path(folder)
    try:
        for _ in range(2):
            with os.scandir(path) as entries:
                inner = next((entry for entry in entries if _is_hex_folder(entry)), None)
            if inner is None:
                return False
            path = Path(inner.path)
    except OSError:
        return False
    return (path / META).is_file() and len(path.name) >= 32


def _is_hex_folder(entry: os.DirEntry[str]) -> bool:
    return _HEX.fullmatch(entry.name) is not None and entry.is_dir()


def cached_pages(folder: str) -> Iterator[Record | Broken | PassedOver]:
    """Yield the pages of the cache of a spider that is a folder. Some 200 bytes of memory for each, for the order."""
    entries: list[tuple[float, str]] = []
    for entry in _entries(folder):
        try:
            meta = _plain(_content(entry / META))
            entries.append((float(meta["timestamp"]), str(entry)))
        except (OSError, KeyError, TypeError, ValueError) as error:
            yield Broken(str(entry), f"the entry of the cache is damaged: {error}")
    entries.sort()
    for time, path in entries:
        entry = Path(path)
        try:
            meta = _plain(_content(entry / META))
            headers = headers_of(_content(entry / "response_headers"))
            more = entry / "response_data"
            data = _plain(_content(more)) if more.exists() else {}
            answer = Answer(
                str(meta["response_url"]), int(meta["status"]), headers, _content(entry / "response_body")
            )
        except (OSError, KeyError, TypeError, ValueError) as error:
            yield Broken(path, f"the entry of the cache is damaged: {error}")
            continue
        yield _page(path, answer, data, time, entry.name)


def _entries(folder: str) -> Iterator[Path]:
    for group in sorted(Path(folder).iterdir()):
        if _HEX.fullmatch(group.name) and group.is_dir():
            yield from (entry for entry in sorted(group.iterdir()) if _HEX.fullmatch(entry.name))


def _page(
    place: str, answer: Answer, data: Mapping[str, Any], time: float, key: str
) -> Record | Broken | PassedOver:
    if len(answer.body) > LIMIT:
        return Broken(place, TOO_LARGE)
    if any(flag in _INCOMPLETE for flag in data.get("flags") or ()):
        return PassedOver(place, "truncated")
    return page_of(place, answer, int(time), CacheEntry(key))


class _Unreadable(ValueError):
    """A file of a cache that says nothing; the message is the reason."""


def _content(path: Path) -> bytes:
    """Return what a file of the cache has, which is compressed or not."""
    with path.open("rb") as file:
        content = file.read(LIMIT + 1)
    # The pages of some caches are compressed as their servers sent them: those are decoded by their headers.
    if path.name != "response_body" or _is_gzip(path.parent / META):
        return _unzipped(content)
    return content


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _unzipped(content: bytes) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.GzipFile(fileobj=io.BytesIO(content)).read(LIMIT + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise _Unreadable(f"the gzip data is damaged: {error}") from None


class _PlainOnly(pickle.Unpickler):
    """Reads numbers, texts, bytes, lists and dictionaries; what an IP address is left out."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "ipaddress" and name in ("IPv4Address", "IPv6Address"):
            return str
        raise _Unreadable(f"its pickle wants {module}.{name}")


def _plain(content: bytes) -> dict[str, Any]:
    try:
        value = _PlainOnly(io.BytesIO(content)).load()
    except _Unreadable:
        raise
    # Bytes that are no pickle can raise anything.
    except Exception as error:
        raise _Unreadable(f"no pickle: {error}") from None
    if not isinstance(value, dict):
        raise _Unreadable("its pickle is no dictionary")
    return value
