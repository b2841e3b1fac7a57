"""The settings of crawlers whose store is on a Redis Cluster. All lines but the last are all of ours."""

import os

from crawler.settings import *  # noqa: F403 - whatever does not follow is as for one spider

ADDONS = {"scrapy_simhash.Addon": 500}
# The default prefix has the spider's name in it: an index for each. 1,024 shards, the default, are for many sites.
SIMHASH_STORE = (
    f"{os.environ.get('REDIS_URL', 'redis+cluster://127.0.0.1:7000')}?prefix=harbour-lamp&shards=12"
)
SIMHASH_SCOPE = "domain"  # by which pages are in one shard or another

SIMHASH_SITE_LEARNING = False  # what is known of a host when a page comes depends on chance here
