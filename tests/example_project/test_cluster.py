"""The third example, run as a user runs it: four processes, one index on a Redis Cluster of six servers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("redis")
from cluster import CRAWLERS
from local_redis import server_program

from tests.docs.reader import ROOT
from tests.example_project.test_shared import python


@pytest.mark.slow("it starts a cluster of six servers, and crawls the site four times")
def test_of_pages_that_are_alike_one_is_new_in_each_scope_whoever_meets_it(tmp_path: Path) -> None:
    server_program()  # the test is skipped here if there is none
    project = tmp_path / "example_project"
    shutil.copytree(ROOT / "example_project", project, ignore=shutil.ignore_patterns("out", "__pycache__"))
    run = python(project, "cluster.py")
    assert (run.returncode, run.stderr) == (0, ""), run.stdout + run.stderr
    *crawlers, last = run.stdout.splitlines()
    assert {line.split()[0] for line in crawlers} == set(CRAWLERS)
    assert all(", 0 errors" in line for line in crawlers)
    words, _, counts = last.partition(": ")
    assert words == "one new page per cluster and scope"
    right, _, clusters = counts.partition(" of ")
    assert int(right) == int(clusters) > 100
