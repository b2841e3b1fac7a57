"""Schedule: decide which known pages are due: ``SIMHASH_RECRAWL``."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from math import log
from typing import TYPE_CHECKING

from scrapy.utils.gz import gunzip, gzip_magic_number
from scrapy.utils.sitemap import Sitemap
from w3lib.url import safe_url_string

from scrapy_simhash.page.text import is_xml_feed
from scrapy_simhash.times import duration, parsed

if TYPE_CHECKING:
    from scrapy.http import Response

    from scrapy_simhash.store import History

#: Values that a rule may have instead of an age.
ALWAYS, AUTO, LASTMOD = "always", "auto", "lastmod"
#: Max seconds between two visits of a page by ``auto`` and ``lastmod``.
MAX_AGE = 30 * 86_400
#: Share of an age at which a page is due. At 1, the pages of a weekly crawl that begins early would wait a week.
_SLACK = 0.9


class Schedule:
    """The rules of a crawl: patterns of URLs, each with ``auto``, ``lastmod``, ``always`` or an age such as ``7d``.

    The first pattern that is found in the URL applies; a page without a matching pattern is always due.

    >>> from scrapy_simhash.store import History
    >>> schedule = Schedule([("/news/", "1h"), ("", "7d")])
    >>> visited = History(first_seen=0, last_visit=0)
    >>> schedule.is_due("https://example.com/news/1", visited, None, 3_600)
    True
    >>> schedule.is_due("https://example.com/about", visited, None, 3_600)
    False
    """

    def __init__(self, rules: Sequence[tuple[str, str]]) -> None:
        words = ALWAYS, AUTO, LASTMOD
        self._rules = [
            (re.compile(pattern), age, 0 if age in words else duration(age)) for pattern, age in rules
        ]
        #: Whether dates of sitemaps are needed.
        self.has_dates = any(age == LASTMOD for _, age in rules)

    def is_due(self, url: str, visits: History, lastmod: int | None, now: int) -> bool:
        """Return whether the page at *url*, with these *visits*, is due.

        *lastmod* is the time of the last change according to a sitemap, in seconds; None if unknown.
        """
        age = now - visits.last_visit
        word, least = next(
            ((word, least) for pattern, word, least in self._rules if pattern.search(url)), (ALWAYS, 0)
        )
        # If the last visit is in the future, the clock was wrong.
        if word == ALWAYS or age < 0:
            return True
        if word == LASTMOD:
            return lastmod is None or lastmod >= visits.last_visit or age >= _SLACK * MAX_AGE
        return age >= _SLACK * (min(interval(visits), MAX_AGE) if word == AUTO else least)


def interval(visits: History) -> float:
    """Return the seconds until the next visit, when the page has changed with a probability of one half.

    Several changes between two visits are seen as one, so the rate of change is estimated as in Cho and
    Garcia-Molina, "Estimating frequency of change" (2003), with a small bias even for few visits. The result is at
    most the time since the first visit: a page that never changed is visited after 1, 2, 4 and 8 days.

    >>> from scrapy_simhash.store import History
    >>> hour, day = 3_600, 86_400
    >>> interval(History(0, 0)), interval(History(0, 10 * day, visits=11)) / day
    (0.0, 10.0)
    >>> round(interval(History(0, 10 * day, visits=11, changes=10)) / hour, 1)
    5.5
    """
    known, again = visits.last_visit - visits.first_seen, visits.visits - 1
    if again < 1 or known <= 0:
        return 0.0
    changes = min(visits.changes, again)
    if not changes:
        return float(known)
    rate = -log((again - changes + 0.5) / (again + 0.5)) * again / known
    return min(log(2) / rate, float(known))


#: A year, a month or a day in ISO 8601: 2026, 2026-11, 2026-11-27, 20261127.
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?|(\d\d)(\d\d))?", re.ASCII)
#: Start of 1990. Web pages did not exist before, so an earlier time is a default or an error.
_EARLIEST = 631_152_000


def moment(lastmod: object) -> int | None:
    """Return the latest second that *lastmod* of a sitemap can mean; None if it is not a time since 1990.

    >>> moment("2026-11-27"), moment("2026-11-27T00:00:00Z"), moment("2026") == moment("2026-12-31")
    (1795823999, 1795737600, True)
    >>> moment("yesterday"), moment("0"), moment("202611")
    (None, None, None)
    """
    try:
        if isinstance(lastmod, str) and (date := _DATE.fullmatch(lastmod.strip())) is not None:
            year, month = int(date[1]), int(date[2] or date[4] or 12)
            day = int(date[3] or date[5] or monthrange(year, month)[1])
            seconds = int(datetime(year, month, day, 23, 59, 59, tzinfo=timezone.utc).timestamp())
        else:
            seconds = parsed(lastmod)
    except ValueError:
        return None
    return seconds if seconds >= _EARLIEST else None


def sitemap_dates(response: Response, max_size: int) -> dict[str, int]:
    """Return the dates in a sitemap by URL; empty for other content, or for more than *max_size* unpacked bytes."""
    body, dates = response.body, {}
    # A sitemap may be damaged in many ways, and the spider may still use it.
    with suppress(Exception):
        if gzip_magic_number(response):
            body = gunzip(body, max_size=response.meta.get("download_maxsize", max_size))
        if is_xml_feed(body) and b"lastmod" in body:
            for entry in Sitemap(body):
                seconds = moment(entry.get("lastmod"))
                if seconds is not None:
                    # Escaped as in a Request.
                    dates[safe_url_string(entry["loc"])] = seconds
    return dates
