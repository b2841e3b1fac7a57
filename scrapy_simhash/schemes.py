"""Schemes of your own, and all that they can be made of: what ``SIMHASH_SCHEME`` may name beside the default."""

from scrapy_simhash.page.schemes import *  # noqa: F403
from scrapy_simhash.page.schemes import __all__ as __all__
