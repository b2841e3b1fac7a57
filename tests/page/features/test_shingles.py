from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.page.features import shingle, with_stopword

tokens = st.lists(st.sampled_from(["the", "sea", "is", "cold", "漢字", "a"]), max_size=12)
sizes = st.integers(1, 6)


def runs(tokens: list[str], size: int) -> list[list[str]]:
    """The definition: all runs of *size* tokens; of fewer tokens than that, the one there is."""
    if 0 < len(tokens) < size:
        return [tokens]
    return [tokens[start : start + size] for start in range(len(tokens) - size + 1) if tokens]


@given(tokens, sizes)
def test_shingles_are_the_runs_of_so_many_tokens(tokens: list[str], size: int) -> None:
    assert shingle(tokens, size) == [" ".join(run) for run in runs(tokens, size)]


@given(tokens, sizes, st.sets(st.sampled_from(["the", "is", "a", "cold", "not there"])))
def test_those_with_a_stopword_are_the_shingles_that_hold_one(
    tokens: list[str], size: int, stopwords: set[str]
) -> None:
    expected = [" ".join(run) for run in runs(tokens, size) if not stopwords.isdisjoint(run)]
    assert with_stopword(tokens, size, stopwords) == expected
