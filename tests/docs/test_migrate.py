"""The settings that the page for users of scrapy-redis names are those that scrapy-redis reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scrapy.settings import default_settings

from scrapy_simhash import Config
from tests.docs.reader import DOCS

scrapy_redis = pytest.importorskip("scrapy_redis")
PAGE = (DOCS / "migrate" / "scrapy-redis.rst").read_text("utf-8")


def test_the_settings_of_scrapy_redis_exist() -> None:
    sources = "\n".join(path.read_text("utf-8") for path in Path(scrapy_redis.__file__).parent.glob("*.py"))
    named = {name for name in re.findall(r"``([A-Z][A-Z_]+[A-Z])", PAGE) if not name.startswith("SIMHASH_")}
    assert len(named) > 5
    assert not [name for name in named if name not in sources and not hasattr(default_settings, name)]


def test_the_names_of_keys_are_the_defaults_of_both() -> None:
    theirs = scrapy_redis.defaults.SCHEDULER_DUPEFILTER_KEY
    assert f'SCHEDULER_DUPEFILTER_KEY = "{theirs}"' in PAGE
    assert f'SIMHASH_REDIS_PREFIX = "{Config().redis_prefix}"' in PAGE
