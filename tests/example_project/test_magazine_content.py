"""The stories and their edited versions."""

from collections import Counter

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
