"""info, export, import and merge on a store that is cut into shards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_moving import POSTINGS, RULE, exported

#: Scopes of the postings of two stores, in several shards.
SCOPES = [f"{number}.example" for number in range(6)]
SHARDED = replace(RULE, scope="domain")


@pytest.fixture
def servers(redis: Any) -> str:
    url = redis.url.rpartition("/")[0]
    return f"{url}/0 {url}/1"


def test_a_store_in_shards_holds_what_any_store_does(tmp_path: Path, servers: str, cli: Cli) -> None:
    postings = [
        posting._replace(key=scope.encode() + posting.key, scope=scope)
        for scope in SCOPES
        for posting in POSTINGS
    ]
    source = exported(tmp_path / "postings.jsonl", postings, SHARDED)
    sharded, file = f"{servers}#shards-{tmp_path.name}", str(tmp_path / "pages.sqlite")
    said = {cli("import", place, "--input", source) for place in (sharded, file)}
    assert len(said) == 1
    assert "new: 18" in said.pop()
    assert sorted(cli("export", sharded).splitlines()) == sorted(cli("export", file).splitlines())
    told, known = cli.json("info", sharded), cli.json("info", file)
    alike = ("pages", "index_size", "clusters", "near_duplicates", "settings", "first_seen", "last_seen")
    assert {name: told[name] for name in alike} == {name: known[name] for name in alike}
    assert [run["reason"] for run in told["runs"]] == ["import"]
    assert "damaged records   0" in cli("info", "--check", sharded)
    merged = f"{servers}#merged-{tmp_path.name}"
    cli("merge", merged, sharded, file)
    assert cli.json("info", merged)["pages"] == known["pages"]


def test_a_store_for_a_whole_crawl_is_not_cut(tmp_path: Path, servers: str, cli: Cli) -> None:
    source = exported(tmp_path / "postings.jsonl")
    status, complaint = cli.fails("import", f"{servers}#whole", "--input", source)
    assert status != 0
    assert "with SIMHASH_SCOPE = 'crawl' all pages have the same" in complaint
