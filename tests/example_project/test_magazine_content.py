"""The stories and their edited versions."""

from collections import Counter

import pytest
from magazine.edits import reworded
from magazine.stories import load_stories
from magazine.words import equal_share

STORIES = list(load_stories().values())


def test_no_story_shares_a_paragraph_with_another() -> None:
    seen = Counter(block.text for story in STORIES for block in story.blocks if not block.is_heading)
    assert [text for text, count in seen.items() if count > 1] == []


def test_no_two_stories_have_more_than_sixty_words_in_a_hundred_in_common() -> None:
    close = [
        (a.key, b.key)
        for number, a in enumerate(STORIES)
        for b in STORIES[:number]
        if equal_share(a.text, b.text) > 0.60
    ]
    assert close == []


def test_a_share_beyond_the_rewording_table_is_refused() -> None:
    with pytest.raises(ValueError, match="short of"):
        reworded(load_stories()["en/eel-count"], 0.9)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("", "", 1.0),
        ("a tide", "", 0.0),
        ("the tide turns", "The tide -- turns!", 1.0),
        ("the tide turns", "turns tide the", 1.0),  # order is ignored
        ("one one two", "one two two", 2 / 3),  # a word counts as often as it occurs
        ("潮水退了", "潮水涨了", 0.75),  # one character, one word
    ],
)
def test_equal_share_is_dice_over_the_words(a: str, b: str, expected: float) -> None:
    assert equal_share(a, b) == pytest.approx(expected)
