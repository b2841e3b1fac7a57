"""Edited versions of a story: one corrected phrase, or an exact share of its words reworded.

Both versions replace word for word, so the share of changed words is known exactly:

    earlier:    The boy carried the bucket   to the quiet  pool
    reworded:   The lad carried the bucket   to the still  pool      2 of 9 words
"""

import re
from collections.abc import Callable
from dataclasses import replace

from magazine.records import Block, read_pairs
from magazine.stories import Story

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
# Chinese has no spaces, and word boundaries are ambiguous, so each character is a word.
_WORD = re.compile(rf"[{_HAN}]|(?:(?![{_HAN}])\w)+(?:['’](?:(?![{_HAN}])\w)+)*")


def corrected(story: Story) -> Story:
    """Return *story* with its correction applied."""
    wrong, right = story.correction
    return _with_text(story, lambda text: text.replace(wrong, right))


def reworded(story: Story, share: float) -> Story:
    """Return *story* with *share* (0-1) of its words replaced, rounded down to a whole word.

    The replacements are in `content/rewording/`, and are spread over the whole story. The same story and share always
    give the same text.
    """
    table = dict(read_pairs(f"rewording/{story.lang}.txt", "="))
    either = "|".join(map(re.escape, sorted(table, key=lambda word: (-len(word), word))))
    pattern = re.compile(either if story.lang == "zh" else rf"\b(?:{either})\b", re.IGNORECASE)
    found = [match.group() for block in story.blocks for match in pattern.finditer(block.text)]
    costs = [
        sum(a != b for a, b in zip(_words(old), _words(table[old.lower()]), strict=True)) for old in found
    ]
    chosen = _choose(costs, int(share * len(_words(story.text))))
    number = iter(range(len(found)))

    def exchange(match: re.Match[str]) -> str:
        old = match.group()
        if next(number) not in chosen:
            return old
        new = table[old.lower()]
        return new[0].upper() + new[1:] if old[0].isupper() else new

    return _with_text(story, lambda text: pattern.sub(exchange, text))


def _choose(costs: list[int], budget: int) -> set[int]:
    """Return places whose costs add up to at most *budget*, spread evenly from first to last."""
    chosen: set[int] = set()
    # Multiples of the golden ratio, modulo 1, are evenly distributed.
    for place in sorted(range(len(costs)), key=lambda place: place * 0.6180339887498949 % 1):
        if costs[place] <= budget:
            chosen.add(place)
            budget -= costs[place]
    return chosen


def _with_text(story: Story, change: Callable[[str], str]) -> Story:
    return replace(story, blocks=tuple(Block(change(b.text), b.is_heading) for b in story.blocks))


def _words(text: str) -> list[str]:
    return [match.group().casefold() for match in _WORD.finditer(text)]
