"""How many examples hypothesis tries: what a test asks for in the suite, more in the profile ``nightly``."""

from __future__ import annotations

from hypothesis import settings

#: What a profile has for tests that ask for no number of their own.
USUAL = 100


def examples(count: int) -> int:
    """Return ``max_examples`` for a test that wants *count* in the suite; conftest.py has the profiles."""
    return count * settings().max_examples // USUAL
