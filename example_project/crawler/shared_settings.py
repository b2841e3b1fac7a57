"""The settings of spiders that share one queue and one index. The first three lines are all of ours."""

import os

from crawler.settings import *  # noqa: F403 - whatever does not follow is as for one spider

ADDONS = {"scrapy_simhash.Addon": 500}
# The server that scrapy-redis uses. The default prefix has the spider's name in it: an index for each.
REDIS_URL = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
SIMHASH_STORE = f"{REDIS_URL}?prefix=harbour-lamp:simhash"
SIMHASH_SITE_LEARNING = False  # what is known of a host when a page comes depends on chance here

# scrapy-redis. Its keys, too, have the spider's name in them unless told otherwise.
SCHEDULER = "scrapy_redis.scheduler.Scheduler"
SCHEDULER_QUEUE_CLASS = "scrapy_redis.queue.FifoQueue"
SCHEDULER_QUEUE_KEY = "harbour-lamp:requests"
DUPEFILTER_CLASS = "scrapy_redis.dupefilter.RFPDupeFilter"
SCHEDULER_DUPEFILTER_KEY = "harbour-lamp:dupefilter"
SCHEDULER_PERSIST = True  # else the spider that ends first throws away what the other still needs
