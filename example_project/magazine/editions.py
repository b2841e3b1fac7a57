"""The stories that are published more than once, and the kinds of their copies.

Every story has an article page and a print view. The tables list the other copies. Numbers in paths and queries are
arbitrary.
"""

from magazine.stories import Story

SECTION_PATHS = {
    "船舶": "boats",
    "镇上": "town",
    "科学": "science",
    "文艺": "arts",
    "厨房": "kitchen",
}

SESSION_IDS = {
    "en/night-pilot": ("7f3a91c2", "c04e5d18"),
    "en/tide-tables": ("1b88e0f4", "93d2a67c"),
    "en/seed-swap": ("e5710b3d",),
    "es/lighthouse-birds": ("40ac9f12", "d86b7e05"),
    "zh/star-roof": ("2c9d04ee",),
}

TRACKING = {
    "en/chowder-argument": "utm_source=newsletter&utm_medium=email&utm_campaign=spring",
    "en/library-boat": "utm_source=mastodon&utm_medium=social",
    "en/brass-band": "fbclid=IwAR3tq9ZbX0kEw",
    "en/fog-diary": "utm_source=partner&utm_content=sidebar",
    "en/repair-cafe": "ref=homepage-carousel",
    "es/seaweed-bread": "utm_source=boletin&utm_medium=email",
    "zh/old-book-market": "from=timeline&isappinstalled=0",
    "zh/repair-cafe": "utm_source=weibo",
}

SYNDICATED = {
    "en/last-wooden-ferry": 40112,
    "en/learning-to-splice": 40127,
    "en/seaweed-bread": 40163,
    "en/fog-diary": 40190,
    "en/piano-tuner": 40204,
    "en/seed-swap": 40231,
    "es/lighthouse-birds": 40256,
    "es/repair-cafe": 40260,
    "zh/star-roof": 40277,
    "zh/last-wooden-ferry": 40281,
}

NEW_HEADLINE = (
    "en/learning-to-splice en/chowder-argument en/slow-clock es/saturday-market zh/tofu-maker"
).split()

# Rewritten by an editor: the share of words that changed.
EARLIER_VERSION = {
    "en/seaweed-bread": 0.03,
    "en/slow-clock": 0.03,
    "es/saturday-market": 0.03,
    "zh/tofu-maker": 0.03,
}
FIRST_DRAFT = {"en/eel-count": 0.10, "en/brass-band": 0.10, "es/lighthouse-birds": 0.10, "zh/star-roof": 0.10}

# Pages of the old site: the charset is in a meta element, not in the header.
OTHER_ENCODING = {
    "es/thursday-choir": "windows-1252",
    "zh/old-book-market": "gb2312",
    "zh/star-roof": "gb2312",
}


def section_path(lang: str, section: str) -> str:
    """Return the path of a section's first listing page, such as `/boats` or `/zh/boats`."""
    name = SECTION_PATHS.get(section, section)
    return f"/{name}" if lang == "en" else f"/{lang}/{name}"


def article_path(story: Story) -> str:
    """Return the path of the article page of the story, the original of all copies."""
    return f"{section_path(story.lang, story.section)}/{story.slug}"


def second_section_path(story: Story) -> str:
    """Return the path of the story in its second section; only for stories with a second section."""
    return f"{section_path(story.lang, story.also_in)}/{story.slug}"


def under(prefix: str, story: Story) -> str:
    """Return `/prefix/slug`, or `/prefix/lang/slug` for a translation and every non-English story."""
    return f"/{prefix}/{story.slug}" if story.lang == "en" else f"/{prefix}/{story.lang}/{story.slug}"
