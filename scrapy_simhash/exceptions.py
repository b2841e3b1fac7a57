"""The errors of scrapy-simhash.

    SimhashError                  everything below
    └── SettingError              a setting or argument that breaks a rule   (also ValueError)

    NearDuplicate                 a page that SIMHASH_ACTION = "drop_page" dropped   (scrapy's IgnoreRequest)

:class:`~scrapy_simhash.spider_middleware.NearDuplicate` lives with the Scrapy edge: nothing here imports Scrapy.
"""

from __future__ import annotations


class SimhashError(Exception):
    """Base of all errors that scrapy-simhash raises on its own account."""


class SettingError(SimhashError, ValueError):
    """A setting whose value breaks a rule; the message names setting, rule and value."""
