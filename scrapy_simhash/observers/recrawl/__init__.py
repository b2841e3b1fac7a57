"""Recrawl: what is kept of a page's answer, so that the next crawl need not fetch it, or not in full."""

from scrapy_simhash.observers.recrawl.kept import packed, unpacked, use_of
from scrapy_simhash.observers.recrawl.schedule import LASTMOD, Answer, NotDue, Schedule
from scrapy_simhash.observers.recrawl.trust import Host, Trust, Trusts

__all__ = [
    "LASTMOD",
    "Answer",
    "Host",
    "NotDue",
    "Schedule",
    "Trust",
    "Trusts",
    "packed",
    "unpacked",
    "use_of",
]
