"""How many examples hypothesis tries, or a test with dice of its own, by the profile in use."""

from __future__ import annotations

from hypothesis import settings

#: What a profile has for tests that ask for no number of their own.
USUAL = 100


def examples(count: int) -> int:
    """Return ``max_examples`` for a test that wants *count* in the whole suite; conftest.py has the profiles."""
    return count * settings().max_examples // USUAL
