"""Building blocks of custom schemes for ``SIMHASH_SCHEME``."""

from scrapy_simhash.page.schemes import *  # noqa: F403
from scrapy_simhash.page.schemes import __all__ as __all__
