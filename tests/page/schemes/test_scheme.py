"""The steps that all schemes share: weights, the vote in any width, ties, and what cannot be a scheme."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import PageFingerprinter
from scrapy_simhash.page.fingerprint import TIE_MASK, leads
from scrapy_simhash.page.schemes import (
    FNV1A_LONG,
    FNV1A_SHORT,
    JAVA,
    JENKINS,
    XXH3,
    XXH3_LONG,
    Capped,
    FeatureHash,
    FrozenIdf,
    Page,
    Scheme,
    Words,
    damped_frequency,
    log_frequency,
    term_frequency,
    uniform,
    vote,
)
from scrapy_simhash.page.schemes.scheme import Weighing
from scrapy_simhash.page.text import plain_text
from tests.page.schemes import sources
from tests.page.schemes.golden import STORY

WIDTHS = (32, 64, 128)
HASHES = {32: (FNV1A_SHORT, JAVA), 64: (XXH3, JENKINS), 128: (FNV1A_LONG, XXH3_LONG)}
FEATURES = st.lists(st.tuples(st.integers(0, 2**128 - 1), st.integers(1, 1000)), min_size=1, max_size=30)


def page_of(text: str) -> Page:
    return Page(plain_text(text, "en"))


@pytest.mark.parametrize("width", WIDTHS)
@given(features=FEATURES)
def test_the_vote_is_the_tally_of_the_documents_in_any_width(
    width: int, features: Sequence[tuple[int, int]]
) -> None:
    cut = [(value & (1 << width) - 1, weight) for value, weight in features]
    zero, one, mask = (vote(cut, width, ties) for ties in ("zero", "one", "mask"))
    assert zero == sources.tally(cut, width)
    assert one == sources.rounded_average(cut, width)
    assert zero & mask == zero
    assert one | mask == one
    tied = one & ~zero
    assert mask & tied == tied & (TIE_MASK << 64 | TIE_MASK)


def test_no_feature_has_no_vote() -> None:
    with pytest.raises(ValueError, match="at least one feature"):
        vote([], 64, "zero")
    assert Scheme({Words(): 1}).value(page_of("")) is None


@pytest.mark.parametrize(
    "feature_hash", [one for width in WIDTHS for one in HASHES[width]], ids=lambda one: one.name
)
def test_a_scheme_takes_the_lowest_bits_of_its_hash(feature_hash: FeatureHash) -> None:
    page = page_of("fog")
    for width in WIDTHS:
        if width > feature_hash.bits:
            with pytest.raises(
                ValueError, match=f"{feature_hash.name} has {feature_hash.bits} bits, too few for"
            ):
                Scheme({Words(): 1}, feature_hash=feature_hash, width=width)
        else:
            scheme = Scheme({Words(): 1}, feature_hash=feature_hash, width=width)
            assert scheme.value(page) == feature_hash.of("fog") & (1 << width) - 1


def test_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="width must be one of 32, 64, 128 bits, got 48"):
        Scheme({Words(): 1}, width=48)


def test_the_weights_of_kinds_with_the_same_feature_are_added() -> None:
    def names(page: Page) -> list[str]:
        return ["fog", "fog", "sea"]

    weights = Scheme({Words(): 1, names: 0.5}).weights(page_of("The fog. The fog!"))
    assert weights == {"the": 128, "fog": 128 + 64, "sea": 32}


@pytest.mark.parametrize(
    ("weigh", "weights"),
    [
        (uniform, {"fog": 64, "sea": 64}),
        (term_frequency, {"fog": 64, "sea": 640}),
        (log_frequency, {"fog": 64, "sea": round(64 * (1 + log(10)))}),
        (damped_frequency, {"fog": 64, "sea": 508}),
        (Capped(term_frequency, 3), {"fog": 64, "sea": 192}),
    ],
)
def test_a_weight_grows_with_the_count_as_the_weighing_says(weigh: Weighing, weights: dict[str, int]) -> None:
    assert Scheme({Words(): 1}, weigh=weigh).weights(page_of("fog" + " sea" * 10)) == weights


def test_idf_is_that_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "idf.json"
    file.write_text(json.dumps({"documents": 100, "frequencies": {"the": 100, "sea": 10}}), "utf-8")
    weights = Scheme({Words(): 1}, weigh=FrozenIdf(term_frequency, str(file))).weights(
        page_of("the the sea fog")
    )
    # What is in every document says nothing; what is in none counts as if it were in one.
    assert weights == {"sea": round(64 * log(10)), "fog": round(64 * log(100))}


@pytest.mark.parametrize("name", ["web", "moz", "slides"])
def test_the_votes_of_a_page_make_its_fingerprint(name: str) -> None:
    fingerprinter = PageFingerprinter(scheme=name)
    made = fingerprinter.from_html(STORY)
    votes = fingerprinter.votes(fingerprinter.extract(STORY))
    assert made is not None
    assert len(votes) == made.features
    for bit, lead in enumerate(leads((one.digest, one.weight) for one in votes)):
        assert lead == 0 or (lead > 0) == bool(made.value >> bit & 1)
    assert ("the last" in {one.feature for one in votes}) == (name == "web")
    assert fingerprinter.votes(plain_text("Too short.")) == []
