"""plan --crawlers: what a crawl takes whose crawlers share a store in Redis."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scrapy_simhash.cli import main as cli
from scrapy_simhash.cli.crawl_plan import COPY_BYTES, NEW_BYTES, SITE_BYTES

Capture = pytest.CaptureFixture[str]


def plan(capsys: Capture, *arguments: str) -> dict[str, Any]:
    assert cli.main(["plan", "--crawlers", "4", "--json", *arguments]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer | {figure["name"]: figure["value"] for figure in answer["figures"]}


def test_a_small_crawl_has_one_server(capsys: Capture) -> None:
    told = plan(capsys, "--pages", "10M", "--index", "native")
    assert told["store in Redis"] == 10_000_000 * NEW_BYTES + SITE_BYTES
    assert told["servers, replicas not counted"] == 1
    assert told["advice"] == "one server holds it: SIMHASH_REDIS_URL names that"
    assert {figure["by"] for figure in told["figures"]} == {"measured", "model"}


def test_a_large_crawl_is_cut_by_scope_or_not_at_all(capsys: Capture) -> None:
    whole = plan(capsys, "--pages", "1000M")
    assert "give --scopes" in whole["advice"]
    cut = plan(capsys, "--pages", "1000M", "--scopes", "30k", "--index", "native")
    assert cut["advice"] == "a cluster holds it: 34 masters and their replicas, SIMHASH_REDIS_SHARDS = 4096"
    in_memory = cut["index in each crawler, several servers, 1,000 scopes"]
    assert in_memory < 0.05 * cut["index in each crawler, one server"]
    (search,) = (value for name, value in cut.items() if name.startswith("a search among"))
    (slow,) = (value for name, value in whole.items() if name.startswith("a search among"))
    assert search < slow / 1000


def test_a_scope_that_is_larger_than_a_server_is_told(capsys: Capture) -> None:
    too_few = plan(capsys, "--pages", "1000M", "--scopes", "33")
    assert too_few["servers, replicas not counted"] == 34
    assert too_few["advice"].startswith("a scope is on one server, which does not hold it")
    assert plan(capsys, "--pages", "1000M", "--scopes", "34")["advice"].startswith(
        "a cluster holds it: 34 masters"
    )


def test_copies_and_larger_servers_make_it_smaller(capsys: Capture) -> None:
    told = plan(capsys, "--pages", "1000M", "--scopes", "30k", "--new", "50", "--node-memory", "128G")
    pages = 500_000_000 * (NEW_BYTES + COPY_BYTES)
    assert told["store in Redis"] == pages + 30_000 * SITE_BYTES
    assert told["servers, replicas not counted"] == -(-2 * told["store in Redis"] // 128_000_000_000)


def test_the_active_scopes_are_no_more_than_there_are(capsys: Capture) -> None:
    assert plan(capsys, "--pages", "1M", "--scopes", "20")["active"] == 20
    assert plan(capsys, "--pages", "1M", "--scopes", "20", "--active", "5")["active"] == 5


@pytest.mark.parametrize("name", ["pages", "crawlers", "scopes", "active", "node-memory"])
def test_nothing_of_it_may_be_nothing(name: str, capsys: Capture) -> None:
    assert cli.main(["plan", "--pages", "1M", "--crawlers", "4", f"--{name}", "0"]) != 0
    assert f"--{name} must be at least 1" in capsys.readouterr().err


@pytest.mark.parametrize("percent", ["0", "101", "x"])
def test_of_a_hundred_pages_some_are_new(percent: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        cli.main(["plan", "--pages", "1M", "--crawlers", "4", "--new", percent])
    assert "must be a whole number from 1 to 100" in capsys.readouterr().err


def test_people_read_the_same(capsys: Capture) -> None:
    assert cli.main(["plan", "--pages", "1000M", "--crawlers", "4", "--scopes", "30k"]) == 0
    title, *lines, advice = capsys.readouterr().out.splitlines()
    assert title.startswith("1,000,000,000 pages in 30,000 scopes, 4 crawlers, 100 % new, ")
    assert lines[0].split() == ["store", "in", "Redis", "541", "GB", "measured"]
    assert all(line.endswith(("measured", "model")) for line in lines)
    assert advice.startswith("a cluster holds it: 34 masters")
