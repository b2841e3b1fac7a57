"""The limits that the page about hostile sites tells are those of the code."""

from __future__ import annotations

import re

from scrapy_simhash import Config
from scrapy_simhash.crawl.downloader_middleware import BUDGET
from scrapy_simhash.crawl.flood_notices import LARGEST_TOLD
from scrapy_simhash.crawl.items.fields import LARGEST
from scrapy_simhash.judge.clusters import MAX_CLUSTERS
from scrapy_simhash.judge.hints.markup import (
    MAX_IN_BODY,
    MAX_IN_HEAD,
    MAX_LINK_CHARACTERS,
    MAX_LINKS,
    MAX_PARAMETERS,
)
from scrapy_simhash.judge.hints.page_kind import MAX_NODES
from scrapy_simhash.judge.hints.urls import MAX_ADDRESS
from scrapy_simhash.observers.floods.kinds import MOST_ELEMENTS
from scrapy_simhash.page.structured import MAX_ELEMENTS, MAX_ITEMS, MAX_SCRIPT, MAX_SCRIPTS, MAX_THINGS
from tests.docs.reader import DOCS, words

PAGE = (DOCS / "how-to" / "hostile-sites.rst").read_text("utf-8")


def test_the_limits_of_a_page_are_those_of_the_code() -> None:
    table = PAGE.partition(":name: limits-of-a-page")[2].partition("The stat")[0]
    told = [int(number.replace(",", "")) for number in re.findall(r"\* - ([\d,]+)\n", table)]
    assert told == [
        Config().maxsize,
        Config().thread_size,
        MAX_IN_HEAD,
        MAX_LINKS,
        MAX_LINK_CHARACTERS,
        MAX_PARAMETERS,
        MAX_ADDRESS,
        MAX_IN_BODY,
        MAX_NODES,
        MAX_SCRIPT,
        MAX_SCRIPTS,
        MAX_THINGS,
        MAX_ELEMENTS,
        MAX_ITEMS,
        MOST_ELEMENTS,
        LARGEST_TOLD,
        LARGEST,
    ]


def test_the_budget_and_the_clusters_are_told() -> None:
    assert f"more than {BUDGET * 1000:.0f} ms of the event loop" in words(PAGE)
    assert f"one container, at most {MAX_CLUSTERS:,}" in words(PAGE)
