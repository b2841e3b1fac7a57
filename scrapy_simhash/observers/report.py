"""Report: a line of JSON for every page, with what was concluded and what was done: ``SIMHASH_REPORT``."""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from scrapy_simhash import names
from scrapy_simhash.crawling import stats_of
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.times import written

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_simhash.action import Action
    from scrapy_simhash.judge.policy import Exemption
    from scrapy_simhash.verdict import NearMiss, Verdict

logger = logging.getLogger(__name__)

#: The keys of a line, in their order; docs/reference/report.rst describes them, and a test compares.
KEYS = (
    "url",
    "status",
    "reason",
    "duplicate_of",
    "distance",
    "similarity",
    "exact",
    "cluster",
    "rank",
    "hints",
    "elsewhere",
    "preferred",
    "by_learning",
    "threshold",
    "decided_by",
    "required",
    "near_miss",
    "action",
    "exemption",
    "last_seen",
    "http_status",
    "depth",
    "referer",
    "time",
)
_PLACEHOLDER = re.compile(r"%(?:(?P<percent>%)|\((?P<name>\w+)\)s|)")


class Report:
    """A file of lines that grows while the crawl runs. Once that runs, nothing that goes wrong here is raised."""

    def __init__(
        self,
        path: str | Path,
        *,
        appends: bool = False,
        on_error: Callable[[], object] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Make sure that the file at *path* can be written, and leave what it holds as it is.

        It is written anew when it begins, or appended to with *appends*; missing folders are made. *on_error* is
        called for each line that could not be written. *clock* gives the time of a line, in seconds of Unix time.

        Raises SettingError if the file cannot be written.
        """
        self.path = Path(path)
        self._appends = appends
        self._on_error = on_error
        self._clock = clock
        self._file: BinaryIO | None = None
        self._is_torn = False
        self._has_failed = False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # A pipe or a terminal is not tried: its reader would take that for the end.
            if self.path.is_dir() or not self.path.exists() or self.path.is_file():
                self.path.open("ab").close()
        except (OSError, ValueError) as error:
            raise SettingError(
                f"SIMHASH_REPORT must be a file that can be written, got {str(path)!r}:"
                f" {getattr(error, 'strerror', None) or error}"
            ) from error

    @classmethod
    def of(cls, crawler: Crawler, template: str) -> Self:
        """Return the report of *crawler*, at the path that SIMHASH_REPORT means by *template*.

        To be called while components are built, when a SettingError still stops the crawl.
        """
        return cls(
            own_path(template, crawler, "SIMHASH_REPORT"),
            appends=bool(crawler.settings.get("JOBDIR")),
            on_error=lambda: stats_of(crawler).inc_value(names.STAT_REPORT_ERRORS),
        )

    def spider_opened(self, spider: Spider | None = None) -> None:
        """Empty the file, or go to its end; what a kill has left there of a line stays, and becomes a line."""
        self._attempt(self._begin)

    def write(self, verdict: Verdict, **about: Any) -> None:
        """Write the line of a page, so that whoever reads the file has it at once; see `line_of`."""
        self._attempt(lambda: self._write(line_of(verdict, seconds=int(self._clock()), **about)))

    def spider_closed(self, spider: Spider | None = None, reason: str = "") -> None:
        """Close the file. What is written afterwards goes to its end."""
        file, self._file = self._file, None
        self._appends = True
        if file is not None:
            self._attempt(file.close)

    def _begin(self) -> None:
        if not self.path.exists() or self.path.is_file():
            if not self._appends:
                self.path.open("wb").close()
            self._is_torn = _ends_within_a_line(self.path)
        # Line after line at its end, also if somebody else writes there; and none of it waits in a buffer.
        self._file = self.path.open("ab", buffering=0)

    def _write(self, page: dict[str, Any]) -> None:
        if self._file is None:
            self._begin()
        # All of it ASCII: a URL may hold what no encoding has.
        line = json.dumps(page).encode("ascii") + b"\n"
        left = memoryview(b"\n" + line if self._is_torn else line)
        self._is_torn = True
        while left:
            count = self._file.write(left) if self._file else None
            if count is None:
                raise BlockingIOError("the reader of the pipe is too slow")
            left = left[count:]
        self._is_torn = False

    def _attempt(self, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception as error:
            if self._on_error is not None:
                self._on_error()
            if not self._has_failed:
                self._has_failed = True
                logger.warning(
                    "Cannot write the report %(path)s: %(error)s. The crawl continues; missing lines are"
                    " counted in the stat %(stat)s",
                    {"path": self.path, "error": error, "stat": names.STAT_REPORT_ERRORS},
                )


def line_of(
    verdict: Verdict,
    *,
    url: str,
    seconds: int,
    preferred: str | None = None,
    action: Action | None = None,
    exemption: Exemption | None = None,
    http_status: int | None = None,
    depth: int | None = None,
    referer: str | bytes | None = None,
) -> dict[str, Any]:
    """Return the line of the page at *url*, compared at *seconds* of Unix time, with KEYS in their order."""
    facts = {
        **verdict.to_dict(),
        "url": url,
        "hints": list(verdict.hints),
        "near_miss": verdict.near_miss and _rounded(verdict.near_miss),
        "preferred": preferred,
        "action": None if action is None else str(action),
        "exemption": exemption and exemption.value,
        "http_status": http_status,
        "depth": depth,
        "referer": referer.decode("latin-1") if isinstance(referer, bytes) else referer,
        "time": written(seconds),
    }
    return {key: facts[key] for key in KEYS}


def _rounded(miss: NearMiss) -> dict[str, object]:
    return {**miss._asdict(), "similarity": round(miss.similarity, 3), "required": round(miss.required, 3)}


def own_path(template: str, crawler: Crawler, setting: str) -> Path:
    """Return the path that *setting* means by *template*. Raises SettingError if the crawl writes there already.

    Looked at are the feeds, the log, and the files of the settings here.
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
        # The number of a batch, or what is wrong and will be told when it is opened.
        with suppress(OSError, RuntimeError, ValueError):
            # Several may write to a pipe or a terminal.
            is_file = path.is_file() or not path.exists()
            if is_file and path_of(str(other), spider, name).resolve() == path.resolve():
                break
    else:
        return path
    raise SettingError(f"{setting} must be a file of its own, got {str(path)!r}, where {name} writes")


def path_of(template: str, spider: object, setting: str, now: datetime | None = None) -> Path:
    """Return the path that *setting* means by *template*: with the attributes of *spider* in it, as feeds have them.

    ``%(time)s`` is *now*, when the crawl begins. ``~`` is the user's own folder. Raises SettingError for anything
    else behind a %.

    >>> from types import SimpleNamespace
    >>> path_of("out/%(name)s-100%%.jsonl", SimpleNamespace(name="news"), "SIMHASH_REPORT").as_posix()
    'out/news-100%.jsonl'
    """

    def value(match: re.Match[str]) -> str:
        if match["percent"]:
            return "%"
        if match["name"] == "time":
            moment = (now or datetime.now(timezone.utc)).replace(microsecond=0)
            # As Scrapy writes it for feeds: a colon cannot be part of a name on Windows.
            return moment.isoformat().replace(":", "-")
        if match["name"] is None or not hasattr(spider, match["name"]):
            raise SettingError(
                f"{setting} must not contain % except in %(name)s, %(time)s and the like, and %%,"
                f" got {template!r}"
            )
        return str(getattr(spider, match["name"]))

    path = Path(_PLACEHOLDER.sub(value, template))
    with suppress(RuntimeError):  # nobody knows where that is
        path = path.expanduser()
    return path


def _ends_within_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
