"""Overview: what all pages of a crawl together say, counted one page at a time in limited memory. Knows no Scrapy."""

from scrapy_simhash.view.overview.difference import difference
from scrapy_simhash.view.overview.limits import FILE, LIVE, Limits
from scrapy_simhash.view.overview.overview import COUNTED, Overview

__all__ = ["COUNTED", "FILE", "LIVE", "Limits", "Overview", "difference"]
