"""The settings of the example crawl. Your own project needs only the first three lines."""

ADDONS = {"scrapy_simhash.Addon": 500}
SIMHASH_ACTION = "mark"
SIMHASH_RESULT_FIELD = "near_duplicate"

BOT_NAME = "crawler"
SPIDER_MODULES = ["crawler.spiders"]
ROBOTSTXT_OBEY = True
# The site is on this machine, so no delay is needed.
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 8
# Crawls that start at the same time would use the same port.
TELNETCONSOLE_ENABLED = False
