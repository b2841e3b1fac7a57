"""What a site repeats on its pages, learned while they come: it is not what a page says."""

from scrapy_simhash.page.site.profile import SiteProfile
from scrapy_simhash.page.site.profiles import SiteProfiles

__all__ = ["SiteProfile", "SiteProfiles"]
