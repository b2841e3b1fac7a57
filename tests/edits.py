"""Edited texts with a known similarity."""

import re
from random import Random


def edited(text: str, share: float, seed: int = 0) -> str:
    """Return *text* with *share* of its longer words turned round, 0-1, the same ones for the same *seed*.

    What is edited at a share is edited at every larger one: texts of growing shares drift away from the first.
    """
    ranks = Random(seed)

    def turn(word: re.Match[str]) -> str:
        return word[0][::-1] if ranks.random() < share else word[0]

    return re.sub(r"\b[a-z]{4,}\b", turn, text)
