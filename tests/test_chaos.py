"""No page is lost, whatever fails. Runs some seeds of tests/chaos.py; ``make nightly`` runs more."""

import os
from pathlib import Path

import pytest

pytest.importorskip("redis")

from tests.chaos import run
from tests.crawls.harness import FORKS

pytestmark = pytest.mark.skipif(not FORKS, reason="a process for each crawl takes too long without forks")


@pytest.mark.parametrize("seed", range(1, 1 + int(os.environ.get("SIMHASH_CHAOS_SEEDS", "5"))))
def test_no_page_is_lost(seed: int, tmp_path: Path) -> None:
    assert run(seed, tmp_path) == []
