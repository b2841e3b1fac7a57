"""The second example, run as a user runs it: two processes, scrapy-redis's queue, one index in a real Redis."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("redis")
pytest.importorskip("scrapy_redis")
from local_redis import redis_server
from magazine.server import serving
from magazine.truth import Truth
from redis import Redis

from scrapy_simhash.kernel import VARIABLE
from tests.docs.reader import ROOT

SPIDERS = ["harbour", "estuary"]
#: Somebody else's, in the same server.
THEIRS = {b"harbour": b"a master", b"harbour-lamp": b"a bulb", b"simhash:news:pages": b"1"}
#: What an earlier run may have left.
STALE = (b"harbour-lamp:requests", b"harbour-lamp:simhash:old")


class Run(NamedTuple):
    out: dict[str, Any]
    items: list[dict[str, Any]]
    logs: dict[str, str]
    keys: set[bytes]


def python(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run this Python in *folder*, with nothing of the caller's environment but what it needs."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", VARIABLE) if name in os.environ}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=kept | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"} | environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project: nothing is written into the checkout."""
    folder = tmp_path_factory.mktemp("shared") / "example_project"
    shutil.copytree(ROOT / "example_project", folder, ignore=shutil.ignore_patterns("out", "__pycache__"))
    return folder


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with redis_server() as url:
        yield url


@pytest.fixture(scope="module")
def done(project: Path, server: str) -> Run:
    with Redis.from_url(server) as client:
        client.mset({**THEIRS, **dict.fromkeys(STALE, b"stale")})
        run = python(project, "shared.py", "--json", REDIS_URL=server)
        assert run.returncode == 0, run.stdout + run.stderr
        assert {name: client.get(name) for name in THEIRS} == THEIRS
        keys = set(client.keys())
    feeds = [(project / "out" / f"{spider}.jsonl").read_text("utf-8") for spider in SPIDERS]
    return Run(
        out=json.loads(run.stdout),
        items=[json.loads(line) for feed in feeds for line in feed.splitlines()],
        logs={spider: (project / "out" / f"{spider}.log").read_text("utf-8") for spider in SPIDERS},
        keys=keys,
    )


@pytest.fixture(scope="module")
def original(done: Run) -> dict[str, str]:
    """The page that each page repeats, by what both spiders concluded; itself if it was new.

    A near-duplicate with other facts has a cluster of its own, so others may repeat it: the new page counts then.
    """
    repeats = {key: mark["repeats"] for key, mark in done.out["near_duplicates"].items()}
    found = {key: key for key in done.out["new"]}
    for key in repeats:
        first = key
        while first in repeats:
            first = repeats[first]
        found[key] = first
    return found


def test_both_together_crawl_each_page_that_one_alone_would(done: Run, truth: Truth) -> None:
    html = {
        key for key, page in truth.pages.items() if page.http == 200 and page.status in ("content", "short")
    }
    # Of requests that come before their host's robots.txt, Scrapy 2.16 and later let the third through unchecked.
    maybe = {key for key in html if not truth.pages[key].crawl}
    crawled = [truth.key(item["url"]) for item in done.items if item["status"] != "revisit"]
    assert len(crawled) == len(set(crawled))
    assert html - maybe <= set(crawled) <= html


#: Pages with the same text of which each says another headline, or another month, beside it.
NAMED = {"new-headline", "calendar-month"}


def test_of_pages_with_the_same_text_exactly_one_is_new_whoever_meets_it(
    original: dict[str, str], truth: Truth
) -> None:
    same = [
        (a, b, relation.kind)
        for a, b, relation in truth.pairs("duplicate")
        if relation.grade == ">=.99"
        and original[a] != original[b]
        and NAMED.isdisjoint(relation.kind.split("+"))
    ]
    assert same == []


def test_what_a_page_repeats_was_new_to_one_of_them(done: Run, original: dict[str, str]) -> None:
    assert set(original.values()) == set(done.out["new"])
    counts = done.out["spiders"].values()
    assert sum(count["new"] for count in counts) == len(done.out["new"])
    assert sum(count["near_duplicates"] for count in counts) == len(done.out["near_duplicates"])


def test_no_page_is_called_a_near_duplicate_of_a_different_one(done: Run, truth: Truth) -> None:
    marks = done.out["near_duplicates"].items()
    assert len(marks) > 60
    wrong = [key for key, mark in marks if truth.relation(key, mark["repeats"]).expected == "different"]
    assert (wrong, done.out["wrong"], done.out["new_twice"]) == ([], [], [])


def test_the_report_names_the_spider_of_a_near_duplicate_that_others_repeat(done: Run, project: Path) -> None:
    # One with other facts has a cluster of its own: who comes first decides whether a crawl has such a cluster.
    first, *_, last = done.out["near_duplicates"]
    mark = {"repeats": first, "distance": 1, "spider": "estuary"}
    changed = {**done.out, "near_duplicates": {**done.out["near_duplicates"], last: mark}}
    run = python(project, "-c", f"import shared; print(shared.report({changed!r}))")
    assert run.returncode == 0, run.stderr
    assert f"  estuary  1 bits  {last}" in run.stdout
    assert f"  {changed['near_duplicates'][first]['spider']}          {first}" in run.stdout


def test_nothing_goes_wrong(done: Run) -> None:
    assert [counts["errors"] for counts in done.out["spiders"].values()] == [0, 0]
    for log in done.logs.values():
        assert " ERROR: " not in log
        assert "Traceback" not in log
        assert "Spider closed (finished)" in log


def test_in_redis_there_are_its_own_keys_and_those_of_others_only(done: Run) -> None:
    ours = done.keys - set(THEIRS)
    assert b"harbour-lamp:dupefilter" in ours
    assert all(key.startswith(b"harbour-lamp:") for key in ours)
    # Neither what an earlier run left nor a request that nobody took.
    assert ours.isdisjoint(STALE)


def test_by_hand_as_the_readme_says_a_spider_finds_in_the_index_what_others_saw(
    done: Run, project: Path, server: str, truth: Truth
) -> None:
    # Another port, so other URLs: pages that nobody fetched, with texts that somebody has.
    with serving() as site:
        crawl = ["-m", "scrapy", "crawl", "estuary", "-a", f"start={site.url}/", "-O", "later.jsonl"]
        run = python(project, *crawl, "-s", "DEPTH_LIMIT=1", SCRAPY_PROJECT="shared", REDIS_URL=server)
    assert run.returncode == 0, run.stderr
    later = [json.loads(line) for line in (project / "later.jsonl").read_text("utf-8").splitlines()]
    # The first page is linked as well, so it comes twice; the editors' desk came only if it was let through.
    status = {truth.key(item["url"]): item["status"] for item in later if item["status"] != "revisit"}
    judged = {
        key for key, page in truth.pages.items() if page.crawl and status.get(key, "skipped") != "skipped"
    }
    assert {status[key] for key in judged} == {"near_duplicate"}
    pages = [item for item in later if item["status"] == "near_duplicate"]
    originals = {truth.key(item["near_duplicate"]["duplicate_of"]) for item in pages}
    assert len(originals) > 20
    assert originals <= set(done.out["new"])
