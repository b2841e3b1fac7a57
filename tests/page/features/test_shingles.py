from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.page.features import shingle, with_stopword

tokens = st.lists(st.sampled_from(["the", "sea", "is", "cold", "漢字", "a"]), max_size=12)
sizes = st.integers(1, 6)
STOPWORDS = {"the", "is", "a"}


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


@pytest.mark.parametrize("size", range(1, 7))
@pytest.mark.parametrize("count", range(8))
def test_the_number_of_shingles(count: int, size: int) -> None:
    expected = 0 if count == 0 else max(1, count - size + 1)
    assert len(shingle([f"t{i}" for i in range(count)], size)) == expected


@pytest.mark.parametrize(
    ("text", "size", "kept"),
    [
        ("", 3, []),
        ("the", 3, ["the"]),
        ("sea", 3, []),
        ("cold the", 3, ["cold the"]),
        ("cold sea", 3, []),
        ("cold sea the", 3, ["cold sea the"]),
        ("the cold sea foam", 3, ["the cold sea"]),
        ("the cold sea foam", 1, ["the"]),
        ("cold cold the cold cold", 2, ["cold the", "the cold"]),
        ("foam cold sea the", 2, ["sea the"]),
    ],
)
def test_a_stopword_keeps_the_shingles_it_is_in_and_no_other(text: str, size: int, kept: list[str]) -> None:
    assert with_stopword(text.split(), size, STOPWORDS) == kept


def test_no_stopwords_keep_nothing() -> None:
    assert with_stopword(["the", "sea"], 2, frozenset()) == []


def test_any_sequence_of_tokens_will_do() -> None:
    assert shingle(("a", "b", "c"), 2) == ["a b", "b c"]
    assert with_stopword(("a", "b", "c"), 2, ["c"]) == ["b c"]
