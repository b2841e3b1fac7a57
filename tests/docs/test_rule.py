"""The numbers and options that the pages say in words are those of the code."""

from __future__ import annotations

import re
from math import comb

import pytest

from scrapy_simhash import Config, Fingerprint
from scrapy_simhash.index import ProbingPlan
from scrapy_simhash.index.growth import FOREVER, native_steps, pure_steps
from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.page.fingerprint import SKETCH_BYTES
from tests.docs.reader import DOCS, README, sections, words
from tests.docs.test_examples import options_of

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


@pytest.mark.parametrize(("similar", "strict"), [(0.8, 0.95), (0.6, 0.9)])
def test_a_quarter_of_what_is_missing_may_be_missing_where_subjects_differ(
    similar: float, strict: float
) -> None:
    def fingerprint(filled: int, subject: int) -> Fingerprint:
        marks = ["01"] * filled + ["00"] * (448 - filled)
        bits = int("".join(marks), 2).to_bytes(112, "big")
        return Fingerprint(
            0, sketch=bits + subject.to_bytes(2, "big") + bytes(10) + (1 << 26).to_bytes(4, "big")
        )

    rule = SimilarityRule(min_similarity=similar)
    whole = fingerprint(448, 1)

    def accepted(subject: int) -> float:
        alike = (rule.similarity(whole, fingerprint(filled, subject)) for filled in range(449))
        return min(value for value in alike if value is not None)

    assert accepted(1) == pytest.approx(similar, abs=0.01)
    assert accepted(2) == pytest.approx(strict, abs=0.01)


def test_the_size_of_a_sketch_and_of_a_scanned_scope_are_told() -> None:
    method = words((CONCEPTS / "method.rst").read_text("utf-8"))
    assert f"a *sketch* of {SKETCH_BYTES} bytes" in method
    plans = [(FOREVER, ProbingPlan.even(Config().candidate_distance))]
    pure, native = pure_steps(plans)[0].upto, native_steps(plans)[0][0]
    told = words((DOCS / "how-to" / "scope.rst").read_text("utf-8"))
    assert f"up to {pure} pages in pure Python, {round(native, -3):,} with the kernel" in told


def test_the_options_of_the_quality_benchmark_are_those_it_has() -> None:
    page = (CONCEPTS / "measured.rst").read_text("utf-8")
    named = set(re.findall(r"``(--[\w-]+)``", page))
    assert named
    assert named <= options_of("benchmarks/quality.py")


def test_the_readme_names_the_figures_of_its_item() -> None:
    text = README.read_text("utf-8")
    (similarity,) = re.findall(r'"similarity": ([\d.]+)', text)
    assert f"{float(similarity):.1%}".replace("%", " %") in words(text)
