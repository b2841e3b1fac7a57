"""Which keys make an exact search, and which serve at which size."""

from scrapy_simhash.index.plans.blocks import Block, partition
from scrapy_simhash.index.plans.covers import plans_for
from scrapy_simhash.index.plans.growth import choose, schedule
from scrapy_simhash.index.plans.plan import Plan
from scrapy_simhash.index.plans.probing_plan import ProbingPlan

__all__ = ["Block", "Plan", "ProbingPlan", "choose", "partition", "plans_for", "schedule"]
