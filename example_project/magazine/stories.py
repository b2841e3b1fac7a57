"""The stories of the magazine, loaded from `content/en`, `content/es` and `content/zh`."""

from dataclasses import dataclass
from functools import cache

from magazine.records import Block, Record, read_records
from magazine.words import words

LANGUAGES = ("en", "es", "zh")

# Shorter than this a story is a notice; the bounds keep every story a fair test of a text fingerprint.
_FEWEST_WORDS = {"en": 350, "es": 350, "zh": 600}
_MOST_WORDS = {"en": 900, "es": 900, "zh": 1500}


@dataclass(frozen=True)
class Story:
    """One story in one language. Translations share the slug and differ in the language."""

    slug: str
    lang: str
    title: str
    headline: str
    section: str
    also_in: str
    tags: tuple[str, ...]
    byline: str
    date: str
    correction: tuple[str, str] | None
    blocks: tuple[Block, ...]

    @property
    def key(self) -> str:
        """The name of the story in tables and in truth.json, such as `en/night-pilot`."""
        return f"{self.lang}/{self.slug}"

    @property
    def text(self) -> str:
        """The main text: headings and paragraphs, one a line; the title is not part of it."""
        return "\n".join(block.text for block in self.blocks)

    @property
    def teaser(self) -> str:
        """The opening words, as a listing shows them: 26 words, or 44 characters of Chinese."""
        opening = self.blocks[0].text
        if self.lang == "zh":
            return opening[:44] + "……"
        return " ".join(opening.split()[:26]).rstrip(",;:.") + " …"


@cache
def load_stories() -> dict[str, Story]:
    """Return all stories by key, newest first within a language.

    Raises ValueError if a story lacks a header, has an odd length, or a correction quotes words not in it.
    """
    stories = [_story(lang, record) for lang in LANGUAGES for record in read_records(lang)]
    stories.sort(key=lambda story: (LANGUAGES.index(story.lang), _newest_first(story.date), story.slug))
    return {story.key: story for story in stories}


def in_language(lang: str) -> list[Story]:
    """Return the stories of one language, newest first."""
    return [story for story in load_stories().values() if story.lang == lang]


def translations(story: Story) -> list[Story]:
    """Return the other-language versions of *story*; empty if it was never translated."""
    return [
        other for other in load_stories().values() if other.slug == story.slug and other.lang != story.lang
    ]


def _story(lang: str, record: Record) -> Story:
    story = Story(
        slug=record.name,
        lang=lang,
        title=record.required("title"),
        headline=record.required("headline"),
        section=record.required("section"),
        also_in=record.headers.get("also-in", ""),
        tags=record.listed("tags"),
        byline=record.required("byline"),
        date=record.required("date"),
        correction=_correction(record),
        blocks=record.blocks,
    )
    length = len(words(story.text))
    if not _FEWEST_WORDS[lang] <= length <= _MOST_WORDS[lang]:
        raise ValueError(
            f"{story.key}: {length} words, expected {_FEWEST_WORDS[lang]} to {_MOST_WORDS[lang]}"
        )
    return story


def _correction(record: Record) -> tuple[str, str] | None:
    if "correction" not in record.headers:
        return None
    wrong, arrow, right = record.headers["correction"].partition(" => ")
    text = "\n".join(block.text for block in record.blocks)
    if not arrow or text.count(wrong) != 1:
        raise ValueError(f"{record.name}: correction must quote words that occur once, got {wrong!r}")
    return wrong, right


def _newest_first(date: str) -> tuple[int, ...]:
    return tuple(-int(part) for part in date.split("-"))
