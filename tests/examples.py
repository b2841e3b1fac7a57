"""How many examples hypothesis tries: what a test asks for in the whole suite, fewer or more in other profiles."""

from __future__ import annotations

from hypothesis import settings

#: What a profile has for tests that ask for no number of their own.
USUAL = 100


def examples(count: int) -> int:
    """Return ``max_examples`` for a test that wants *count* in the whole suite; conftest.py has the profiles."""
    return count * settings().max_examples // USUAL
