"""Report: a line of JSON for every page with its verdict and action: ``SIMHASH_REPORT``."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from scrapy import signals

from scrapy_simhash import names
from scrapy_simhash.crawling import Listener, Once, stats_of
from scrapy_simhash.observers.own_file import make_ready, own_path
from scrapy_simhash.times import written

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_simhash.config import Config
    from scrapy_simhash.crawling import Page

logger = logging.getLogger(__name__)


def line_of(page: Page) -> dict[str, Any]:
    """Return the line about *page*: its result and further facts."""
    request, response = page.request, page.response
    referer = request.headers.get(b"Referer")
    return {
        "url": response.url,
        **request.meta[names.META_RESULT],
        "http_status": response.status,
        "depth": page.depth,
        "referer": None if referer is None else referer.decode("latin-1"),
        "time": written(int(time.time())),
    }


class Report(Listener):
    """A file of lines that grows while the crawl runs. Raises no errors once the crawl runs."""

    def __init__(self, crawler: Crawler, config: Config) -> None:
        """Check that the file of SIMHASH_REPORT can be written, without changing it.

        The file is emptied when the crawl begins, or appended to with a JOBDIR; missing folders are created. Raises
        SettingError if the file cannot be written.
        """
        self.path = own_path(str(config.report), crawler, "SIMHASH_REPORT")
        self._appends = bool(crawler.settings.get("JOBDIR"))
        self._stats = stats_of(crawler)
        self._file: BinaryIO | None = None
        self._is_torn = False
        self._once = Once(crawler, logger)
        make_ready(self.path, "SIMHASH_REPORT", may_be_pipe=True)
        crawler.signals.connect(self.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)

    def spider_opened(self) -> None:
        """Empty the file, or go to its end; an incomplete last line after a kill gets a line end."""
        self._attempt(self._begin)

    def page_compared(self, page: Page) -> None:
        """Write the line of a page."""
        self.write(line_of(page))

    def write(self, line: Mapping[str, Any]) -> None:
        """Write the line of a page, unbuffered, so that readers of the file get it at once."""
        self._attempt(lambda: self._write(line))

    def spider_closed(self) -> None:
        """Close the file. Later lines are appended."""
        file, self._file = self._file, None
        self._appends = True
        if file is not None:
            self._attempt(file.close)

    def _begin(self) -> None:
        if not self.path.exists() or self.path.is_file():
            if not self._appends:
                self.path.open("wb").close()
            self._is_torn = _ends_within_a_line(self.path)
        # Append mode, so that lines of other writers are not overwritten; unbuffered.
        self._file = self.path.open("ab", buffering=0)

    def _write(self, page: Mapping[str, Any]) -> None:
        if self._file is None:
            self._begin()
        # ASCII only, since a URL may contain characters that no encoding has.
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
            self._stats.inc_value(names.ERRORS_REPORT)
            self._once.warn(
                "exception",
                "Cannot write the report %(path)s: %(error)s. The crawl continues; missing lines are counted in the"
                " stat %(stat)s",
                {"path": self.path, "error": error, "stat": names.ERRORS_REPORT},
            )


def _ends_within_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
