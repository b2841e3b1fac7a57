"""Edited versions of a story: one corrected phrase, or an exact share of its words reworded.

Both replace word for word, so the share of changed words is known before anything is measured:

    earlier:    The boy carried the bucket   to the quiet  pool
    reworded:   The lad carried the bucket   to the still  pool      2 of 9 words
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from magazine.records import Block, read_pairs
from magazine.stories import Story
from magazine.words import words


def corrected(story: Story) -> Story:
    """Return *story* with its one correction applied. Raises ValueError if it has none."""
    if story.correction is None:
        raise ValueError(f"{story.key} has no correction")
    wrong, right = story.correction
    return _with_text(story, lambda text: text.replace(wrong, right))


def reworded(story: Story, share: float) -> Story:
    """Return *story* with *share* (0-1) of its words exchanged, rounded down to a whole word.

    The words come from `content/rewording/`; the exchanges are spread over the whole story, and the same story
    and share always give the same text. O(words of the story).

    Raises ValueError if the table knows too few of the story's words.
    """
    table = _table(story.lang)
    pattern = _pattern(story.lang)
    found = [match for block in story.blocks for match in pattern.finditer(block.text)]
    chosen = _choose([_cost(m.group(), table) for m in found], int(share * len(words(story.text))), story.key)
    number = iter(range(len(found)))

    def exchange(match: re.Match[str]) -> str:
        old = match.group()
        if next(number) not in chosen:
            return old
        new = table[old.lower()]
        return new[0].upper() + new[1:] if old[0].isupper() else new

    return _with_text(story, lambda text: pattern.sub(exchange, text))


def changed_words(before: Story, after: Story) -> int:
    """Return how many words differ, place by place. Raises ValueError if the lengths differ."""
    return sum(a != b for a, b in zip(words(before.text), words(after.text), strict=True))


def _choose(costs: list[int], budget: int, name: str) -> set[int]:
    """Pick places whose costs add up to *budget* exactly, spread evenly from first to last."""
    # Steps of the golden ratio never bunch up, however many of them we take.
    spread = sorted(range(len(costs)), key=lambda place: place * 0.6180339887498949 % 1)
    chosen: set[int] = set()
    for place in spread:
        if costs[place] <= budget:
            chosen.add(place)
            budget -= costs[place]
    if budget:
        raise ValueError(f"{name}: the rewording table is short of {budget} words")
    return chosen


def _cost(old: str, table: dict[str, str]) -> int:
    return sum(a != b for a, b in zip(words(old), words(table[old.lower()]), strict=True))


def _with_text(story: Story, change: Callable[[str], str]) -> Story:
    return replace(story, blocks=tuple(Block(change(b.text), b.is_heading) for b in story.blocks))


@cache
def _table(lang: str) -> dict[str, str]:
    table = dict(read_pairs(f"rewording/{lang}.txt", "="))
    both = table.keys() & table.values()
    if both:
        raise ValueError(f"rewording/{lang}.txt: on both sides: {', '.join(sorted(both))}")
    return table


@cache
def _pattern(lang: str) -> re.Pattern[str]:
    longest_first = sorted(_table(lang), key=lambda word: (-len(word), word))
    either = "|".join(map(re.escape, longest_first))
    return re.compile(either if lang == "zh" else rf"\b(?:{either})\b", re.IGNORECASE)
