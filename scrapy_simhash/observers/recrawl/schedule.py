"""Schedule: which known pages need not be asked for yet: ``SIMHASH_RECRAWL``."""

from __future__ import annotations

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from enum import Enum
from math import log
from typing import TYPE_CHECKING

from scrapy.utils.gz import gunzip, gzip_magic_number
from scrapy.utils.sitemap import Sitemap
from w3lib.url import safe_url_string

from scrapy_simhash.observers.recrawl.answers import Answer
from scrapy_simhash.page.text import is_xml_feed
from scrapy_simhash.times import duration, parsed

if TYPE_CHECKING:
    from scrapy.http import Response

#: What a rule may say beside an age.
ALWAYS, AUTO, LASTMOD = "always", "auto", "lastmod"


class NotDue(Enum):
    """Why a page is not asked for."""

    AGE = "age"
    AUTO = "auto"
    LASTMOD = "lastmod"
    BUDGET = "budget"


class Schedule:
    """Tells of known pages whether they are due.

    *rules* are patterns of URLs and what holds for them: an age such as ``7d``, or one of the words. The first whose
    pattern is found in the URL holds; a page of none is always due. A page that is *max_age* seconds old is due in
    any case, 0 for never; of a host at most *budget* known pages are asked for beside these, 0 for no limit.

    >>> schedule = Schedule([("/news/", "1h"), ("", "7d")], 0, 0)
    >>> answer = Answer(use=0, since=0)
    >>> schedule.not_due("https://example.com/news/1", "example.com", 0, answer, None, 3_600)
    >>> schedule.not_due("https://example.com/about", "example.com", 0, answer, None, 3_600)
    <NotDue.AGE: 'age'>
    """

    def __init__(self, rules: Sequence[tuple[str, str]], max_age: int, budget: int) -> None:
        self._rules = [
            (re.compile(pattern), word, 0 if word in (ALWAYS, AUTO, LASTMOD) else duration(word))
            for pattern, word in rules
        ]
        self._max_age = max_age
        self._budget = budget
        self._asked: Counter[str] = Counter()

    def not_due(
        self, url: str, site: str, seen: int, answer: Answer, lastmod: object, now: int
    ) -> NotDue | None:
        """Return why the page at *url*, visited last at *seen*, is not to be asked for; None if it is due.

        *lastmod* is when it was changed, by a sitemap, None if nobody knows. Counts what is due for the budget of
        *site*.
        """
        age = now - seen
        if self._max_age and age >= self._max_age:
            return None
        for pattern, word, least in self._rules:
            if pattern.search(url):
                if word == AUTO:
                    reason = None if age >= interval(answer, seen) else NotDue.AUTO
                elif word == LASTMOD:
                    changed = moment(lastmod)
                    reason = None if changed is None or changed > seen else NotDue.LASTMOD
                else:
                    reason = None if age >= least else NotDue.AGE
                break
        else:
            reason = None
        if reason is None and self._budget:
            self._asked[site] += 1
            if self._asked[site] > self._budget:
                reason = NotDue.BUDGET
        return reason


def interval(answer: Answer, seen: int) -> float:
    """Return after how many seconds a page should be visited again that was visited last at *seen*.

    By the rate of its changes: until the chance is one half that it has changed. More than one change between two
    visits is seen as one, so the rate is that of Cho and Garcia-Molina, "Estimating frequency of change" (2003),
    whose bias is small also for few visits. At most as long as the page has been known: one that never changed is
    visited after 1, 2, 4, 8 days.

    >>> hour, day = 3_600, 86_400
    >>> interval(Answer(0, since=0, visits=1), 0), interval(Answer(0, since=0, visits=11), 10 * day) / day
    (0.0, 10.0)
    >>> round(interval(Answer(0, since=0, visits=11, changes=10), 10 * day) / hour, 1)
    5.5
    """
    known, again = seen - answer.since, answer.visits - 1
    if again < 1 or known <= 0:
        return 0.0
    changes = min(answer.changes, again)
    if not changes:
        return float(known)
    rate = -log((again - changes + 0.5) / (again + 0.5)) * again / known
    return min(log(2) / rate, float(known))


#: A year, a month or a day, by ISO 8601: 2026, 2026-11, 2026-11-27, 20261127.
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?|(\d\d)(\d\d))?", re.ASCII)
#: The second in which 1990 begins. There was no web before, so an earlier time is a default or a fault.
_EARLIEST = 631_152_000


def moment(lastmod: object) -> int | None:
    """Return the latest second that *lastmod* of a sitemap can mean, None if it is no time since 1990.

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


def sitemap_dates(response: Response, max_size: int) -> dict[str, str]:
    """Return the dates in a sitemap by URL; empty for what is none, or is unpacked larger than *max_size*."""
    body = response.body
    try:
        if gzip_magic_number(response):
            body = gunzip(body, max_size=response.meta.get("download_maxsize", max_size))
        if not is_xml_feed(body) or b"lastmod" not in body:
            return {}
        dates = {}
        for entry in Sitemap(body):
            if entry.get("lastmod"):
                with suppress(ValueError):
                    # As a Request escapes its URL.
                    dates[safe_url_string(entry["loc"])] = entry["lastmod"]
        return dates
    # What a spider loads may be damaged in many ways, and the spider may want it nevertheless.
    except Exception:
        return {}
