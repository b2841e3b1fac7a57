"""The words of the boilerplate in three languages: `content/labels`."""

from types import SimpleNamespace
from typing import Any

from magazine.records import read_pairs
from magazine.stories import LANGUAGES
from magazine.templates.markup import Link

LANGUAGE_NAMES = {"en": "English", "es": "Español", "zh": "中文"}
HTML_LANG = {"en": "en-GB", "es": "es", "zh": "zh-CN"}


def _labels(lang: str) -> SimpleNamespace:
    words: dict[str, Any] = dict(read_pairs(f"labels/{lang}.txt"))
    entries = (entry.partition(" ") for entry in words["menu"].split(" | "))
    words["menu"] = [Link(path, name) for path, _, name in entries]
    return SimpleNamespace(**words)


#: The words of templates, by language; the first link of ``menu`` is the front page.
LABELS = {lang: _labels(lang) for lang in LANGUAGES}
