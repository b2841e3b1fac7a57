"""The numbers and options that the pages say in words are those of the code."""

from __future__ import annotations

from math import comb

from scrapy_simhash import Config
from scrapy_simhash.index import ProbingPlan
from scrapy_simhash.index.growth import FOREVER, native_steps, pure_steps
from scrapy_simhash.page.fingerprint import SKETCH_BYTES
from tests.docs.reader import DOCS, sections, words

CONCEPTS = DOCS / "concepts"


def test_the_rule_is_told_with_its_defaults() -> None:
    config = Config()
    told = words(sections(CONCEPTS / "near-duplicates.rst")["The rule"])
    for setting in (
        f"``SIMHASH_CANDIDATE_DISTANCE`` bits, {config.candidate_distance} by default",
        f"in common: {config.min_similarity} by default",
    ):
        assert setting in told
    told = words(sections(CONCEPTS / "near-duplicates.rst")["The classic rule"])
    assert f"``SIMHASH_MAX_DISTANCE`` bits, {config.max_distance} by default" in told
    tables = comb(config.blocks, config.max_distance)
    assert f"``SIMHASH_BLOCKS`` blocks, {config.blocks} by default, so {tables} tables" in told


def test_the_size_of_a_sketch_and_of_a_scanned_scope_are_told() -> None:
    method = words((CONCEPTS / "method.rst").read_text("utf-8"))
    assert f"a *sketch* of {SKETCH_BYTES} bytes" in method
    plans = [(FOREVER, ProbingPlan.even(Config().candidate_distance))]
    pure, native = pure_steps(plans)[0].upto, native_steps(plans)[0][0]
    told = words((DOCS / "how-to" / "scope.rst").read_text("utf-8"))
    assert f"up to {pure} pages in pure Python, {round(native, -3):,} with the kernel" in told
