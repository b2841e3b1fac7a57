"""The settings of the example crawl. The first three lines are those your own project needs."""

ADDONS = {"scrapy_simhash.Addon": 500}
SIMHASH_ACTION = "mark"
SIMHASH_RESULT_FIELD = "near_duplicate"

BOT_NAME = "crawler"
SPIDER_MODULES = ["crawler.spiders"]
ROBOTSTXT_OBEY = True
# The site is on this machine: no need to be gentle with it.
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 8
# Crawls that begin at the same moment would ask for the same port.
TELNETCONSOLE_ENABLED = False
