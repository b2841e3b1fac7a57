"""Each program starts, both ways it can be started."""

import subprocess
import sys

import pytest

from benchmarks import ROOT


@pytest.mark.parametrize(
    "name",
    [
        "index",
        "hamming",
        "hints",
        "plans",
        "pairs",
        "kernel",
        "page",
        "plugin",
        "crawlers",
        "stores",
        "kills",
        "stores_redis",
        "claimers",
        "quality",
        "ladders",
        "ablation",
        "clusters",
        "shared_text",
        "learning",
        "attacks",
    ],
)
@pytest.mark.parametrize(
    "way",
    [
        pytest.param(["benchmarks/{}.py"], id="file"),
        pytest.param(["-m", "benchmarks.{}"], id="module", marks=pytest.mark.slow("it starts 20 processes")),
    ],
)
def test_a_program_starts_as_a_file_and_as_a_module(name: str, way: list[str]) -> None:
    command = [sys.executable, *(part.format(name) for part in way), "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage:")
    assert not done.stderr
