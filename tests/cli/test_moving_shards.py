"""info, export, import and merge on a store that is cut into shards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_moving import POSTINGS, RULE, Capture, exported, facts, refused, run

#: Scopes of the postings of two stores, in several shards.
SCOPES = [f"{number}.example" for number in range(6)]
SHARDED = replace(RULE, scope="domain")


@pytest.fixture
def servers(redis: Any) -> str:
    url = redis.url.rpartition("/")[0]
    return f"{url}/0 {url}/1"


def test_a_store_in_shards_holds_what_any_store_does(tmp_path: Path, servers: str, capfd: Capture) -> None:
    postings = [
        posting._replace(key=scope.encode() + posting.key, scope=scope)
        for scope in SCOPES
        for posting in POSTINGS
    ]
    source = exported(tmp_path / "postings.jsonl", postings, SHARDED)
    sharded, file = f"{servers}#shards-{tmp_path.name}", str(tmp_path / "pages.sqlite")
    said = {run(capfd, "import", place, "--input", source) for place in (sharded, file)}
    assert len(said) == 1
    assert "new: 18" in said.pop()
    assert sorted(run(capfd, "export", sharded).splitlines()) == sorted(
        run(capfd, "export", file).splitlines()
    )
    told, known = facts(capfd, sharded), facts(capfd, file)
    alike = ("pages", "index_size", "clusters", "near_duplicates", "settings", "first_seen", "last_seen")
    assert {name: told[name] for name in alike} == {name: known[name] for name in alike}
    assert [run["reason"] for run in told["runs"]] == ["import"]
    assert "damaged records   0" in run(capfd, "info", "--check", sharded)
    merged = f"{servers}#merged-{tmp_path.name}"
    run(capfd, "merge", merged, sharded, file)
    assert facts(capfd, merged)["pages"] == known["pages"]


def test_a_store_for_a_whole_crawl_is_not_cut(tmp_path: Path, servers: str, capfd: Capture) -> None:
    source = exported(tmp_path / "postings.jsonl")
    status, complaint = refused(capfd, "import", f"{servers}#whole", "--input", source)
    assert status != 0
    assert "with SIMHASH_SCOPE = 'crawl' all pages have the same" in complaint
