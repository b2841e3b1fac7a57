"""The number of random examples, by the hypothesis profile."""

from __future__ import annotations

from hypothesis import settings

#: The default of hypothesis.
USUAL = 100


def examples(count: int) -> int:
    """Return ``max_examples`` for a test that needs *count* in the whole suite; conftest.py has the profiles."""
    return count * settings().max_examples // USUAL
