"""Each program starts, both ways it can be started."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import ROOT
from tests.crawls.harness import forked

PROGRAMS = [
    "index",
    "hamming",
    "hints",
    "pairs",
    "kernel",
    "page",
    "plugin",
    "crawlers",
    "stores",
    "kills",
    "again",
    "changes",
    "chaos",
    "stores_redis",
    "redis_cluster",
    "claimers",
    "quality",
    "ladders",
    "ablation",
    "clusters",
    "shared_text",
    "learning",
    "tuning",
    "overview",
    "attacks",
    "engines",
]


def started(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


many_starts = pytest.mark.slow("it starts 40 processes")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        *((name, forked) for name in PROGRAMS),
        (PROGRAMS[0], started),
        *(pytest.param(name, started, marks=many_starts) for name in PROGRAMS[1:]),
    ],
)
@pytest.mark.parametrize("way", [["benchmarks/{}.py"], ["-m", "benchmarks.{}"]], ids=["file", "module"])
def test_a_program_starts_as_a_file_and_as_a_module(
    name: str, start: Callable[..., "subprocess.CompletedProcess[str]"], way: list[str]
) -> None:
    done = start(*(part.format(name) for part in way), "--help", cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage:")
