"""The stories and their edited versions."""

from collections import Counter

import pytest
from magazine import editions
from magazine.edits import changed_words, corrected, reworded
from magazine.stories import Story, load_stories
from magazine.words import equal_share, words

STORIES = list(load_stories().values())
CORRECTED = [story for story in STORIES if story.correction]


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


@pytest.mark.parametrize("story", CORRECTED, ids=lambda story: story.key)
def test_a_correction_changes_half_a_percent_to_one_percent_in_one_place(story: Story) -> None:
    after = corrected(story)
    assert 0.005 <= changed_words(story, after) / len(words(story.text)) <= 0.010
    assert sum(a != b for a, b in zip(story.blocks, after.blocks, strict=True)) == 1


@pytest.mark.parametrize(
    ("key", "share"), [*editions.EARLIER_VERSION.items(), *editions.FIRST_DRAFT.items()], ids=str
)
def test_a_reworded_version_changes_exactly_the_stated_share(key: str, share: float) -> None:
    story = load_stories()[key]
    assert changed_words(story, reworded(story, share)) == int(share * len(words(story.text)))


@pytest.mark.parametrize("key", [*editions.EARLIER_VERSION, *editions.FIRST_DRAFT])
def test_rewording_touches_every_part_of_the_story(key: str) -> None:
    story = load_stories()[key]
    before, after = words(story.text), words(reworded(story, 0.03).text)
    quarter = len(before) // 4
    for start in range(0, 4 * quarter, quarter):
        assert before[start : start + quarter] != after[start : start + quarter]


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
