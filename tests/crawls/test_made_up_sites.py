"""Crawls of random sites: no article and no variant is lost, with any settings.

``SIMHASH_MADE_UP_SITE=SEED`` crawls the site of this seed first.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import SystemRandom

import pytest
from hypothesis import settings

from tests.crawls.made_up_site import MadeUpSite
from tests.examples import examples

PARTS = 6
LATER = pytest.mark.slow("it crawls some sites")
#: Sites per test, few enough to report a failure soon: 3 sites in `make test`, 50 in `make rest`, thousands in
#: `make nightly`.
IS_NIGHTLY = not settings().derandomize
A_PART = examples(60) // PARTS * (5 if IS_NIGHTLY else 1)
FIRST = int(os.environ.get("SIMHASH_MADE_UP_SITE", SystemRandom().randrange(10**6) if IS_NIGHTLY else 0))


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=LATER) for part in range(1, PARTS))])
def test_every_article_and_every_variant_reaches_the_spider(part: int, tmp_path: Path) -> None:
    for number in range(A_PART):
        made_up = MadeUpSite(FIRST + part * A_PART + number, most_sections=3 if IS_NIGHTLY else 1)
        faults = made_up.faults(tmp_path / str(number))
        assert faults == [], made_up
