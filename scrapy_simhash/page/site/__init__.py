"""Boilerplate models: text that a site repeats on its pages, learned during the crawl."""

from scrapy_simhash.page.site.profile import SiteProfile
from scrapy_simhash.page.site.profiles import SiteProfiles

__all__ = ["SiteProfile", "SiteProfiles"]
