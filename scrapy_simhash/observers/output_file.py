"""Output files of listeners: the path in a setting, the fields of a page, and lines of JSON."""

from __future__ import annotations

import json
import os
import re
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timezone
from io import RawIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from scrapy_simhash import names
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.times import written

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_simhash.crawling import Page

#: Max lines that are kept while the file cannot be written.
MAX_WAITING = 10_000
#: Bytes per read to find the end of the last line.
_CHUNK = 64 * 1024
_PLACEHOLDER = re.compile(r"%(?:(?P<percent>%)|\((?P<name>\w+)\)s|)")


class LineFile:
    """Appends lines of JSON to the file in a setting, unbuffered, so that readers get each line at once."""

    def __init__(self, path: Path, setting: str, *, may_be_pipe: bool = False) -> None:
        """Check that *path* can be written, without changing it; create missing folders.

        Raises SettingError if it cannot, and for a pipe or a terminal unless *may_be_pipe* is true.
        """
        self.path = path
        self._file: RawIOBase | None = None
        self._waiting: deque[bytes] = deque()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not (self._is_regular or may_be_pipe):
                raise OSError("is not a file")
            # Pipes and terminals are not tested, because the reader would see an end of file.
            if self._is_regular or path.is_dir():
                path.open("ab").close()
        except (OSError, ValueError) as error:
            raise SettingError(
                f"{setting} must be a file that can be written, got {str(path)!r}:"
                f" {getattr(error, 'strerror', None) or error}"
            ) from error

    @property
    def _is_regular(self) -> bool:
        return self.path.is_file() or not self.path.exists()

    def open(self, *, appends: bool = True) -> None:
        """Empty the file, or remove an incomplete last line of a killed crawl. Raises OSError."""
        if self._is_regular:
            with self.path.open("ab+") as file:
                file.truncate(_end_of_lines(file) if appends else 0)
        self._file = cast(RawIOBase, self.path.open("ab", buffering=0))

    def write(self, line: Mapping[str, Any]) -> None:
        """Append *line*. Raises OSError on failure; then the line is kept, and is written before the next line."""
        if len(self._waiting) < MAX_WAITING:
            # ASCII only, because a URL may contain characters that no encoding has.
            self._waiting.append(json.dumps(line).encode("ascii") + b"\n")
        if self._file is None:
            self.open()
        while self._waiting and self._file is not None:
            count = self._file.write(self._waiting[0])
            if count is None:
                raise BlockingIOError("the reader of the pipe is too slow")
            rest = self._waiting[0][count:]
            if rest:
                self._waiting[0] = rest
            else:
                self._waiting.popleft()

    def close(self) -> None:
        """Close the file. Later lines open it again. Raises OSError."""
        file, self._file = self._file, None
        if file is not None:
            file.close()


def _end_of_lines(file: IO[bytes]) -> int:
    """Return the position after the last line end of *file*."""
    end = file.seek(0, os.SEEK_END)
    while end:
        begin = max(end - _CHUNK, 0)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


def output_path(template: str, crawler: Crawler, setting: str) -> Path:
    """Return the path of *setting* from *template*. Raises SettingError if the crawl already writes there.

    Checks the feeds, the log, and the files of the other settings.
    """
    settings, spider = crawler.settings, crawler.spider or crawler.spidercls
    path = path_of(template, spider, setting)
    others = [("FEEDS", str(uri).removeprefix("file://")) for uri in settings.getdict("FEEDS")]
    others += [
        (name, settings[name])
        for name in ("LOG_FILE", "SIMHASH_REPORT", "SIMHASH_CHANGES")
        if settings[name] and name != setting
    ]
    for name, other in others:
        # The path has a batch number, or an error that Scrapy reports when it opens the feed.
        with suppress(OSError, RuntimeError, ValueError):
            # Pipes and terminals may have several writers.
            is_file = path.is_file() or not path.exists()
            if is_file and path_of(str(other), spider, name).resolve() == path.resolve():
                break
    else:
        return path
    raise SettingError(f"{setting} must be a separate file: {name} already writes to {str(path)!r}")


def path_of(template: str, spider: object, setting: str) -> Path:
    """Return *template*, the value of *setting*, as a path, with attributes of *spider* as in the URIs of feeds.

    ``%(time)s`` is the current time. ``~`` is the home directory. Raises SettingError for any other use of %.

    >>> from types import SimpleNamespace
    >>> path_of("out/%(name)s-100%%.jsonl", SimpleNamespace(name="news"), "SIMHASH_REPORT").as_posix()
    'out/news-100%.jsonl'
    """

    def value(match: re.Match[str]) -> str:
        if match["percent"]:
            return "%"
        if match["name"] == "time":
            moment = datetime.now(timezone.utc).replace(microsecond=0)
            # The format is that of Scrapy's feeds, without colons, which Windows does not allow in names.
            return moment.isoformat().replace(":", "-")
        if match["name"] is None or not hasattr(spider, match["name"]):
            raise SettingError(
                f"{setting} must not contain % except in %%, %(time)s, and %(...)s with an attribute of the spider,"
                f" got {template!r}"
            )
        return str(getattr(spider, match["name"]))

    path = Path(_PLACEHOLDER.sub(value, template))
    with suppress(RuntimeError):  # the user is unknown
        path = path.expanduser()
    return path


def line_of(page: Page) -> dict[str, Any]:
    """Return the line about *page*: its result, and data about the response."""
    request, response = page.request, page.response
    # This is called for every page, and is faster than Headers.get(), which normalises the name.
    referer: list[bytes] = dict.get(request.headers, b"Referer", [])
    return {
        "url": response.url,
        **request.meta[names.META_RESULT],
        "http_status": response.status,
        "depth": page.depth,
        "referer": referer[-1].decode("latin-1") if referer else None,
        "time": written(int(time.time())),
    }
