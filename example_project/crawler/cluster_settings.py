"""The settings of crawlers whose store is on a Redis Cluster. All lines but the last two are all of ours."""

import os

from crawler.settings import *  # noqa: F403 - whatever does not follow is as for one spider

ADDONS = {"scrapy_simhash.Addon": 500}
SIMHASH_REDIS_URL = os.environ.get("SIMHASH_REDIS_URL", "redis+cluster://127.0.0.1:7000")
SIMHASH_REDIS_PREFIX = "harbour-lamp"  # the default has the spider's name in it: an index for each
SIMHASH_SCOPE = "domain"  # by which pages are in one shard or another

SIMHASH_REDIS_SHARDS = 12  # the default of 1,024 is for crawls of many sites
SIMHASH_SITE_LEARNING = False  # what is known of a host when a page comes depends on chance here
