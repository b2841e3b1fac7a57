"""Report: write a line of JSON for every page, with its verdict and action: ``SIMHASH_REPORT``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import signals

from scrapy_simhash import names
from scrapy_simhash.crawling import Listener, Once, stats_of
from scrapy_simhash.observers.output_file import LineFile, line_of, output_path

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_simhash.config import Config
    from scrapy_simhash.crawling import Page

logger = logging.getLogger(__name__)


class Report(Listener):
    """A file to which lines are appended during the crawl. Raises no errors once the crawl is running."""

    def __init__(self, crawler: Crawler, config: Config) -> None:
        """Check that the file of SIMHASH_REPORT can be written, without changing it.

        The file is emptied when the crawl begins, except with a JOBDIR; missing folders are created. Raises
        SettingError if the file cannot be written.
        """
        path = output_path(str(config.report), crawler, "SIMHASH_REPORT")
        self.file = LineFile(path, "SIMHASH_REPORT", may_be_pipe=True)
        self._appends = bool(crawler.settings.get("JOBDIR"))
        self._stats = stats_of(crawler)
        self._once = Once(crawler, logger)
        crawler.signals.connect(self.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)

    def spider_opened(self) -> None:
        """Empty the file, or move to the end of the file."""
        self._attempt(partial(self.file.open, appends=self._appends))

    def page_compared(self, page: Page) -> None:
        """Write the line of a page."""
        self.write(line_of(page))

    def write(self, line: Mapping[str, Any]) -> None:
        """Write the line of a page."""
        self._attempt(partial(self.file.write, line))

    def spider_closed(self) -> None:
        """Close the file. Later lines are appended."""
        self._attempt(self.file.close)

    def _attempt(self, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception as error:
            self._stats.inc_value(names.ERRORS_REPORT)
            self._once.warn(
                "exception",
                "Cannot write the report %(path)s: %(error)s. The crawl continues; lines are written later if"
                " possible, and failures are counted in the stat %(stat)s",
                {"path": self.file.path, "error": error, "stat": names.ERRORS_REPORT},
            )
