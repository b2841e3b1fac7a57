"""Advice: the command that explains what the log says of a page, named once where it helps."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy_simhash.crawl.stats import stats_of
from scrapy_simhash.display import printable

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

PROGRAM = "scrapy-simhash"
#: Characters of a command; a URL may have thousands.
MOST = 500


class Advice:
    """Knows the report of a crawl, and the first page that repeats another one."""

    def __init__(self) -> None:
        #: Where the crawl writes its report, if it does.
        self.report: Path | None = None
        self._first: tuple[str, str] | None = None

    def note(self, url: str, original: str) -> None:
        """Take note that the page at *url* repeats the one at *original*."""
        if self._first is None:
            self._first = (url, original)

    def on_page(self, url: str, original: str | None) -> str | None:
        """Return the command that tells why the page at *url* is taken to repeat *original*, or to be unchanged."""
        if self.report is not None:
            return _command("report", str(self.report), "--url", url)
        return None if original is None else _command("compare", url, original)

    def on_crawl(self) -> str | None:
        """Return the command that tells which page repeats which; None if no page was found to repeat another."""
        if self._first is None:
            return None
        return self.on_page(*self._first) if self.report is None else _command("report", str(self.report))


def _command(*words: str) -> str | None:
    """Return a command for a shell, on one line whatever a site has put into its URLs; None if it is too long."""
    text = " ".join([PROGRAM, *(quote(printable(word)) for word in words)])
    return text if len(text) <= MOST else None


#: By the stats of a crawl, which end when it does.
_ADVICE: WeakKeyDictionary[StatsCollector, Advice] = WeakKeyDictionary()


def advice_of(crawler: Crawler) -> Advice:
    """Return the one of *crawler*, which its components share."""
    return _ADVICE.setdefault(stats_of(crawler), Advice())
