"""The stories of the magazine, loaded from `content/en`, `content/es` and `content/zh`."""

from dataclasses import dataclass
from functools import cache

from magazine.records import Block, Record, read_records

LANGUAGES = ("en", "es", "zh")


@dataclass(frozen=True)
class Story:
    """A story in one language. Translations have the same slug and different languages."""

    slug: str
    lang: str
    title: str
    headline: str
    section: str
    also_in: str
    tags: tuple[str, ...]
    byline: str
    date: str
    correction: tuple[str, ...]
    """The wrong text and the correct text; empty for most stories."""
    blocks: tuple[Block, ...]

    @property
    def key(self) -> str:
        """The name of the story in tables and in truth.json, such as `en/night-pilot`."""
        return f"{self.lang}/{self.slug}"

    @property
    def text(self) -> str:
        """The main text: headings and paragraphs, one per line, without the title."""
        return "\n".join(block.text for block in self.blocks)

    @property
    def teaser(self) -> str:
        """The first words, as in a listing: 26 words, or 44 Chinese characters."""
        opening = self.blocks[0].text
        if self.lang == "zh":
            return opening[:44] + "……"
        return " ".join(opening.split()[:26]).rstrip(",;:.") + " …"


@cache
def load_stories() -> dict[str, Story]:
    """Return all stories by key, newest first within a language."""
    stories = [_story(lang, record) for lang in LANGUAGES for record in read_records(lang)]
    # By language, then newest first, then by slug, because sorting is stable.
    stories.sort(key=lambda story: story.slug)
    stories.sort(key=lambda story: story.date, reverse=True)
    stories.sort(key=lambda story: LANGUAGES.index(story.lang))
    return {story.key: story for story in stories}


def in_language(lang: str) -> list[Story]:
    """Return the stories of one language, newest first."""
    return [story for story in load_stories().values() if story.lang == lang]


def translations(story: Story) -> list[Story]:
    """Return the versions of *story* in other languages; empty if there are none."""
    return [
        other for other in load_stories().values() if other.slug == story.slug and other.lang != story.lang
    ]


def _story(lang: str, record: Record) -> Story:
    headers = record.headers
    return Story(
        slug=record.name,
        lang=lang,
        title=headers["title"],
        headline=headers["headline"],
        section=headers["section"],
        also_in=headers.get("also-in", ""),
        tags=record.listed("tags"),
        byline=headers["byline"],
        date=headers["date"],
        correction=record.listed("correction", " => "),
        blocks=record.blocks,
    )
