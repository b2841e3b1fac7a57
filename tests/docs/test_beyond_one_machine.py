"""The page "when one machine is not enough": its figures are those of the command that calculates them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("redis", reason="redis is not installed")
from scrapy_simhash import Config
from scrapy_simhash.cli.crawl_plan import MOST_CONTENTS, NEW_BYTES, CrawlPlan
from scrapy_simhash.cli.plan import NODE_BYTES, memory_as_text, parsed_number
from scrapy_simhash.index.plans.cost import CORES
from tests.docs.reader import DOCS
from tests.store.server import RedisServer

PAGE = (DOCS / "how-to" / "beyond-one-machine.rst").read_text("utf-8")


def test_the_table_of_crawls_is_made_by_the_plan() -> None:
    table = PAGE.partition(":name: plans-of-crawls")[2].partition("Each server has a replica")[0]
    cells = re.findall(r"\* - (.+)\n +- (.+)\n +- (.+)\n +- (.+)\n +- (.+)\n +- (.+)", table)[1:]
    assert len(cells) == 4
    for name, in_redis, servers, shards, of_all, of_active in cells:
        pages, scopes = map(parsed_number, name.split(", "))
        plan = CrawlPlan(pages, scopes, 4, Config.redis_scopes, 1.0, NODE_BYTES)
        figures = {figure.name: figure.value for figure in plan.figures(CORES["native"])}
        active = figures["index in each crawler, several servers, 1,000 scopes"]
        assert [in_redis, servers, shards, of_all, of_active] == [
            memory_as_text(plan.store_bytes),
            str(plan.nodes),
            f"{plan.shards:,}",
            memory_as_text(figures["index in each crawler, one server"]),
            memory_as_text(active),
        ]


def test_a_shard_is_as_large_as_the_page_says() -> None:
    (contents, megabytes) = re.findall(r"a shard has at most ([\d,]+) contents, or (\d+) MB", PAGE)[0]
    assert int(contents.replace(",", "")) == MOST_CONTENTS
    assert int(megabytes) * 1e6 == MOST_CONTENTS * NEW_BYTES


def test_the_nodes_take_the_configuration_of_the_page(tmp_path: Path) -> None:
    lines = re.search(r":caption: of redis.conf\n\n((?: +\S.*\n)+)", PAGE)
    assert lines is not None
    options: dict[str, Any] = dict(line.split() for line in lines[1].splitlines())
    with RedisServer(tmp_path, **{name.replace("-", "_"): value for name, value in options.items()}):
        pass
