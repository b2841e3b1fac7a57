"""Which URLs of a host bring nothing new: by what in them has no effect, and by their groups. Knows no Scrapy."""

from scrapy_simhash.observers.url_rules.cut_url import groups

__all__ = ["groups"]
