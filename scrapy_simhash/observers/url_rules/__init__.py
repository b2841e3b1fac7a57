"""Which URLs of a host bring nothing new: by what in them has no effect, and by their groups. Knows no Scrapy."""
